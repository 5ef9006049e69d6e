"""``python -m rocketmq_capacity.report.schema FOLDER``: writes plan.schema.json from the types of the plan file."""

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import msgspec

from rocketmq_capacity.report.plan_file import Plan

FILE: Final = "plan.schema.json"
DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"


def plan_schema() -> dict[str, Any]:
    """The JSON Schema of plan.json; members that it does not name are allowed."""
    return {"$schema": DIALECT, **msgspec.json.schema(Plan)}


def rendered() -> bytes:
    """The file's bytes; equal types give equal bytes."""
    return msgspec.json.format(msgspec.json.encode(plan_schema()), indent=2) + b"\n"


def main(argv: Sequence[str] | None = None) -> None:
    """Write the schema into the folder."""
    parser = argparse.ArgumentParser(prog="python -m rocketmq_capacity.report.schema", description=__doc__)
    parser.add_argument("folder", type=Path, metavar="FOLDER", help=f"where {FILE} goes")
    folder = parser.parse_args(argv).folder
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_bytes(rendered())


if __name__ == "__main__":
    main()
