"""The name of a Dag run in the lake."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone

import pytest

from rocketmq_capacity.store.lake import RUN_ID
from rocketmq_capacity.store.run_key import run_key

pytestmark = pytest.mark.airflow


@dataclass(frozen=True)
class DagRun:
    run_id: str
    run_after: datetime = datetime(2026, 11, 20, 2, tzinfo=UTC)


@pytest.mark.parametrize(
    "run_id",
    [
        "scheduled__2026-11-20T02:00:00+00:00",
        "manual__2026-11-20T02:00:00.123456+00:00_x1Yz",
        "..",
        "a~b c",
        ".",
        "x" * 250,
    ],
)
def test_every_id_that_airflow_takes_becomes_a_plain_folder_name(run_id: str) -> None:
    assert RUN_ID.fullmatch(run_key(DagRun(run_id), "shop"))


def test_the_key_says_when_the_run_was_due_and_which_it_is() -> None:
    key = run_key(DagRun("scheduled__2026-11-20T02:00:00+00:00"), "rocketmq_shop")

    assert key == "20261120T020000Z-scheduled__2026-11-20T02_00_00_00_00--rocketmq_shop"


def test_keys_sort_by_time_whatever_the_zone() -> None:
    east = timezone(timedelta(hours=9))
    earlier = run_key(DagRun("z", datetime(2026, 11, 20, 10, tzinfo=east)), "shop")
    later = run_key(DagRun("a", datetime(2026, 11, 20, 2, tzinfo=UTC)), "shop")

    assert earlier < later


def test_the_clusters_of_one_run_have_keys_of_their_own() -> None:
    assert run_key(DagRun("r"), "shop") != run_key(DagRun("r"), "bank")


def test_long_ids_that_differ_at_their_end_alone_have_different_keys() -> None:
    assert run_key(DagRun("x" * 249 + "a"), "shop") != run_key(DagRun("x" * 249 + "b"), "shop")
