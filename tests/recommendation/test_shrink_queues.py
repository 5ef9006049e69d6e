"""SHRINK_QUEUES: only where a long history says that nobody needs the queues."""

import json
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.groups import GroupEntry
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, HourlyGroup, Inventory, InventoryFailure, parse_utc
from rocketmq_capacity.tables import Recommendation
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.fixtures.plain_plan import plain_plan
from tests.recommendation.cases import broker
from tests.simulation.clusters import AT, cluster, queues

WIDE = (queues("broker-a", 16), queues("broker-b", 16))
FEW = Policy.model_validate({"thresholds": {"SHRINK_QUEUES": {"min_saved_queues": 1}}})
"""A policy that shrinks small topics too."""


def a_cluster(clients: int = 4, *layout: Any, **facts: Any) -> Inventory:
    about_topic: dict[str, Any] = {"order": False, "message_type": "NORMAL"}
    about_topic |= {key: facts.pop(key) for key in about_topic if key in facts}
    topic = a_topic("pay", *(layout or WIDE), **about_topic)
    return cluster(
        [topic], [a_group("g_pay", members(clients), [topic], **facts)], [broker("broker-a"), broker("broker-b")]
    )


def before(inventory: Inventory, days: int) -> Inventory:
    """The same cluster so many days earlier."""
    at = parse_utc(AT) - timedelta(days=days)
    return replace(inventory, taken_at=utc_text(at))


def daily(inventory: Inventory, days: int = 14) -> list[Inventory]:
    return [before(inventory, day) for day in range(days, 0, -1)]


def shrinks(now: Inventory, history: list[Inventory], policy: Policy | None = None) -> list[Recommendation]:
    plan = plain_plan(now, policy or FEW, history)
    return [one for one in plan.recommendations if one.action == "SHRINK_QUEUES"]


def test_two_weeks_without_need_of_the_queues_are_enough() -> None:
    now = a_cluster()
    (found,) = shrinks(now, daily(now))

    # Four clients on two brokers.
    assert [one["read_queue_nums"] for one in json.loads(found.after)["queues"]] == [2, 2]
    assert [one["files"] for one in json.loads(found.before)["cost"]] == [16, 16]
    assert "over 14 days none had more than 4 clients" in found.reason
    assert [step["title"].partition(":")[0] for step in json.loads(found.steps)] == [
        "Write down",
        "Wait for routes",
        "Drained",
        "Read down",
    ]


def test_nobody_runs_its_commands_in_one_go() -> None:
    now = a_cluster()
    (found,) = shrinks(now, daily(now))

    assert found.is_manual
    assert len(found.commands) == 4
    assert all(line.startswith("# mqadmin updateTopic") for line in found.commands)
    assert not any(line.startswith("#") for step in json.loads(found.steps) for line in step["commands"])


def test_many_snapshots_of_one_day_say_nothing_of_the_days_between() -> None:
    now = a_cluster()
    hour = [
        replace(now, taken_at=utc_text(parse_utc(AT) - timedelta(minutes=4 * number))) for number in range(13, 0, -1)
    ]

    assert shrinks(now, [before(now, 14), *hour]) == []


def test_clients_that_only_samples_between_the_snapshots_saw_count_as_well() -> None:
    now = a_cluster(hourly=HourlyGroup(first_at="2026-11-19T12:00:00Z", most_lag=(0, 0), clients=(9, None)))
    (found,) = shrinks(now, daily(a_cluster()))

    assert [one["read_queue_nums"] for one in json.loads(found.after)["queues"]] == [6, 6]
    assert "over 14 days none had more than 9 clients" in found.reason


def test_the_most_clients_that_there_ever_were_count() -> None:
    history = daily(a_cluster())
    history[3] = replace(history[3], consumer_groups=before(a_cluster(9), 11).consumer_groups)
    (found,) = shrinks(a_cluster(), history)
    # Ten are enough for nine, but four clients do not share them evenly.
    assert [one["read_queue_nums"] for one in json.loads(found.after)["queues"]] == [6, 6]


@pytest.mark.parametrize(
    "history",
    [
        [],
        daily(a_cluster(), 13),
        [before(a_cluster(), 20), before(a_cluster(), 1)],
        [replace(one, failures=(InventoryFailure(broker_addr="broker-a:10911"),)) for one in daily(a_cluster())],
        daily(a_cluster(18)),
        [
            replace(one, consumer_groups=tuple(replace(group, clients=None) for group in one.consumer_groups))
            for one in daily(a_cluster())
        ],
    ],
    ids=["none", "13 days", "two snapshots", "failures", "needed once", "clients unknown"],
)
def test_without_a_history_that_says_so_nothing_shrinks(history: list[Inventory]) -> None:
    assert shrinks(a_cluster(), history) == []


@pytest.mark.parametrize(
    "now",
    [
        a_cluster(order=True),
        a_cluster(orderly=True),
        a_cluster(message_type="FIFO"),
        a_cluster(message_type="PRIORITY"),
        a_cluster(message_type="LITE"),
        a_cluster(4, queues("broker-a", 16, 8), queues("broker-b", 16, 8)),
        a_cluster(4, queues("broker-a", 3), queues("broker-b", 3)),
    ],
    ids=["order", "orderly", "FIFO", "PRIORITY", "LITE", "in the middle of a shrink", "little to save"],
)
def test_some_topics_stay_as_they_are(now: Inventory) -> None:
    assert shrinks(now, daily(now)) == []


def test_a_group_that_is_offline_has_to_have_read_what_goes() -> None:
    now = a_cluster()
    (topic,) = now.topics
    now = replace(now, consumer_groups=(*now.consumer_groups, a_group("g_night", (), [topic])))
    (found,) = shrinks(now, daily(now))

    drained = json.loads(found.steps)[2]
    assert ["-g g_night" in check["command"] for check in drained["checks"]] == [True, False]
    assert "g_night" in drained["blocks"][0]


def test_the_queues_that_stay_are_divided_as_evenly_as_before() -> None:
    # Four queues would give one of three clients two of them.
    now = a_cluster(3)
    (found,) = shrinks(now, daily(now))
    after = json.loads(found.after)

    assert [one["read_queue_nums"] for one in after["queues"]] == [3, 3]
    assert after["groups"][0]["count"]["peak"] == 1.0


def test_where_no_number_is_divided_evenly_nothing_shrinks() -> None:
    now = a_cluster(7, queues("broker-a", 9), queues("broker-b", 9))
    assert shrinks(now, daily(now)) == []


def test_the_bounds_are_the_policys() -> None:
    bounds = {"history_days": 1, "min_snapshots": 1, "min_saved_queues": 1}
    policy = Policy.model_validate({"thresholds": {"SHRINK_QUEUES": bounds}})
    assert shrinks(a_cluster(), [before(a_cluster(), 2)], policy)


@pytest.mark.parametrize(("each", "is_offered"), [(33, False), (34, True)])
def test_some_queues_more_than_clients_are_healthy(each: int, is_offered: bool) -> None:
    now = a_cluster(4, queues("broker-a", each), queues("broker-b", each))
    assert bool(shrinks(now, daily(now), Policy())) == is_offered


def test_a_client_without_a_subscription_of_its_own_counts_by_its_group() -> None:
    silent: list[Client] = members(9)
    history = [
        replace(one, consumer_groups=(replace(one.consumer_groups[0], clients=tuple(silent)),))
        for one in daily(a_cluster())
    ]
    (found,) = shrinks(a_cluster(), history)
    assert [one["read_queue_nums"] for one in json.loads(found.after)["queues"]] == [6, 6]


def busy(consume_rt_ms: float) -> Inventory:
    """Each of four clients with one thread gets 80 messages a second of 32 queues."""
    facts = {"consume_threads": 1, "consume_batch_size": 1, "status": takes("pay", consume_rt_ms)}
    topic = a_topic("pay", *WIDE, order=False, message_type="NORMAL")
    group = a_group("g_pay", members(4, **facts), [topic])
    return cluster([topic], [group], [broker("broker-a"), broker("broker-b")])


@pytest.mark.parametrize(("consume_rt_ms", "is_offered"), [(8.5, True), (9.0, False), (40.0, False)])
def test_a_group_that_needs_more_clients_keeps_queues_for_them(consume_rt_ms: float, is_offered: bool) -> None:
    """From 8.75 ms on four clients are too few. Of 8, 12 or 16 queues, which four divide evenly, one of five would get
    a quarter more; with 40 ms 19 clients are needed.
    """
    now = busy(consume_rt_ms)
    assert bool(shrinks(now, daily(now))) == is_offered


@pytest.mark.parametrize(("consume_rt_ms", "each"), [(4.3, [2, 2]), (4.4, [4, 4])])
def test_a_group_that_bears_the_loss_of_a_broker_still_does(consume_rt_ms: float, each: list[int]) -> None:
    """Of four queues two are left, and two of the four clients do all of the work: 35 % each of today becomes 70 %."""
    now = busy(consume_rt_ms)
    (found,) = shrinks(now, daily(now))
    assert [one["read_queue_nums"] for one in json.loads(found.after)["queues"]] == each


def test_a_topic_that_another_broker_is_to_get_keeps_its_number() -> None:
    now = a_cluster()
    now = replace(now, brokers=(*now.brokers, broker("broker-c")))
    plan = plain_plan(now, FEW, daily(now))

    assert [one.action for one in plan.recommendations if one.topic == "pay"] == ["CREATE_TOPIC_ON_BROKER"]


@pytest.mark.parametrize(("wanted", "each"), [(4, [2, 2]), (8, [4, 4]), (17, [])])
def test_the_clients_that_the_policy_keeps_have_queues(wanted: int, each: list[int]) -> None:
    policy = FEW.model_copy(update={"groups": [GroupEntry(match="^g_pay", min_clients=wanted)]})
    found = shrinks(a_cluster(), daily(a_cluster()), policy)
    assert [one["read_queue_nums"] for plan in found for one in json.loads(plan.after)["queues"]] == each
