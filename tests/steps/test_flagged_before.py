"""What the run before flagged is read only while it is whole."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.arrow import table_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.assess import flagged_before
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.store.lake import Lake, Run
from tests.report.from_rows import typed
from tests.report.row_builders import a_finding

IDLE = a_finding(consumer_group="g_pay")


def assessed(run: Run, taken_at: str, steps: tuple[str, ...] = ("assess", "publish")) -> Run:
    """A run with one finding of that moment, whose steps have finished."""
    folder = run.new_table("finding")
    pq.write_table(
        table_of(contracts.Finding, typed(contracts.Finding, {"finding": [IDLE]})), folder / "part-0.parquet"
    )
    run.inventory.write_text(json.dumps({"taken_at": taken_at}))
    for step in steps:
        run.commit(step, [])
    return run


def test_a_run_that_is_assessed_anew_is_not_looked_back_at(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    before = assessed(lake.run("C1", "r1"), "2026-11-19T02:00:00Z")
    today = assessed(lake.run("C1", "r2"), "2026-11-20T02:00:00Z", ())

    def flagged() -> set[tuple[str, str]] | None:
        return flagged_before(lake, Planning(lambda: pytest.fail("needs no Spark"), today, Policy()))

    assert flagged() == {("g_pay", "IDLE_CONSUMERS")}
    before.begin("assess")
    assert flagged() is None
