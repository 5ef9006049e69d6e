"""The name of a Dag run in the lake."""

import re
from datetime import UTC, datetime, timedelta, timezone

import pytest

from rocketmq_capacity.store.lake import RUN_ID
from rocketmq_capacity.store.run_key import due_of, is_of_dag_run, key_before, key_of_what_if, run_key
from tests.fixtures.environment import ROOT
from tests.store.dag_run import DagRun


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


def test_a_key_gives_back_what_it_was_made_of() -> None:
    run = DagRun("manual__2026-11-20T02:00:00+00:00")
    key = run_key(run, "shop")

    assert due_of(key) == run.run_after
    assert is_of_dag_run(key, run.run_id)
    assert key_of_what_if(key_before(key)) == key_of_what_if(key) == key
    assert due_of(key_before(key)) == run.run_after
    assert is_of_dag_run(key_before(key), run.run_id)


def test_the_run_of_an_id_that_was_cut_is_found_by_the_whole_id() -> None:
    key = run_key(DagRun("x" * 249 + "a"), "shop")

    assert is_of_dag_run(key, "x" * 249 + "a")
    assert not is_of_dag_run(key, "x" * 249 + "b")


@pytest.mark.parametrize("name", ["mine", "20261340T000000Z-x", "20261120T020000Z", "20261120T020000Z-", ".hidden"])
def test_what_is_no_key_has_no_moment(name: str) -> None:
    assert due_of(name) is None
    assert not is_of_dag_run(name, "mine")


def test_no_other_module_knows_the_form_of_a_key() -> None:
    form = re.compile(r"%Y%m%dT|d\{8\}T|\}--before")
    folders = ("include/rocketmq_capacity", "dags", "plugins")
    files = {file for folder in folders for file in (ROOT / folder).rglob("*.py")}

    assert {file.name for file in files if form.search(file.read_text())} == {"run_key.py"}
