"""Old runs of a lake in an object store are deleted as those of a folder are."""

from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from rocketmq_capacity.settings.policy import RetentionPolicy
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import delete_in_store, folders_in, usable_place
from rocketmq_capacity.store.published import MARKS, published
from rocketmq_capacity.store.retention import delete, expired
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.writing import write_whole
from tests.fixtures.s3 import BUCKET, S3
from tests.store.dag_run import DagRun

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
A_MONTH = RetentionPolicy(days=30, count=1_000)


@pytest.fixture
def lake(s3: S3) -> Lake:
    """A lake with three runs: one of today, two that are too old."""
    lake = Lake(usable_place(f"s3://{BUCKET}/{uuid4().hex}"))
    for days in (0, 40, 50):
        run = run_of(lake, days)
        with run.alone():
            write_whole(run.inventory, b"x" * 100)
            run.begin("publish")
            run.commit("publish", [])
    write_whole(lake.root / "shop" / ".accepted" / "one.json", b"{}")
    return lake


def run_of(lake: Lake, days: int) -> Run:
    return lake.run("shop", run_key(DagRun("scheduled", NOW - timedelta(days=days)), "shop"))


def test_old_runs_are_deleted_with_all_that_they_have(s3: S3, lake: Lake) -> None:
    old = expired(lake, A_MONTH, NOW)
    assert [one.run_id for one in old] == [run_of(lake, days).folder.name for days in (50, 40)]
    assert all(one.size_bytes > 100 for one in old)

    assert delete(lake, old) == []

    latest = run_of(lake, 0).folder.name
    assert folders_in(lake.root / "shop") == [".accepted", ".published", latest]
    assert list(dict(published(lake.root / "shop", ()))) == [latest]
    assert [run.folder.name for run in lake.runs("shop")] == [latest]
    assert delete(lake, old) == []  # another try finds nothing


def test_the_latest_plan_is_kept_in_a_copy_of_a_lake_that_lacks_the_marks(s3: S3, lake: Lake) -> None:
    delete_in_store(lake.root / "shop" / MARKS)
    in_two_months = NOW + timedelta(days=60)
    old = expired(lake, A_MONTH, in_two_months)
    assert [one.run_id for one in old] == [run_of(lake, days).folder.name for days in (50, 40)]


def test_a_run_that_a_process_works_on_is_spared(s3: S3, lake: Lake) -> None:
    old = expired(lake, A_MONTH, NOW)
    with run_of(lake, 50).alone():
        assert [one.run_id for one in delete(lake, old)] == [run_of(lake, 50).folder.name]
    assert run_of(lake, 50).is_committed("publish")
    assert not run_of(lake, 40).inventory.exists()


def test_a_run_that_is_published_again_has_another_stamp(s3: S3, lake: Lake) -> None:
    run = run_of(lake, 0)
    before = dict(published(lake.root / "shop", ()))
    run.begin("publish")
    assert run.folder.name not in dict(published(lake.root / "shop", ()))
    run.commit("publish", [])
    after = dict(published(lake.root / "shop", ()))
    assert before.keys() == after.keys()
    assert before[run.folder.name] != after[run.folder.name]
