"""Whether every queue is read: READ, UNREAD, TWICE or UNKNOWN, which is a verdict apart from a group's size.

A client with ten threads that needs 10 ms a message handles 1,000 messages a second.
"""

from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Client, InventoryFailure, InventoryProxy
from tests.assessment.cases import OWN_STRATEGY, Part, a_group, a_topic, member, owned, takes
from tests.assessment.judge import Judgement, judge
from tests.simulation.clusters import cluster, queues, reads

PART = Part()
FOUR = queues("broker-a", 4)
QUIET = {("broker-a", i): 1.0 for i in range(4)}


def _working(name: str, ids: tuple[str, ...] = ("c01", "c02"), **facts: Any) -> list[Client]:
    return [member(one, consume_threads=10, consume_batch_size=1, status=takes(name, 10.0), **facts) for one in ids]


PART.case("read_by_two", _working("read_by_two"), FOUR, rates=QUIET)
PART.case("id_twice", _working("id_twice", ("c01", "c01")), FOUR, rates=QUIET)
PART.case("not_told", _working("not_told", allocate_strategy=OWN_STRATEGY), FOUR, rates=QUIET)
PART.case("nobody_is_there", [], FOUR, rates=QUIET)
PART.case("all_read_all", _working("all_read_all"), FOUR, rates=QUIET, message_model="BROADCASTING")
PART.topic("of_c01_alone", FOUR, rates=QUIET)
PART.topic("of_both", FOUR, rates=QUIET)
PART.group(
    "c02_reads_less",
    [
        *_working("of_c01_alone", ("c01",)),
        *_working("of_both", ("c02",), subscriptions=(reads("of_both"),)),
    ],
    "of_c01_alone",
    "of_both",
)
PART.group(
    "one_id_reads_each_topic_once",
    [
        *_working(
            "of_c01_alone", ("c01",), allocate_strategy="CONSISTENT_HASH", subscriptions=(reads("of_c01_alone"),)
        ),
        *_working("of_both", ("c01",), allocate_strategy="CONSISTENT_HASH", subscriptions=(reads("of_both"),)),
    ],
    "of_c01_alone",
    "of_both",
)
_TWO = owned(("both_own_queue_0", "broker-a", 0), ("both_own_queue_0", "broker-a", 1))
_THREE = owned(*(("both_own_queue_0", "broker-a", i) for i in (0, 2, 3)))
PART.case(
    "both_own_queue_0",
    [
        *_working("both_own_queue_0", ("c01",), allocate_strategy=OWN_STRATEGY, owned_queues=_TWO),
        *_working("both_own_queue_0", ("c02",), allocate_strategy=OWN_STRATEGY, owned_queues=_THREE),
    ],
    FOUR,
    rates=QUIET,
)


@pytest.mark.parametrize(
    ("group", "status"),
    [
        ("read_by_two", "READ"),
        ("all_read_all", "READ"),
        ("c02_reads_less", "UNREAD"),
        # Two consumers of one id count as two when AVG divides: the second half belongs to nobody, the first to both.
        ("id_twice", "UNREAD"),
        # CONSISTENT_HASH gives everything to the id, and each topic is read by one of its two consumers.
        ("one_id_reads_each_topic_once", "READ"),
        ("nobody_is_there", "UNREAD"),
        ("both_own_queue_0", "TWICE"),
        ("not_told", "UNKNOWN"),
    ],
)
def test_who_reads_the_queues_is_told_apart_from_the_size(judged: Judgement, group: str, status: str) -> None:
    assert judged.group(group)["reading_status"] == status


@pytest.mark.parametrize("group", ["c02_reads_less", "id_twice", "both_own_queue_0"])
def test_queues_read_by_nobody_or_twice_are_no_reason_for_more_clients_and_none_for_fewer(
    judged: Judgement, group: str
) -> None:
    found = judged.group(group)

    assert found["utilisation"] < 0.01
    assert found["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.found("CONSUMER_CAPACITY", group) is None


def test_clients_that_a_proxy_may_know_leave_it_unknown_who_reads() -> None:
    topic = a_topic("t", FOUR, rates=QUIET)
    group = a_group("g", [], [topic])
    inventory = cluster(
        [topic], [group], failures=[InventoryFailure(broker_addr="10.0.9.9:8081", request="x", error="silent")]
    )
    found = judge(replace(inventory, proxies=(InventoryProxy(proxy_addr="10.0.9.9:8081"),)))

    assert found.group("g")["reading_status"] == "UNKNOWN"


# Lag that grows: nobody reads the queue, its client is stuck, or its client cannot keep up.
def _grows(topic: str, queue_id: int) -> dict[str, Any]:
    queue, every = (topic, "broker-a", queue_id), [(topic, "broker-a", i) for i in range(4)]
    return {"lag": 0, "lags": {queue: 9_000}, "samples": {one: [(90_000, 90_000)] for one in every}}


PART.topic("grows_unread", FOUR, rates=QUIET)
PART.topic("grows_beside", FOUR, rates=QUIET)
PART.group(
    "lag_grows_where_nobody_reads",
    [*_working("grows_unread", ("c01",)), *_working("grows_beside", ("c02",), subscriptions=(reads("grows_beside"),))],
    "grows_unread",
    **_grows("grows_unread", 3),
)
_HELD = owned(*(("grows_where_it_is_stuck", "broker-a", i) for i in range(4)))
PART.case(
    "grows_where_it_is_stuck",
    _working(
        "grows_where_it_is_stuck",
        ("c01",),
        owned_queues=(*_HELD[:3], replace(_HELD[3], dropped=True)),
    ),
    FOUR,
    rates=QUIET,
    **_grows("grows_where_it_is_stuck", 3),
)
_BUSY = [replace(one, status=takes("grows_for_want", 18.0)) for one in _working("grows_for_want")]
PART.case("grows_for_want", _BUSY, FOUR, rates=QUIET, **_grows("grows_for_want", 3))


@pytest.mark.parametrize("group", ["lag_grows_where_nobody_reads", "grows_where_it_is_stuck"])
def test_lag_that_grows_where_no_client_can_work_does_not_ask_for_more_of_them(judged: Judgement, group: str) -> None:
    assert judged.group(group)["provision_status"] == "RIGHT_PROVISIONED"
    assert judged.found("CONSUMER_CAPACITY", group) is None


def test_lag_that_grows_on_a_queue_that_is_read_is_too_few(judged: Judgement) -> None:
    found = judged.group("grows_for_want")

    assert (found["provision_status"], found["reading_status"]) == ("UNDER_PROVISIONED", "READ")
    assert found["provision_reason"] == "lag grew by 9,000 messages in 1 min, 540,000 an hour"
