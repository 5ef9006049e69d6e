"""Drivers that work at once, as a killed task may leave one: on one run, on one cluster, and beside the retention."""

import multiprocessing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.settings.policy import RetentionPolicy
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.retention import delete, expired
from rocketmq_capacity.store.run_key import run_key
from tests.kills.processes import ended_well
from tests.kills.states import assert_same, files_of
from tests.kills.steps import take_snapshot
from tests.store.dag_run import DagRun

pytestmark = pytest.mark.slow

TIME_LIMIT_S: Final = 300.0
NOW: Final = datetime(2026, 11, 20, tzinfo=UTC)
CONTEXT: Final = multiprocessing.get_context("forkserver")


def test_two_drivers_on_a_run_and_one_on_another_leave_the_bytes_of_one_each(tmp_path: Path) -> None:
    alone, lake = Lake(tmp_path / "alone").run("C1", "r1"), Lake(tmp_path / "lake")
    ended_well(take_snapshot, alone.folder)
    runs = [lake.run("C1", run_key(DagRun("r", NOW - timedelta(days=days)), "shop")) for days in (1, 0)]
    old = lake.run("C1", run_key(DagRun("r", NOW - timedelta(days=40)), "shop"))
    old.begin("publish")
    old.commit("publish", [])
    last = lake.run("C1", run_key(DagRun("last", NOW), "shop"))
    last.begin("publish")
    last.commit("publish", [])
    drivers = [CONTEXT.Process(target=take_snapshot, args=(run.folder,)) for run in (runs[0], runs[0], runs[1])]
    for driver in drivers:
        driver.start()
    delete(lake, expired(lake, RetentionPolicy(days=30), NOW))
    for driver in drivers:
        driver.join(TIME_LIMIT_S)
    assert [driver.exitcode for driver in drivers] == [0, 0, 0]
    assert not old.folder.exists()
    for run in runs:
        assert_same(run, files_of(alone))
