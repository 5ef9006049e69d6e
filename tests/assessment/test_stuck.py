"""STUCK_QUEUE."""

from collections.abc import Sequence
from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryGroupOffset, InventoryOwnedQueue, Sample
from tests.assessment.cases import BROKERS, Part, a_group, a_topic, ago, member
from tests.assessment.judge import Judgement, Row, judge
from tests.simulation.clusters import cluster, queues

PART = Part()
STANDS = [(99_995, 99_990)]
"""Offsets of the broker and the group in a sample a minute before the last: the group's stands while messages wait."""


def held(topic: str, queue_id: int = 0, broker_name: str = "broker-a", **ago_s: Any) -> InventoryOwnedQueue:
    """A queue as its holder tells of it; times in seconds before the snapshot."""
    times: dict[str, Any] = {
        f"last_{name}_at": None if (seconds := ago_s.pop(f"{name}_ago_s", 1)) is None else ago(seconds)
        for name in ("locked", "pulled", "consumed")
    }
    return InventoryOwnedQueue(topic=topic, broker_name=broker_name, queue_id=queue_id, **times, **ago_s)


def holder(topic: str, *others: InventoryOwnedQueue, client_id: str = "c01", **queue: Any) -> Client:
    """A client with one queue of which this is told, and one that is as it should be."""
    return member(client_id, owned_queues=(held(topic, **queue), held("%RETRY%g", 0), *others))


def found(
    clients: Sequence[Client], policy: Policy | None = None, broker: str = "broker-a", **facts: Any
) -> Row | None:
    """What is found of a group that reads ``pay``, on queue 0 of which 10 messages wait and do not move."""
    topic = a_topic("pay", queues(broker, 2))
    samples = {("pay", broker, 0): STANDS}
    told: dict[str, Any] = {"samples": samples, "orderly": True}
    group = a_group("g", clients, [topic], **told | facts)
    return judge(cluster([topic], [group], BROKERS), policy).found("STUCK_QUEUE")


def states(row: Row | None) -> list[tuple[str, str | None, float | None]]:
    """State, cause and seconds of each queue."""
    return [(one["state"], one["cause"], one["since_s"]) for one in row["evidence"]["queues"]] if row else []


PART.case(
    "held_and_stuck",
    [
        holder("held_and_stuck", cached_msgs=7, consumed_ago_s=300),
        member(
            "c02", owned_queues=(held("held_and_stuck", 1, dropped=True, pulled_ago_s=90), held("held_and_stuck", 2))
        ),
    ],
    queues("broker-a", 3),
    samples={("held_and_stuck", "broker-a", 0): [(99_400, 97_000)]},
    lags={("held_and_stuck", "broker-a", 0): 3_000, ("held_and_stuck", "broker-a", 1): 2_000},
)
PART.case(
    "holds_untold",
    [member("c1", owned_queues=(InventoryOwnedQueue(topic="holds_untold", broker_name="broker-a", queue_id=0),))],
)


def test_each_queue_is_named_with_its_owner_and_its_cause(judged: Judgement) -> None:
    row = judged.finding("STUCK_QUEUE", "held_and_stuck")

    assert row["severity"] == "CRITICAL"
    assert [one["queue_id"] for one in row["queues"]] == [0, 1]
    assert row["evidence"]["client_ids"] == ["c01", "c02"]
    first, second = row["evidence"]["queues"]
    assert first == {
        "topic": "held_and_stuck",
        "broker_name": "broker-a",
        "queue_id": 0,
        "client_id": "c01",
        "state": "NO_PROGRESS",
        "cause": "LISTENER_BUSY",
        "since_s": 300.0,
        "lag": 3_000,
    }
    assert row["evidence"]["since_s"] == 300.0
    assert (second["client_id"], second["state"], second["lag"]) == ("c02", "DROPPED", 2_000)
    assert (
        row["message"]
        == "2 queues with 5,000 messages of lag are stuck at c01, c02 for 300 s: 1 DROPPED, 1 NO_PROGRESS."
    )


def test_queues_of_which_no_client_reports_anything_give_no_finding(judged: Judgement) -> None:
    assert judged.found("STUCK_QUEUE", "holds_untold") is None


def test_a_queue_that_moves_is_no_finding() -> None:
    assert found([holder("pay", locked=True, dropped=False, cached_msgs=7)]) is None


@pytest.mark.parametrize(("pulled_ago_s", "is_stuck"), [(30, False), (31, True), (None, True)])
def test_a_dropped_queue_is_stuck_once_it_is_not_pulled_for_longer_than_the_bound(
    pulled_ago_s: float | None, is_stuck: bool
) -> None:
    row = found([holder("pay", dropped=True, pulled_ago_s=pulled_ago_s)])

    assert (row is not None) is is_stuck


def test_a_dropped_queue_is_kept_by_a_listener_that_is_busy() -> None:
    row = found([holder("pay", dropped=True, pulled_ago_s=40, cached_msgs=1, consumed_ago_s=401)])

    assert states(row) == [("DROPPED", "LISTENER_BUSY", 40.0)]


@pytest.mark.parametrize(
    ("told", "is_stuck"),
    [
        ({"locked_ago_s": 60}, False),
        ({"locked_ago_s": 61}, True),
        ({"locked_ago_s": 60, "locked": False}, False),
        ({"locked_ago_s": None, "locked": False}, True),
        ({"locked_ago_s": None, "locked": None}, False),
    ],
)
def test_a_lock_is_too_old_after_the_bound(told: dict[str, Any], is_stuck: bool) -> None:
    assert (states(found([holder("pay", **told)])) != []) is is_stuck


@pytest.mark.parametrize("facts", [{"orderly": False}, {"orderly": None}, {"message_model": "BROADCASTING"}])
def test_who_does_not_consume_in_order_locks_nothing(facts: dict[str, Any]) -> None:
    assert found([holder("pay", locked_ago_s=9_000, locked=False)], **facts) is None


def test_a_finding_says_if_another_client_may_have_the_lock() -> None:
    clients = [
        holder("pay", locked_ago_s=90),
        holder("pay", client_id="c02", dropped=True, pulled_ago_s=90),
    ]

    assert states(found(clients)) == [("NOT_LOCKED", "HELD_ELSEWHERE", 90.0), ("DROPPED", None, 90.0)]


def test_no_lock_is_given_by_a_broker_without_a_master() -> None:
    client = holder("pay", broker_name="masterless", locked_ago_s=90)

    assert states(found([client], broker="masterless")) == [("NOT_LOCKED", "NO_MASTER", 90.0)]


@pytest.mark.parametrize(("consumed_ago_s", "is_stuck"), [(60, False), (61, True)])
def test_a_listener_is_busy_for_too_long_after_the_bound(consumed_ago_s: float, is_stuck: bool) -> None:
    row = found([holder("pay", cached_msgs=1, consumed_ago_s=consumed_ago_s)])

    assert (states(row) == [("NO_PROGRESS", "LISTENER_BUSY", 61.0)]) is is_stuck


@pytest.mark.parametrize(
    ("rate", "lag", "sampled_ago_s", "told"),
    [
        (0.1, 1, 5, None),
        (0.1, 6, 5, None),
        (0.1, 7, 5, ("WARNING", 70.0)),
        (0.05, 20, 5, ("CRITICAL", 400.0)),
        (100.0, 20, 5, None),
        (100.0, 21, 5, ("CRITICAL", 3_600.0)),
        (0.0, 1, 5, ("WARNING", 5.0)),
        (None, 1, 5, ("WARNING", 5.0)),
        (0.1, 1, 300, ("CRITICAL", 300.0)),
    ],
    ids=["just came", "at bound", "above", "long ago", "in hand", "not in hand", "unknown", "no rate", "by samples"],
)
def test_a_message_that_comes_to_an_idle_queue_has_not_waited_since_the_message_before_it(
    rate: float | None, lag: int, sampled_ago_s: float, told: tuple[str, float] | None
) -> None:
    """Its listener takes its time, and finished the message before it an hour ago."""
    topic = a_topic("pay", queues("broker-a", 1), rates={("broker-a", 0): rate})
    offset = InventoryGroupOffset(
        topic="pay",
        broker_name="broker-a",
        queue_id=0,
        broker_offset=1_000_000,
        consumer_offset=1_000_000 - lag,
        samples=(Sample(at=ago(sampled_ago_s), broker_offset=1_000_000, consumer_offset=1_000_000 - lag),),
    )
    client = holder("pay", cached_msgs=1, consumed_ago_s=3_600)
    group = a_group("g", [client], [topic], orderly=False, offsets=(offset,))
    row = judge(cluster([topic], [group], BROKERS)).found("STUCK_QUEUE")

    assert (row and (row["severity"], row["evidence"]["since_s"])) == told


def test_an_offset_that_does_not_move_for_longer_than_the_bound_needs_no_time_of_the_client() -> None:
    for bound, told in ((59.0, [("NO_PROGRESS", "ONE_MESSAGE", 60.0)]), (60.0, [])):
        policy = Policy.model_validate({"thresholds": {"STUCK_QUEUE": {"no_progress_s": bound}}})
        assert states(found([holder("pay", cached_msgs=5)], policy)) == told


@pytest.mark.parametrize(
    "facts",
    [
        {"samples": {}},
        {"samples": {("pay", "broker-a", 0): [(99_000, 99_980), (99_995, 99_985)]}},
        {"samples": {("pay", "broker-a", 0): [(99_990, 99_990)]}},
        {"lags": {("pay", "broker-a", 0): None}, "samples": {("pay", "broker-a", 0): [(99_995, 99_990)]}},
        {"lags": {("pay", "broker-a", 0): 0}, "samples": {("pay", "broker-a", 0): [(100_000, 100_000)]}},
    ],
)
def test_without_samples_in_which_messages_wait_nobody_knows_that_an_offset_does_not_move(
    facts: dict[str, Any],
) -> None:
    assert found([holder("pay", cached_msgs=5, consumed_ago_s=900)], **facts) is None


@pytest.mark.parametrize(("consumed_ago_s", "is_stuck"), [(60, False), (61, True)])
def test_of_a_group_that_never_committed_an_offset_the_clients_word_counts(
    consumed_ago_s: float, is_stuck: bool
) -> None:
    row = found([holder("pay", cached_msgs=5, consumed_ago_s=consumed_ago_s)], offsets=())

    assert (row is not None) is is_stuck
    if row is not None:
        assert (row["severity"], row["evidence"]["lag"]) == ("WARNING", None)
        assert row["message"] == "1 queue is stuck at c01 for 61 s: 1 NO_PROGRESS."


@pytest.mark.parametrize("cached", [0, None])
def test_a_client_without_cached_messages_has_nothing_to_get_on_with(cached: int | None) -> None:
    assert found([holder("pay", cached_msgs=cached, consumed_ago_s=9_000)]) is None


@pytest.mark.parametrize(("pulled_ago_s", "is_stuck"), [(120, False), (121, True)])
def test_a_queue_is_not_pulled_after_the_bound(pulled_ago_s: float, is_stuck: bool) -> None:
    row = found([holder("pay", pulled_ago_s=pulled_ago_s)])

    assert (states(row) == [("NOT_PULLED", "PULLS_STOPPED", 121.0)]) is is_stuck


def test_a_clock_that_is_wrong_makes_no_queue_look_older_than_the_others() -> None:
    fast = member("c01", owned_queues=(held("pay", pulled_ago_s=-3_600, consumed_ago_s=-3_590, locked_ago_s=-3_590),))
    assert found([fast]) is None

    old: dict[str, Any] = {"pulled_ago_s": 3_600, "consumed_ago_s": 3_600, "locked_ago_s": 3_600}
    slow = member("c01", owned_queues=(held("pay", **old), held("pay", 1, **old)))
    assert states(found([slow])) == [("NOT_PULLED", "CLIENT_OR_CLOCK", 3_600.0)] * 2


def test_what_counts_is_when_the_client_answered() -> None:
    times: dict[str, Any] = {"pulled_ago_s": -600, "consumed_ago_s": -600, "locked_ago_s": -600}
    client = member("c01", answered_at=ago(-601), owned_queues=(held("pay", **times),))
    late = member("c01", answered_at=ago(-801), owned_queues=(held("pay", **times),))

    assert found([client]) is None
    assert states(found([late])) == [("NOT_PULLED", "CLIENT_OR_CLOCK", 201.0)]


def test_queues_of_topics_that_are_not_read_any_more_are_left_out() -> None:
    other = member("c01", owned_queues=(held("gone", dropped=True, pulled_ago_s=500), held("%RETRY%g")))

    assert found([other]) is None


@pytest.mark.parametrize(("since_s", "severity"), [(299, "WARNING"), (300, "CRITICAL")])
def test_a_queue_with_messages_is_danger_by_the_time_for_which_it_is_stuck(since_s: float, severity: str) -> None:
    row = found([holder("pay", cached_msgs=1, consumed_ago_s=since_s)])

    assert row is not None
    assert (row["severity"], row["evidence"]["lag"], row["evidence"]["since_s"]) == (severity, 10, since_s)


def test_a_policy_may_wait_longer() -> None:
    policy = Policy.model_validate({"thresholds": {"STUCK_QUEUE": {"critical_s": 900.0}}})
    row = found([holder("pay", cached_msgs=1, consumed_ago_s=899)], policy)

    assert row is not None
    assert row["severity"] == "WARNING"


def test_many_messages_are_no_danger_while_nobody_knows_for_how_long_they_wait() -> None:
    row = found([holder("pay", dropped=True, pulled_ago_s=None)], lag=50_000)

    assert row is not None
    assert (row["severity"], row["evidence"]["lag"], row["evidence"]["since_s"]) == ("WARNING", 50_000, None)


@pytest.mark.parametrize(
    ("facts", "severity"),
    [
        ({}, "CRITICAL"),
        ({"lags": {("pay", "broker-a", 0): 0}}, "WARNING"),
        ({"samples": {("pay", "broker-a", 0): [(99_995, 99_900)]}}, "WARNING"),
    ],
    ids=["messages wait", "none wait", "somebody reads them"],
)
def test_a_queue_that_is_not_pulled_is_danger_if_messages_wait_there(facts: dict[str, Any], severity: str) -> None:
    row = found([holder("pay", pulled_ago_s=301)], **facts)

    assert row is not None
    assert row["severity"] == severity


def test_a_clock_that_may_be_wrong_is_no_danger_until_an_offset_stands() -> None:
    old: dict[str, Any] = {"pulled_ago_s": 3_600, "consumed_ago_s": 3_600, "locked_ago_s": 3_600}
    slow = member("c01", owned_queues=(held("pay", **old), held("pay", 1, **old)))

    for samples, severity in (({}, "WARNING"), ({("pay", "broker-a", 0): STANDS}, "CRITICAL")):
        row = found([slow], samples=samples)
        assert row is not None
        assert row["severity"] == severity


def test_what_a_broadcasting_client_holds_is_judged_by_its_own_word() -> None:
    """The offsets on the brokers, which its clients do not use, stand still."""
    broadcasting: dict[str, Any] = {"message_model": "BROADCASTING", "orderly": False}

    assert found([holder("pay", cached_msgs=1, consumed_ago_s=1)], **broadcasting) is None
    row = found([holder("pay", cached_msgs=1, consumed_ago_s=400)], **broadcasting)
    assert row is not None
    assert (row["evidence"]["lag"], row["severity"]) == (None, "CRITICAL")
