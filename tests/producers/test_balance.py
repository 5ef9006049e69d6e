"""Whether queues get the share that producers without keys would give them, and why not."""

from itertools import chain, count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.producers.balance import producer_balance, producer_shares
from rocketmq_capacity.producers.chance import chi_square_tail
from rocketmq_capacity.producers.generation import release_of
from rocketmq_capacity.producers.producer import ProducerThread, SendAnswer
from rocketmq_capacity.producers.route import WritePlace
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopicOffset
from rocketmq_capacity.snapshot.inventory import InventoryProducer as Running
from rocketmq_capacity.snapshot.inventory import InventoryTopic as Described
from rocketmq_capacity.tables import ProducerBalance, ProducerShare
from tests.assessment.judge import judge
from tests.fixtures.units import units_of
from tests.simulation.clusters import cluster, queues

Rates = dict[str, list[float | None]]


def described(rates: Rates, **more: Any) -> Described:
    offsets = tuple(
        InventoryTopicOffset(broker_name=name, queue_id=queue_id, min_offset=0, max_offset=9_000, put_msgs_per_s=rate)
        for name, each in rates.items()
        for queue_id, rate in enumerate(each)
    )
    places = tuple(queues(name, len(each)) for name, each in rates.items())
    return Described(**{"topic": "pay", "queues": places, "offsets": offsets} | more)


def clusters(rates: Rates, **more: Any) -> Inventory:
    return cluster([described(rates, **more)], [])


def judged(
    rates: Rates, policy: Policy | None = None, producers: tuple[Running, ...] = (), **more: Any
) -> AssessedTopic:
    policy = policy or Policy()
    units = units_of(replace(clusters(rates, **more), producers=producers), policy)
    (unit,) = (one for one in units.topics if one.facts.topic == "pay")
    return AssessedTopic(unit, units.cluster, policy, tuple(units.producers))


def found(rates: Rates, policy: Policy | None = None, **more: Any) -> ProducerBalance | None:
    topic = judged(rates, policy, **more)
    return producer_balance(topic.unit.facts, topic.producers, topic.policy)


def kind(rates: Rates, **more: Any) -> str | None:
    balance = found(rates, **more)
    return balance.kind if balance else None


def shares(rates: Rates, **more: Any) -> list[ProducerShare]:
    return list(producer_shares(judged(rates, **more).unit.facts))


EVEN: Rates = {"broker-a": [100.0] * 4, "broker-b": [100.0] * 4}
LEFT_OUT: Rates = {"broker-a": [160.0] * 4, "broker-b": [40.0] * 4}
KEYS: Rates = {"broker-a": [100.0, 190.0, 60.0, 50.0], "broker-b": [100.0, 20.0, 180.0, 100.0]}


def test_the_same_share_for_every_queue_is_not_listed() -> None:
    assert found(EVEN) is None


def test_queues_of_one_broker_that_differ_are_keyed() -> None:
    balance = found(KEYS)
    assert balance is not None
    assert balance.kind == "KEYED"
    assert balance.p_within_brokers < 0.001
    assert balance.producer_groups_elsewhere == ()


def test_brokers_alone_that_differ_are_displaced() -> None:
    balance = found(LEFT_OUT)
    assert balance is not None
    assert balance.kind == "DISPLACED"
    assert balance.broker_expected_ratios == {"broker-a": 0.5, "broker-b": 0.5}
    assert balance.broker_measured_ratios == {"broker-a": 0.8, "broker-b": 0.2}
    assert balance.p_within_brokers == 1.0


def test_a_broker_with_more_queues_gets_more_messages() -> None:
    assert found({"broker-a": [100.0] * 6, "broker-b": [100.0] * 2}) is None


def test_brokers_of_one_queue_each_do_not_tell_keys_from_displacement() -> None:
    assert kind({"broker-a": [180.0], "broker-b": [100.0], "broker-c": [80.0]}) == "KEYED_OR_DISPLACED"


def test_one_broker_can_only_be_keyed() -> None:
    assert kind({"broker-a": [100.0, 180.0, 40.0]}) == "KEYED"
    assert found({"broker-a": [100.0, 100.0, 100.0]}) is None
    assert found({"broker-a": [100.0]}) is None


def test_a_difference_that_does_not_matter_is_not_listed() -> None:
    """A broker 10 % off the mean is certain with so many messages, and one message more is too much."""
    assert found({"broker-a": [110_000.0] * 4, "broker-b": [90_000.0] * 4}) is None
    assert kind({"broker-a": [110_001.0] * 4, "broker-b": [89_999.0] * 4}) == "DISPLACED"


def test_a_difference_that_chance_makes_is_not_listed() -> None:
    """Ten seconds of 1.6 and 0.4 messages a second are 16 and 4 messages a queue; of half as many, 8 and 2."""
    assert kind({name: [rate and rate / 100 for rate in each] for name, each in LEFT_OUT.items()}) == "DISPLACED"
    few: Rates = {"broker-a": [0.6, 0.9], "broker-b": [0.5, 0.8]}
    assert found(few) is None


@pytest.mark.parametrize(
    ("key", "value", "is_found"),
    [("level", 1e-40, True), ("level", 0.0, False), ("dispersion", 20.0, True), ("dispersion", 1e6, False),
     ("min_difference", 0.59, True), ("min_difference", 0.61, False), ("min_messages", 1_000.0, True),
     ("min_messages", 1_001.0, False)],
)  # fmt: skip
def test_each_threshold_of_the_policy_decides(key: str, value: float, is_found: bool) -> None:
    policy = Policy.model_validate({"thresholds": {"PRODUCER_BALANCE": {key: value}}})
    assert (found(LEFT_OUT, policy) is not None) == is_found


def test_what_is_unknown_is_not_judged() -> None:
    assert found({**LEFT_OUT, "broker-c": [None, 1.0]}) is None
    unknown: dict[str, Any] = {"queues": (queues("broker-a", 4), queues("broker-b", 4, perm=None))}
    assert found(LEFT_OUT, **unknown) is None
    assert shares(LEFT_OUT, **unknown) == []


def test_the_levels_of_a_priority_topic_are_meant_to_differ() -> None:
    assert found(KEYS, message_type="PRIORITY") is None
    assert kind(KEYS, message_type="FIFO") == "KEYED"


def test_a_broker_that_is_only_read_gets_nothing_and_is_expected_to() -> None:
    rates: Rates = {"broker-a": [100.0] * 4, "broker-b": [0.0] * 4}
    places: dict[str, Any] = {"queues": (queues("broker-a", 4), queues("broker-b", 4, perm=4))}
    assert found(rates, **places) is None
    assert {one.broker_name for one in shares(rates, **places)} == {"broker-a"}


def test_a_hot_queue_says_what_makes_the_difference() -> None:
    rates: Rates = {"broker-a": [700.0, 100.0, 100.0, 100.0], "broker-b": [100.0] * 4}
    assert judge(clusters(rates)).finding("HOT_QUEUE", topic="pay")["evidence"]["kind"] == "KEYED"
    gone: Rates = {"broker-a": [400.0] * 2, "broker-b": [0.0] * 2, "broker-c": [0.0] * 2}
    assert judge(clusters(gone)).finding("HOT_QUEUE", topic="pay")["evidence"]["kind"] == "DISPLACED"


def test_producers_that_can_be_the_reason_are_named() -> None:
    def running(group: str, *seen_on: str, version: str = "V5_3_3", language: str = "JAVA") -> Running:
        return Running(producer_group=group, client_id=group, version=version, language=language, seen_on=seen_on)

    producers = (
        running("everywhere", "broker-a", "broker-b"),
        running("only_a", "broker-a"),
        running("only_b", "broker-b"),
        running("elsewhere", "broker-z"),
        running("old", "broker-a", "broker-b", version="V4_9_7"),
        running("old_go", "broker-a", "broker-b", version="V4_9_7", language="GO"),
        running("unknown", version="HIGHER_VERSION"),
    )
    balance = found(LEFT_OUT, producers=producers)
    assert balance is not None
    assert balance.producer_groups_elsewhere == ("only_a",)
    assert balance.displacing_producer_groups == ("old",)


def test_every_writable_queue_has_its_shares() -> None:
    rows = shares({"broker-a": [30.0, 10.0, 20.0], "broker-b": [40.0]})
    assert [(one.broker_name, one.queue_id, one.expected_ratio, one.measured_ratio) for one in rows] == [
        ("broker-a", 0, 0.25, 0.3),
        ("broker-a", 1, 0.25, 0.1),
        ("broker-a", 2, 0.25, 0.2),
        ("broker-b", 0, 0.25, 0.4),
    ]
    assert [(one.broker_expected_ratio, one.broker_measured_ratio) for one in rows] == [(0.75, 0.6)] * 3 + [(0.25, 0.4)]


def test_a_share_is_unknown_where_a_rate_is_or_nothing_is_written() -> None:
    rows = shares({"broker-a": [30.0, None]})
    assert [(one.measured_ratio, one.broker_measured_ratio, one.put_msgs_per_s) for one in rows] == [
        (None, None, 30.0),
        (None, None, None),
    ]
    assert {one.measured_ratio for one in shares({"broker-a": [0.0, 0.0]})} == {None}


@given(
    st.lists(st.integers(1, 4), min_size=1, max_size=4),
    st.lists(st.integers(0, 2**31 - 1), min_size=1, max_size=5),
    st.sampled_from(["V4_9_7", "V4_9_8", "V5_1_3", "V5_3_3"]),
)
def test_no_number_of_producers_without_keys_is_ever_found(counts: list[int], starts: list[int], version: str) -> None:
    """The model of the choice itself sends for ten seconds, from any starts."""
    release = release_of(version)
    assert release is not None
    names = [f"broker-{number}" for number in range(len(counts))]
    route = [WritePlace(name, number) for name, number in zip(names, counts, strict=True)]
    sent = dict.fromkeys(
        chain.from_iterable(zip([name] * n, count(), strict=False) for name, n in zip(names, counts, strict=True)), 0
    )
    for start in starts:
        producer = ProducerThread(release, route, start=start)
        for now in range(200):
            (queue,) = producer.send(now, lambda _: SendAnswer(1)).tries
            sent[queue.broker_name, queue.queue_id] += 1
    rates: Rates = {name: [sent[name, i] / 10 for i in range(n)] for name, n in zip(names, counts, strict=True)}
    assert found(rates) is None
    assert sum(one.expected_ratio for one in shares(rates)) == pytest.approx(1)


@pytest.mark.parametrize(
    ("statistic", "degrees", "tail"),
    [(3.841458821, 1, 0.05), (5.991464547, 2, 0.05), (7.814727903, 3, 0.05), (29.58829845, 10, 0.001),
     (124.3421134, 100, 0.05), (0.0, 5, 1.0), (1e6, 3, 0.0)],
)  # fmt: skip
def test_the_tail_of_chi_square_is_the_tables(statistic: float, degrees: int, tail: float) -> None:
    """Quantiles as printed tables give them."""
    assert chi_square_tail(statistic, degrees) == pytest.approx(tail, rel=1e-6)
