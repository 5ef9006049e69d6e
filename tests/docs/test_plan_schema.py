"""The JSON Schemas against the types that they are made from, and plans against theirs."""

import json
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.capacity_file import capacity_of_plan
from rocketmq_capacity.store.json_file import json_file
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.sample_cluster import sample_rows
from tests.report.test_approval import an_approval
from tests.report.varied_cluster import varied_rows

ROOT: Final = Path(__file__).parents[2]
DOCS: Final = ROOT / "include/docs"
GOLDEN: Final = ROOT / "tests/report/golden/plan.json"


@pytest.fixture(scope="module")
def schema() -> Any:
    validator = jsonschema.Draft202012Validator
    committed = json.loads((DOCS / "plan.schema.json").read_bytes())
    validator.check_schema(committed)
    return validator(committed)


@pytest.mark.parametrize("plan", [plan_of(sample_rows()), plan_of(varied_rows(12))], ids=["sample", "varied"])
def test_bounds_for_autoscalers_are_as_their_schema_says(plan: Plan) -> None:
    schema = jsonschema.Draft202012Validator(json.loads((DOCS / "capacity.schema.json").read_bytes()))
    schema.validate(json.loads(json_file(capacity_of_plan(plan))))


@pytest.mark.parametrize(
    "content",
    [
        GOLDEN.read_bytes(),
        plan_bytes(plan_of(varied_rows(12), scenario=a_scenario())),
        plan_bytes(plan_of(sample_rows(), approval=an_approval())),
    ],
    ids=["golden", "what_if", "approved"],
)
def test_every_plan_is_as_the_schema_says(schema: Any, content: bytes) -> None:
    schema.validate(json.loads(content))


@pytest.mark.parametrize(
    ("member", "value"),
    [("format", "rocketmq-capacity/plan/2"), ("groups", None), ("taken_at", 5), ("approval", None), ("findings", [{}])],
)
def test_what_is_no_plan_is_not(schema: Any, member: str, value: Any) -> None:
    plan = json.loads(GOLDEN.read_bytes()) | {member: value}

    assert not schema.is_valid(plan)


def test_members_that_a_later_version_adds_are_allowed(schema: Any) -> None:
    plan = json.loads(GOLDEN.read_bytes()) | {"causes": []}

    assert schema.is_valid(plan)
