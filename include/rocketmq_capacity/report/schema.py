"""``python -m rocketmq_capacity.report.schema FOLDER``: writes the JSON Schemas from the types of the files."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.plan_file.desired_state import DesiredState, Differences
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.capacity_file import Capacity

FILES: Final[dict[str, type[Struct]]] = {
    "plan.schema.json": Plan,
    "capacity.schema.json": Capacity,
    "desired-state.schema.json": DesiredState,
    "desired-state-differences.schema.json": Differences,
}
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def schema_of(file: type[Struct]) -> dict[str, Any]:
    """The JSON Schema of a file; members that it does not name are allowed."""
    return {"$schema": DIALECT, **msgspec.json.schema(file)}


def rendered(file: type[Struct]) -> bytes:
    """The bytes of a schema; equal types give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(schema_of(file)), indent=2) + b"\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the schemas into the folder."""
    parser = argparse.ArgumentParser(prog="python -m rocketmq_capacity.report.schema", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the schemas go")
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    for name, file in FILES.items():
        (folder / name).write_bytes(rendered(file))


if __name__ == "__main__":
    main()
