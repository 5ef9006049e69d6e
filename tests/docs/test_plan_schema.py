"""The plan's JSON Schema against the types that it is made from, and plans against it."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from rocketmq_capacity.report.schema import FILE, main
from tests.report.from_rows import plan_bytes, plan_of
from tests.report.sample_cluster import sample_rows
from tests.report.test_approval import an_approval
from tests.report.varied_cluster import a_scenario, varied_rows

ROOT: Final = Path(__file__).parents[2]
COMMITTED: Final = ROOT / "include/docs" / FILE
GOLDEN: Final = ROOT / "tests/report/golden/plan.json"


@pytest.fixture(scope="module")
def schema() -> Any:
    validator = jsonschema.Draft202012Validator
    committed = json.loads(COMMITTED.read_bytes())
    validator.check_schema(committed)
    return validator(committed)


def test_the_committed_schema_is_what_the_types_say_now(tmp_path: Path) -> None:
    main([str(tmp_path)])
    assert (tmp_path / FILE).read_bytes() == COMMITTED.read_bytes(), "run: make docs"


def test_the_schema_is_made_by_a_program(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "rocketmq_capacity.report.schema", str(tmp_path / "new")], check=True, timeout=60
    )
    assert (tmp_path / "new" / FILE).read_bytes() == COMMITTED.read_bytes()


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
