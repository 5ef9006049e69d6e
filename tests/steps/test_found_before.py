"""What the run before found: read only while it is whole, and remembered from run to run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import asdict

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.finding_states import states_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.assess import found_before
from rocketmq_capacity.steps.planning import Planning, RunFindings
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.tables.arrow import table_of
from tests.report.from_rows import typed
from tests.report.row_builders import a_cluster, a_finding

IDLE = a_finding(consumer_group="g_pay")
PLACE = ("IDLE_CONSUMERS", "g_pay", None, None)
OTHER = ("LAG_STATE", "g_pay", None, None)
SKEWED = ("TRAFFIC_SKEW", "g_pay", None, None)
FIRST, SECOND, THIRD = (f"2026-11-{day}T02:00:00Z" for day in (19, 20, 21))


def put(run: Run, dataset: type[tables.Dataset], *rows: dict[str, Any]) -> None:
    table = table_of(dataset, typed(dataset, {dataset.dataset_name(): rows}))
    run.new_tables(dataset.dataset_name())
    add_file(run, dataset, table)


def assessed(run: Run, taken_at: str, steps: tuple[str, ...] = ("assess", "publish")) -> Run:
    """A run with one finding of that moment, whose steps have finished."""
    put(run, tables.Cluster, a_cluster(taken_at=taken_at))
    put(run, tables.Finding, IDLE)
    run.inventory.write_text(json.dumps({"taken_at": taken_at}))
    for step in steps:
        run.commit(step, [])
    return run


def looked_back(lake: Lake, run: Run) -> RunFindings | None:
    return found_before(lake, Planning(lambda: pytest.fail("needs no Spark"), run, Policy()))


def test_a_run_that_is_assessed_anew_is_not_looked_back_at(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    before = assessed(lake.run("C1", "r1"), FIRST)
    today = assessed(lake.run("C1", "r2"), SECOND, ())

    found = looked_back(lake, today)
    assert found is not None
    assert found.flagged == {("g_pay", "IDLE_CONSUMERS")}
    assert found.taken_at == FIRST
    assert found.findings["message"].to_pylist() == [IDLE["message"]]
    before.begin("assess")
    assert looked_back(lake, today) is None


@pytest.mark.parametrize(("ratio", "flagged"), [(0.95, {("g_pay", "IDLE_CONSUMERS")}), (0.94, None)])
def test_a_run_with_too_incomplete_a_snapshot_does_not_tell_what_is_new(
    ratio: float, flagged: set[tuple[str, str]] | None, tmp_path: Path
) -> None:
    lake = Lake(tmp_path)
    put(assessed(lake.run("C1", "r1"), FIRST), tables.Cluster, a_cluster(taken_at=FIRST, completeness_ratio=ratio))

    found = looked_back(lake, assessed(lake.run("C1", "r2"), SECOND, ()))
    assert found is not None
    assert found.flagged == flagged
    assert found.findings["message"].to_pylist() == [IDLE["message"]]


def test_a_finding_is_as_old_as_the_first_of_the_runs_in_a_row_that_have_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assessed(lake.run("C1", "r1"), FIRST)
    second = assessed(lake.run("C1", "r2"), SECOND)
    found = looked_back(lake, second)
    assert found is not None
    rows = states_of({PLACE: "WARNING", OTHER: "CRITICAL"}, found.states, SECOND)
    assert {row.place: row.since for row in rows} == {PLACE: FIRST, OTHER: SECOND}

    put(second, tables.FindingSince, *({name: getattr(row, name) for name in row.__struct_fields__} for row in rows))
    third = looked_back(lake, assessed(lake.run("C1", "r3"), THIRD, ()))
    assert third is not None
    assert third.states[PLACE].since == FIRST


def test_the_lowest_severity_of_the_runs_in_a_row_that_have_a_finding_is_kept(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assessed(lake.run("C1", "r1"), FIRST)
    second = assessed(lake.run("C1", "r2"), SECOND)
    found = looked_back(lake, second)
    assert found is not None
    assert {place: one.least_severity for place, one in found.states.items()} == {PLACE: "WARNING"}

    rows = states_of({PLACE: "CRITICAL", OTHER: "INFO"}, found.states, SECOND)
    assert {row.place: row.least_severity for row in rows} == {PLACE: "WARNING", OTHER: "INFO"}
    rows = states_of({PLACE: "INFO"}, found.states, SECOND)
    assert [row.least_severity for row in rows] == ["INFO"]


def test_a_finding_is_as_old_while_its_example_is_another_topic(tmp_path: Path) -> None:
    """Of IDLE_CONSUMERS it is the topic with the most queues, which may be another one on the next day."""
    lake = Lake(tmp_path)
    put(assessed(lake.run("C1", "r1"), FIRST), tables.Finding, a_finding(topic="pay"))
    today = assessed(lake.run("C1", "r2"), SECOND, ())
    put(today, tables.Finding, a_finding(topic="refund"))

    found = looked_back(lake, today)
    assert found is not None
    severities = Planning(lambda: pytest.fail("needs no Spark"), today, Policy()).severities()
    assert [row.since for row in states_of(severities, found.states, SECOND)] == [FIRST]


def test_what_closes_is_handed_to_the_next_run_with_what_it_said(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    skew = a_finding("TRAFFIC_SKEW", message="as the first run had it")
    second = assessed(lake.run("C1", "r2"), SECOND)
    (state,) = states_of({}, {SKEWED: open_since(FIRST)}, SECOND)
    put(second, tables.FindingSince, asdict(state))
    put(second, tables.FindingBefore, skew, a_finding(message="it is gone at once"))

    found = looked_back(lake, assessed(lake.run("C1", "r3"), THIRD, ()))
    assert found is not None
    assert found.states[SKEWED].state == "CLOSING"
    assert found.findings["message"].to_pylist() == [IDLE["message"], "as the first run had it"]


def open_since(moment: str) -> tables.FindingSince:
    rule, group, topic, broker = SKEWED
    return tables.FindingSince(
        rule=rule,
        consumer_group=group,
        topic=topic,
        broker_name=broker,
        since=moment,
        state="OPEN",
        open_since=moment,
    )


@pytest.mark.parametrize(
    "spoil",
    [
        lambda run: next(run.table("finding").glob("*.parquet")).unlink(),
        lambda run: next(run.table("finding").glob("*.parquet")).write_bytes(b""),
        lambda run: next(run.table("cluster").glob("*.parquet")).write_bytes(b"no Parquet"),
        lambda run: run.inventory.write_bytes(b""),
    ],
)
@pytest.mark.parametrize("lists_files", [True, False])
def test_a_run_whose_files_are_damaged_is_set_aside_for_the_one_before_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, spoil: Callable[[Run], object], lists_files: bool
) -> None:
    lake = Lake(tmp_path)
    assessed(lake.run("C1", "r1"), FIRST)
    damaged = assessed(lake.run("C1", "r2"), SECOND)
    if lists_files:
        damaged.commit("assess", ["cluster", "finding"])
    spoil(damaged)
    found = looked_back(lake, assessed(lake.run("C1", "r3"), THIRD, ()))
    assert found is not None
    assert found.taken_at == FIRST
    assert f"{damaged.folder} is set aside: " in caplog.text


def test_a_run_with_a_byte_changed_in_place_is_set_aside(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assessed(lake.run("C1", "r1"), FIRST)
    damaged = assessed(lake.run("C1", "r2"), SECOND)
    damaged.commit("assess", ["cluster", "finding"])
    (file,) = damaged.files("finding")
    file.write_bytes(b"X" + file.read_bytes()[1:])
    found = looked_back(lake, assessed(lake.run("C1", "r3"), THIRD, ()))
    assert found is not None
    assert found.taken_at == FIRST
