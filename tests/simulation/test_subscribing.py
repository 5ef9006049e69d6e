"""The changes `subscribe` and `unsubscribe`: who reads what, where reading begins, and what it means for the group."""

import json
from typing import Any, Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroupOffset
from rocketmq_capacity.vocabulary import FIRST_OFFSET, REQUEST_S
from tests.simulation.clusters import after, client, cluster, group, queues, reads, topic
from tests.simulation.test_transition import AVG, begins_at, change
from tests.simulation.test_verdict import takes, tried, worker

PAY: Final = topic("pay", queues("broker-a"), queues("broker-b"))
REFUND: Final = topic("refund", queues("broker-a", 2), queues("broker-b", 2))
"""Four queues with 10 messages a second and 5,000 messages each."""
SUBSCRIBE: Final = {"change": "subscribe", "consumer_group": "g", "topic": "refund"}
UNSUBSCRIBE: Final = {"change": "unsubscribe", "consumer_group": "g", "topic": "refund"}


def readers(*read: Any, clients: int = 2, **facts: Any) -> Inventory:
    """Group g, which reads some of the topics."""
    entries = tuple(reads(one.topic) for one in read)
    members = [client(f"10.0.0.{i + 1}@1#1", subscriptions=entries, owned_queues=None) for i in range(clients)]
    return cluster([PAY, REFUND], [group("g", members, read, message_model="CLUSTERING", **facts)])


def subscriptions(inventory: Inventory) -> list[list[tuple[str, str | None]]]:
    """By topic the filter: of the group, then of each client."""
    (reader,) = inventory.consumer_groups
    each = [reader.subscriptions, *(one.subscriptions for one in reader.clients or ())]
    return [[(one.topic, one.expression) for one in entries or ()] for entries in each]


def offsets_of(inventory: Inventory) -> list[tuple[str, str, int, int | None]]:
    (reader,) = inventory.consumer_groups
    return [(one.topic, one.broker_name, one.queue_id, one.consumer_offset) for one in reader.offsets or ()]


def test_every_client_reads_a_new_topic() -> None:
    found = after(readers(PAY), SUBSCRIBE | {"expression": "TagA"})

    assert subscriptions(found) == [[("pay", "*"), ("refund", "TagA")]] * 3


def test_another_filter_replaces_that_of_every_client() -> None:
    found = after(readers(PAY, REFUND), SUBSCRIBE | {"expression": "TagA || TagB"})

    assert subscriptions(found) == [[("pay", "*"), ("refund", "TagA || TagB")]] * 3


def test_a_client_without_subscriptions_keeps_its_groups() -> None:
    before = readers(PAY)
    (reader,) = before.consumer_groups
    quiet = replace(reader, clients=tuple(replace(one, subscriptions=None) for one in reader.clients or ()))

    (found,) = after(replace(before, consumer_groups=(quiet,)), SUBSCRIBE).consumer_groups

    assert [one.topic for one in found.subscriptions or ()] == ["pay", "refund"]
    assert [one.subscriptions for one in found.clients or ()] == [None, None]


def test_whether_a_group_with_clients_left_offsets_on_a_new_topic_is_unknown() -> None:
    rows, whole = change(readers(PAY), SUBSCRIBE, name="g", policy=AVG)

    assert {row.topic for row in rows} == {"refund"}
    assert sorted((row.broker_name, row.queue_id, row.old_owners, row.new_owners) for row in rows) == [
        ("broker-a", 0, (), ("10.0.0.1@1#1",)),
        ("broker-a", 1, (), ("10.0.0.1@1#1",)),
        ("broker-b", 0, (), ("10.0.0.2@1#1",)),
        ("broker-b", 1, (), ("10.0.0.2@1#1",)),
    ]
    assert {row.starts_at for row in rows} == {None}
    # At worst a client begins at the end: after the 5,000 messages of the queue, and those that come until the last one
    # is set up and has asked for its queues.
    most_s = json.loads(whole.timers)["rollout_s"] + REQUEST_S
    assert [row.messages_skipped_worst for row in rows] == [pytest.approx(5000 + 10 * most_s, abs=0.01)] * 4
    assert (whole.moved_queues, whole.new_queues) == (0, 4)


def test_clients_that_begin_at_the_first_offset_skip_nothing_of_a_new_topic() -> None:
    rows, _ = change(begins_at(FIRST_OFFSET, readers(PAY)), SUBSCRIBE, name="g", policy=AVG)

    assert {(row.starts_at, row.messages_skipped_worst) for row in rows} == {(None, 0.0)}


def test_the_offsets_of_an_earlier_subscription_are_still_there() -> None:
    before = readers(PAY)
    (reader,) = before.consumer_groups
    left = tuple(
        InventoryGroupOffset(topic="refund", broker_name=name, queue_id=i, broker_offset=5000, consumer_offset=1000)
        for name in ("broker-a", "broker-b")
        for i in range(2)
    )
    again = replace(reader, offsets=(*(reader.offsets or ()), *left))

    rows, _ = change(replace(before, consumer_groups=(again,)), SUBSCRIBE, name="g", policy=AVG)

    assert {(row.starts_at, row.messages_skipped_worst) for row in rows} == {("COMMITTED", 0.0)}


def test_a_topic_that_is_left_is_read_by_no_client_and_its_offsets_stay() -> None:
    before = readers(PAY, REFUND)
    found = after(before, UNSUBSCRIBE)

    assert subscriptions(found) == [[("pay", "*")]] * 3
    assert offsets_of(found) == offsets_of(before)


def test_a_topic_that_is_left_is_not_lost() -> None:
    row = tried(readers(PAY, REFUND), UNSUBSCRIBE)

    assert "REACHABILITY" not in row.reasons
    assert "no readable queue" not in (row.why or "")


@pytest.mark.parametrize("others", [[], [topic("%RETRY%g", queues("broker-a", 1))]])
def test_clients_that_leave_their_last_topic_have_nothing_left_to_do(others: list[Any]) -> None:
    read = [REFUND, *others]
    members = [worker(name, subscriptions=None, status=takes(10.0, "refund")) for name in ("1", "2")]

    row = tried(cluster(read, [group("g", members, read)]), UNSUBSCRIBE)

    assert (row.verdict, row.why, row.unread_queues) == ("UNCHANGED", "", 0)
    assert (row.before_peak_utilisation, row.after_peak_utilisation) == (0.2, 0.0)


def test_what_waits_on_a_topic_that_is_left_is_said() -> None:
    before = readers(PAY, REFUND)
    (reader,) = before.consumer_groups
    late = tuple(replace(one, consumer_offset=0) if one.topic == "refund" else one for one in reader.offsets or ())

    row = tried(replace(before, consumer_groups=(replace(reader, offsets=late),)), UNSUBSCRIBE)

    assert (row.verdict, row.reasons) == ("WORSE", ("LOSS",))


@pytest.mark.parametrize(
    ("told", "place", "says"),
    [
        (SUBSCRIBE | {"consumer_group": "absent"}, "consumer_group", "the nearest consumer group is 'g'"),
        (SUBSCRIBE | {"topic": "absent"}, "topic", "which is not there"),
        (SUBSCRIBE | {"topic": "pay"}, "expression", "by which all its clients read 'pay' already"),
        (UNSUBSCRIBE, "topic", "the nearest topic of the group is 'pay'"),
        (UNSUBSCRIBE | {"topic": "%RETRY%g"}, "topic", "clients subscribe to their retry topic by themselves"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(told: dict[str, str], place: str, says: str) -> None:
    with pytest.raises(BadInput) as caught:
        after(readers(PAY), told)

    assert caught.value.place == f"changes[0].{place}"
    assert says in caught.value.problem
