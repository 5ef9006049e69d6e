"""What brokers store, what they can, and what the loss of another one adds: by hand."""

from typing import Any

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventoryTopic
from rocketmq_capacity.tables import BrokerLoad, TopicHeadroom
from tests.assessment.judge import Row, judge
from tests.assessment.test_stale import at
from tests.fixtures.losses import loads_of
from tests.fixtures.units import units_of
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues, topic

A, B, C = "broker-a", "broker-b", "broker-c"
GIB = 2**30


def on(name: str, rate: float | None, **counts: int) -> InventoryTopic:
    """A topic with so many queues on each broker; ``rate`` is each queue's."""
    places = {f"broker-{letter}": count for letter, count in counts.items()}
    rates = {(one, number): rate for one, count in places.items() for number in range(count)}
    return topic(name, *(queues(one, count) for one, count in places.items()), rates=rates)


# pay: 40, 20 and 20 messages a second; log: 30 on each of two.
TOPICS = (on("pay", 10.0, a=4, b=2, c=2), on("log", 15.0, a=2, b=2))


def loads(inventory: Inventory, *history: Inventory, **policy: Any) -> dict[str, BrokerLoad]:
    of = Policy.model_validate(policy)
    brokers, _ = loads_of(units_of(inventory, of, history), of)
    return {one.broker_name: one for one in brokers}


def topics(inventory: Inventory, **policy: Any) -> dict[str, TopicHeadroom]:
    of = Policy.model_validate(policy)
    return {one.topic: one for one in loads_of(units_of(inventory, of), of)[1]}


def masters(**runtime: dict[str, str]) -> list[InventoryBroker]:
    return [broker(f"broker-{letter}", runtime=runtime.get(letter)) for letter in "abc"]


def test_the_topics_of_a_broker_are_what_it_stores_until_it_tells_more() -> None:
    told = loads(cluster(TOPICS, (), masters(b={"putTps": "48.0 55.5 50.0", "putMessageAverageSize": "100.0"})))

    assert {name: (one.topics, one.topic_msgs_per_s, one.put_msgs_per_s) for name, one in told.items()} == {
        A: (2, 70.0, 70.0),
        B: (2, 50.0, 55.5),
        C: (1, 20.0, 20.0),
    }
    assert {name: one.put_bytes_per_s for name, one in told.items()} == {A: None, B: 5_550.0, C: None}


def test_what_a_lost_broker_got_spreads_over_the_queues_that_are_left() -> None:
    told = loads(cluster(TOPICS, (), masters()))

    # Without a: pay's 40 go to two queues on b and two on c, log's 30 to b: b stores 50 + 20 + 30, c 20 + 20.
    # Without b: pay's 20 go to four queues on a and two on c, log's 30 to a: a stores 70 + 13.33 + 30.
    assert {name: (one.worst_loss, round(one.loss_msgs_per_s or 0, 2)) for name, one in told.items()} == {
        A: (B, 113.33),
        B: (A, 100.0),
        C: (A, 40.0),
    }


def test_an_unknown_rate_leaves_unknown_what_it_adds() -> None:
    told = loads(cluster([on("pay", None, a=2, b=2), on("log", 10.0, b=2, c=2)], (), masters()))

    assert (told[A].put_msgs_per_s, told[B].put_msgs_per_s, told[B].worst_loss) == (None, None, None)
    assert (told[C].put_msgs_per_s, told[C].worst_loss, told[C].loss_msgs_per_s) == (20.0, B, 40.0)


def test_without_a_policy_and_a_history_it_is_unknown_what_a_broker_can_store() -> None:
    told = loads(cluster(TOPICS, (), masters(a={"putTps": "70.0 70.0 70.0"})))
    assert {(one.most_msgs_per_s, one.most_source, one.busy_ratio, one.headroom_factor) for one in told.values()} == {
        (None, None, None, None)
    }


def test_the_most_of_the_history_is_what_a_broker_was_seen_to_store() -> None:
    now = at(0, TOPICS, brokers=tuple(masters(a={"putTps": "70.0", "putMessageAverageSize": "100.0"})))
    then = [{"putTps": f"{rate} 10.0", "putMessageAverageSize": "50.0"} for rate in (140.0, 100.0)]
    history = [at(days, TOPICS, brokers=tuple(masters(a=of))) for days, of in zip((2, 1), then, strict=True)]

    one = loads(now, *history)[A]

    assert (one.most_msgs_per_s, one.most_bytes_per_s, one.most_source) == (140.0, 7_000.0, "SEEN")
    # Half of its messages, and all of its bytes.
    assert (one.busy_ratio, one.headroom_factor, one.headroom_breaks) == (1.0, 1.0, "PUT_BYTES")


TOLD = [{"match": "^broker-[ab]", "max_msgs_per_s": 105.0}, {"match": "^broker-a", "max_msgs_per_s": 1.0}]


def test_what_the_policy_tells_of_a_broker_comes_before_what_was_seen() -> None:
    seen = at(1, TOPICS, brokers=tuple(masters(a={"putTps": "500.0"})))

    told = loads(at(0, TOPICS, brokers=tuple(masters())), seen, brokers=TOLD)

    assert [(one.most_msgs_per_s, one.most_source) for one in told.values()] == [
        (105.0, "TOLD"),
        (105.0, "TOLD"),
        (None, None),
    ]
    assert (told[A].headroom_factor, told[A].headroom_breaks) == (1.5, "PUT_MESSAGES")
    assert told[A].busy_ratio == pytest.approx(70 / 105)
    assert told[A].loss_ratio == pytest.approx((70 + 40 / 3 + 30) / 105)


def test_a_topic_alone_may_grow_by_what_its_brokers_have_left() -> None:
    told = topics(cluster(TOPICS, (), masters()), brokers=TOLD)

    # a has 35 left: 40 of pay become 75, and 30 of log 65; b has 55 left: 20 of pay become 75, and 30 of log 85.
    assert told["pay"] == TopicHeadroom(topic="pay", factor=1 + 35 / 40, breaks="PUT_MESSAGES", broker_name=A)
    assert told["log"] == TopicHeadroom(topic="log", factor=1 + 35 / 30, breaks="PUT_MESSAGES", broker_name=A)
    assert topics(cluster(TOPICS, (), masters())) == {}


def losses(inventory: Inventory, **policy: Any) -> dict[str, Row]:
    found = judge(inventory, Policy.model_validate(policy)).findings
    return {one["broker_name"]: one for one in found if one["rule"] == "BROKER_LOSS"}


def test_a_loss_warns_where_a_broker_would_store_more_than_the_policy_says_and_is_silent_otherwise() -> None:
    inventory = cluster(TOPICS, (), masters())

    assert losses(inventory) == {}
    found = losses(inventory, brokers=TOLD)
    assert set(found) == {B}
    assert found[B]["severity"] == "WARNING"
    assert found[B]["evidence"]["brokers_over"] == [
        {
            "broker_name": A,
            "msgs_per_s": 113.3333,
            "max_msgs_per_s": 105.0,
            "bytes_per_s": None,
            "max_bytes_per_s": None,
            "ratio": 1.0794,
        }
    ]
    assert found[B]["message"].startswith(
        "Without broker-b: 1 broker would have to store more than the policy says: broker-a."
    )
    assert losses(inventory, brokers=[{"match": "^", "max_msgs_per_s": 113.4}]) == {}


def test_bytes_count_as_well_as_messages() -> None:
    sizes = {
        letter: {"putMessageAverageSize": size} for letter, size in zip("abc", ("1024", "4096", "1024"), strict=True)
    }
    inventory = cluster(TOPICS, (), masters(**sizes))

    # Without b: 70 KiB, and 43.33 messages of 4 KiB: 243.3 KiB a second on a.
    told = [{"match": "^broker-a", "max_mib_per_s": 0.2}]
    assert [one["broker_name"] for one in losses(inventory, brokers=told)[B]["evidence"]["brokers_over"]] == [A]
    assert losses(inventory, brokers=[{"match": "^broker-a", "max_mib_per_s": 0.3}]) == {}


def disk(used: float, kept: float, **more: str) -> dict[str, str]:
    """A broker with a disk of 100 GiB, of which messages take ``kept`` GiB; it stores 1 KiB 100 times a second."""
    return {
        "putTps": "100.0",
        "putMessageAverageSize": "1024.0",
        "commitLogDiskRatio": f"{used}",
        "commitLogDirCapacity": "Total : 100.0 GiB, Free : 50.0 GiB.",
        "commitLogMinOffset": "0",
        "commitLogMaxOffset": f"{int(kept * GIB)}",
        **more,
    }


def test_a_disk_that_holds_a_whole_retention_never_fills() -> None:
    facts: dict[str, Any] = {
        "runtime": disk(0.3, 20),
        "config": {"fileReservedTime": "72", "diskMaxUsedSpaceRatio": "75"},
    }
    one = loads(cluster([], (), [broker(A, **facts)]))[A]

    assert (one.bytes_per_day, one.kept_bytes) == (100 * 1024 * 86_400, 3 * 100 * 1024 * 86_400)
    # 75 GiB, less 10 that other files take.
    assert one.room_bytes == pytest.approx(65 * GIB)
    assert one.disk_days is None
    assert one.headroom_factor == pytest.approx(65 * GIB / (3 * 100 * 1024 * 86_400))
    assert one.headroom_breaks == "DISK"


def test_a_disk_that_is_too_small_for_it_fills_in_some_days() -> None:
    facts: dict[str, Any] = {"runtime": disk(0.3, 20, putTps="1000.0"), "config": {"fileReservedTime": "72"}}
    one = loads(cluster([], (), [broker(A, **facts)]))[A]

    # 75 GiB by default, of which 30 are used; 1,000 KiB a second are 82.4 GiB a day.
    assert one.disk_days == pytest.approx(45 * GIB / (1000 * 1024 * 86_400))
    assert (one.headroom_factor or 9) < 1


def test_the_history_tells_what_is_stored_a_day() -> None:
    now = at(0, [], brokers=(broker(A, runtime=disk(0.3, 20)),))
    then = [at(days, [], brokers=(broker(A, runtime=disk(0.3, kept)),)) for days, kept in ((4, 12), (0.4, 19.5))]

    assert loads(now, *then)[A].bytes_per_day == pytest.approx(2 * GIB)
    # Less than half a day says nothing.
    assert loads(now, *then[1:])[A].bytes_per_day == 100 * 1024 * 86_400


@pytest.mark.parametrize(
    ("kept", "bytes_per_day"), [((12, 2, 8), 6 * GIB), ((12, 14, 30), 100 * 1024 * 86_400)], ids=["before", "today"]
)
def test_what_was_stored_before_the_log_began_anew_does_not_count(
    kept: tuple[float, ...], bytes_per_day: float
) -> None:
    now = at(0, [], brokers=(broker(A, runtime=disk(0.3, 20)),))
    then = [
        at(days, [], brokers=(broker(A, runtime=disk(0.3, end)),)) for days, end in zip((4, 3, 2), kept, strict=True)
    ]
    assert loads(now, *then)[A].bytes_per_day == pytest.approx(bytes_per_day)


@pytest.mark.parametrize(
    "entry",
    [{"match": "("}, {"match": ""}, {"match": "^a", "max_msgs_per_s": 0.0}, {"match": "^a", "max_mib_per_s": -1.0}],
)
def test_what_no_broker_can_be_is_an_error(entry: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="brokers"):
        Policy.model_validate({"brokers": [entry]})
