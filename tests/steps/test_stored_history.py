"""What a run of a live cluster takes from the lake's earlier runs of it."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from rocketmq_capacity.snapshot.past import with_past_days
from rocketmq_capacity.steps.inputs import stored_history
from rocketmq_capacity.store.lake import Lake, Run
from tests.simulation.clusters import pay_cluster


def ran(lake: Lake, day: int, *, is_what_if: bool = False) -> Run:
    """A published run of that day of November."""
    run = lake.run("C1", f"202611{day:02}T020000Z")
    run.begin("publish")
    run.inventory.write_bytes(b"".join(render_inventory(taken(day))))
    if is_what_if:
        run.what_if.write_text("{}")
    run.commit("publish", [])
    return run


def taken(day: int) -> Inventory:
    return replace(pay_cluster(), taken_at=f"2026-11-{day:02}T02:00:00Z")


def days(found: list[Inventory]) -> list[int]:
    return [one.taken_at_utc.day for one in found]


def test_the_last_runs_are_taken_oldest_first(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for day in (11, 12, 13, 14, 16):
        ran(lake, day)
    ran(lake, 15, is_what_if=True)
    run = lake.run("C1", "20261116T020000Z")

    assert days(stored_history(lake, run, taken(16), Policy(), is_live=True)) == [12, 13, 14]
    one = Policy.model_validate({"history": {"runs": 1}})
    other = lake.run("C1", "20261116T030000Z")
    assert days(stored_history(lake, other, taken(16), one, is_live=True)) == [14]


def test_clients_of_the_last_runs_are_taken_each_once(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for day in (11, 12):
        ran(lake, day)
    first, second = stored_history(lake, lake.run("C1", "20261116T020000Z"), taken(16), Policy(), is_live=True)

    for earlier, now in zip(first.consumer_groups, taken(11).consumer_groups, strict=True):
        ids = [client.client_id for client in now.clients or ()]
        assert [client.client_id for client in earlier.clients or ()] == ids
    of_first, of_second = (
        [one for group in run.consumer_groups for one in group.clients or ()] for run in (first, second)
    )
    assert of_first
    assert all(one is other for one, other in zip(of_first, of_second, strict=True))


def test_a_second_try_looks_at_the_same_runs(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    ran(lake, 11)
    run = lake.run("C1", "20261116T020000Z")
    first = stored_history(lake, run, taken(16), Policy(), is_live=True)
    ran(lake, 12)

    # It starts from the stored snapshot, which is a file.
    assert stored_history(lake, run, taken(16), Policy(), is_live=False) == first


def test_a_file_has_no_history(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    ran(lake, 11)
    assert stored_history(lake, lake.run("C1", "20261112T020000Z"), taken(12), Policy(), is_live=False) == []


def test_a_day_that_is_run_again_looks_at_the_days_before_it(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    for day in (11, 12, 13):
        ran(lake, day)

    assert days(stored_history(lake, lake.run("C1", "20261112T020000Z"), taken(12), Policy(), is_live=True)) == [11]


def test_what_is_taken_is_how_far_groups_were(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    ran(lake, 11)

    (found,) = stored_history(lake, lake.run("C1", "20261112T020000Z"), taken(12), Policy(), is_live=True)

    assert [group.offsets for group in found.consumer_groups] == [
        group.offsets for group in pay_cluster().consumer_groups
    ]
    assert [(topic.offsets, topic.queues) for topic in found.topics] == [
        (topic.offsets, topic.queues) for topic in pay_cluster().topics
    ]
    assert [(one.broker_name, one.config) for one in found.brokers] == [("broker-a", None), ("broker-b", None)]


def test_a_first_run_has_no_history(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    assert stored_history(lake, lake.run("C1", "20261112T020000Z"), taken(12), Policy(), is_live=True) == []


@pytest.mark.parametrize("day", [12, 13])
def test_an_earlier_run_whose_values_are_wrong_is_set_aside_with_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, day: int
) -> None:
    lake = Lake(tmp_path)
    damaged = {each: ran(lake, each) for each in (11, 12, 13)}[day].inventory
    damaged.write_bytes(damaged.read_bytes().replace(b'"queue_id": 0', b'"queue_id": -5', 1))

    found = stored_history(lake, lake.run("C1", "20261116T020000Z"), taken(16), Policy(), is_live=True)

    assert days(found) == [each for each in (11, 12, 13) if each != day]
    assert [bool(one.topics) for one in found] == [False, True]
    assert "is set aside: " in caplog.text


def test_a_broker_that_crashed_is_known_longer_than_the_runs_that_are_taken(tmp_path: Path) -> None:
    lake, policy = Lake(tmp_path), Policy()
    whole = taken(10)
    left = replace(
        whole,
        brokers=tuple(one for one in whole.brokers if one.broker_name != "broker-b"),
        topics=tuple(
            replace(topic, queues=tuple(one for one in topic.queues or () if one.broker_name != "broker-b"))
            for topic in whole.topics
        ),
    )
    ran(lake, 10)
    for day in range(11, 26):
        run, inventory = lake.run("C1", f"202611{day:02}T020000Z"), replace(left, taken_at=taken(day).taken_at)
        history = stored_history(lake, run, inventory, policy, is_live=True)
        kept = with_past_days(inventory, history, policy.thresholds)
        ran(lake, day).inventory.write_bytes(b"".join(render_inventory(kept)))
        missing = [(one.broker_name, one.seen_at) for one in kept.missing_brokers or ()]

        assert missing == ([("broker-b", whole.taken_at)] if day < 24 else []), day
