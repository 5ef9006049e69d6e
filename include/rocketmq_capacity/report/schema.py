"""The JSON Schemas, from the types of the files."""

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
