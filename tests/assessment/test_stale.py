"""STALE_OBJECT: topics that nobody writes and groups that nobody uses, as far as that is proven."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.assess import assess_topic
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.judged_again import STALE, undecided_of_topic
from rocketmq_capacity.snapshot.inventory import (
    HourlyGroup,
    Inventory,
    InventoryFailure,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryTopic,
    PastRate,
)
from tests.assessment.cases import a_group, a_topic, ago, members
from tests.assessment.judge import Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.fixtures.units import units_of
from tests.recommendation.answers import options
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues

BROKERS = (broker("broker-a"), broker("broker-b"))
SILENT = dict.fromkeys([("broker-a", 0), ("broker-a", 1)], 0.0)
LAYOUT = queues("broker-a", 2)
Queue = tuple[str, int]


def old(*, end: int = 100_000, rates: dict[Queue, float] | None = None, kept_from: int = 0) -> InventoryTopic:
    """The topic ``old`` with two queues, to which nothing is written."""
    offsets: dict[Queue, tuple[int | None, int | None]] = dict.fromkeys(SILENT, (kept_from, end))
    return a_topic("old", LAYOUT, rates=rates or {**SILENT}, offsets=offsets)


def at(days: float, topics: Sequence[InventoryTopic], groups: Sequence[InventoryGroup] = (), **facts: Any) -> Inventory:
    """The cluster so many days ago."""
    return replace(cluster(topics, groups, BROKERS), taken_at=ago(days=days), **facts)


def found(inventory: Inventory, *history: Inventory, **policy: Any) -> list[Row]:
    judged = judge(inventory, Policy.model_validate(policy), history)
    return [one for one in judged.findings if one["rule"] == "STALE_OBJECT"]


def offline(name: str = "gone", *, place: int = 4_000, clients: Any = ()) -> InventoryGroup:
    """A group without clients that stands at an offset of a topic that is written."""
    offset = InventoryGroupOffset(
        topic="busy", broker_name="broker-a", queue_id=0, broker_offset=5_000, consumer_offset=place
    )
    return InventoryGroup(consumer_group=name, clients=clients, offsets=(offset,))


BUSY = a_topic("busy", queues("broker-a", 1))


def sampled(clients_days_ago: float) -> InventoryGroup:
    """The same; in one hour samples saw clients of it, which committed nothing."""
    return replace(offline(), hourly=HourlyGroup(first_at=ago(days=clients_days_ago), most_lag=(None,), clients=(3,)))


def test_a_topic_whose_queues_end_where_they_ended_two_weeks_ago_is_stale_with_the_groups_on_it() -> None:
    reader = a_group("still_there", members(1), [old()], lag=0)
    read_then = at(20, [old()], [reader])

    (one,) = found(at(0, [old()], [reader]), read_then)

    assert (one["severity"], one["topic"], one["subjects"]) == ("INFO", "old", ["old"])
    assert one["evidence"] == {"unused_days": 20.0, "consumer_groups": ["still_there"], "queues": 2}
    assert one["message"] == (
        "Nothing was written to it for 20 days or longer, and nothing in it is unread."
        " These groups still subscribe to it: still_there."
    )


@pytest.mark.parametrize(("days", "is_found"), [(14.0, True), (13.9, False)])
def test_fourteen_days_are_long_enough(days: float, is_found: bool) -> None:
    assert bool(found(at(0, [old()]), at(days, [old()]))) is is_found


def test_the_days_are_the_policys() -> None:
    assert found(at(0, [old()]), at(20, [old()]), thresholds={"STALE_OBJECT": {"days": 30.0}}) == []


def silent_since(days: int, **first: float | None) -> Inventory:
    """The topic with a stored rate of each day, the mean until the next one; ``first`` is the oldest one's."""
    zero: dict[str, float | None] = {"put_msgs_per_s": 0.0, "mean_msgs_per_s": 0.0}
    each = [zero | first, *([zero] * (days - 1))]
    rates = tuple(PastRate(at=ago(days=days - number), **rate) for number, rate in enumerate(each))
    return at(0, [replace(old(), rates=rates)])


def test_stored_rates_of_zero_prove_it_as_well() -> None:
    (one,) = found(silent_since(15))

    assert (one["topic"], one["evidence"]["unused_days"]) == ("old", 15.0)
    assert found(silent_since(13)) == []
    assert found(silent_since(14, mean_msgs_per_s=0.1)) == []
    assert found(silent_since(14, mean_msgs_per_s=None)) == []
    assert found(silent_since(14, put_msgs_per_s=0.1)) == []


def test_without_a_proof_nothing_is_said() -> None:
    failures = (InventoryFailure(broker_addr="broker-b:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out"),)
    grown = at(0, [replace(old(), queues=(queues("broker-a", 3),))])
    written = {("broker-a", 0): 0.0, ("broker-a", 1): 0.1}

    assert found(at(0, [old()])) == []
    assert found(at(0, [old()]), at(20, [])) == []
    assert found(at(0, [old()]), at(20, [old(end=99_999)])) == []
    assert found(at(0, [old()]), at(20, [old()], failures=failures)) == []
    assert found(at(0, [old(rates=written)]), at(20, [old()])) == []
    # A queue of which nothing is known.
    assert found(grown, at(20, [old()])) == []


def test_a_topic_with_messages_that_a_group_has_not_read_is_still_needed() -> None:
    behind = a_group("behind", [], [old()], lag=1)
    assert found(at(0, [old()], [behind]), at(20, [old()])) == []
    # Nothing of it is left to read: the brokers have deleted all.
    deleted = old(kept_from=100_000)
    assert [one["topic"] for one in found(at(0, [deleted], [behind]), at(20, [deleted]))] == ["old"]


def test_the_offsets_of_groups_alone_prove_it_too() -> None:
    reader = a_group("still_there", members(1), [old()], lag=0)
    stored = at(20, [], [InventoryGroup(consumer_group="still_there", offsets=reader.offsets)])
    assert [one["topic"] for one in found(at(0, [old()], [reader]), stored)] == ["old"]


def test_the_times_of_the_last_messages_prove_it_without_a_history() -> None:
    def read_to_the_end(*days: float | None, lag: int = 0) -> InventoryGroup:
        group = a_group("reader", members(1), [old()], lag=lag)
        times = [None if each is None else ago(days=each) for each in days]
        each = zip(group.offsets or (), times, strict=True)
        return replace(group, offsets=tuple(replace(one, last_timestamp=time) for one, time in each))

    (one,) = found(at(0, [old()], [read_to_the_end(40.0, 30.0)]))
    assert one["evidence"]["unused_days"] == 30.0
    assert found(at(0, [old()], [read_to_the_end(40.0, 13.0)])) == []
    assert found(at(0, [old()], [read_to_the_end(40.0, None)])) == []
    assert found(at(0, [old()], [read_to_the_end(40.0, 30.0, lag=1)])) == []


def test_a_group_without_clients_and_commits_is_stale() -> None:
    (one,) = found(at(0, [BUSY], [offline()]), at(15, [BUSY], [offline()]), at(3, [BUSY], [offline()]))

    assert (one["severity"], one["consumer_group"], one["topic"]) == ("INFO", "gone", None)
    assert one["evidence"] == {"unused_days": 15.0, "topics": []}
    assert one["message"] == "It had no clients and committed nothing for 15 days or longer."


@pytest.mark.parametrize(
    "between",
    [offline(place=3_999), offline(clients=tuple(members(1))), offline(clients=None), offline("other")],
    ids=["committed", "had clients", "unknown clients", "not there"],
)
def test_a_group_that_was_used_in_between_or_may_have_been_is_not(between: InventoryGroup) -> None:
    history = at(20, [BUSY], [offline()]), at(10, [BUSY], [between])
    assert found(at(0, [BUSY], [offline()]), *history) == []


@pytest.mark.parametrize(("days_ago", "unused"), [(5.0, []), (16.0, [15.0]), (21.0, [20.0])])
def test_a_group_whose_clients_samples_saw_is_unused_since_then_at_most(days_ago: float, unused: list[float]) -> None:
    history = [at(days, [BUSY], [offline()]) for days in (20, 15, 3)]
    assert [one["evidence"]["unused_days"] for one in found(at(0, [BUSY], [sampled(days_ago)]), *history)] == unused


def test_a_group_with_clients_is_used() -> None:
    used = offline(clients=tuple(members(1)))
    assert found(at(0, [BUSY], [used]), at(20, [BUSY], [offline()])) == []


def test_what_would_delete_it_is_a_comment_after_commands_that_look() -> None:
    now = at(0, [BUSY, old()], [offline()])
    plan = plain_plan(now, history=[at(20, [BUSY, old()], [offline()])])
    cards = {one.topic or one.consumer_group: one for one in plan.recommendations if "STALE_OBJECT" in one.rules}

    assert {name: [line.split(" -n ")[0] for line in one.commands] for name, one in cards.items()} == {
        "old": ["mqadmin topicRoute", "mqadmin topicStatus", "# mqadmin deleteTopic"],
        "gone": ["mqadmin consumerProgress", "mqadmin consumerConnection", "# mqadmin deleteSubGroup"],
    }
    assert options(cards["old"].commands[-1].removeprefix("# ")) == {"-n": "<name server>", "-c": "C1", "-t": "old"}
    assert options(cards["gone"].commands[-1].removeprefix("# ")) == {
        "-n": "<name server>",
        "-c": "C1",
        "-g": "gone",
        "-r": "true",
    }
    assert all(one.is_manual for one in cards.values())
    of_dead_letters = "also deletes the group's dead-letter topic"
    assert {name for name, one in cards.items() if of_dead_letters in one.reason} == {"gone"}


def test_a_what_if_has_no_history_to_say_that_it_is_in_use_again() -> None:
    now = at(0, [old()])
    units = units_of(now, history=[at(20, [old()])])
    (one,) = assess_topic(AssessedTopic(units.topic("old"), units.cluster, Policy()))
    was = AssessedTopic(units.topic("old"), units.cluster, Policy())

    assert one.rule == "STALE_OBJECT"
    assert undecided_of_topic(one, was, AssessedTopic(units_of(now).topic("old"), units.cluster, Policy())) == STALE
