"""The newest RocketMQ, whatever version the other tests run on: its kinds of topic, and its long lists."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Inventory, Topic
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.vocabulary import BUSINESS
from tests.cluster.clients import Consumer, Owned
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import NEWEST
from tests.recommendation.answers import Answers, answer

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

MANY: Final = [f"many_{number:04}" for number in range(2_050)]
"""More than the 2,000 entries of a page (BrokerConfig.splitMetadataSize)."""
BROKERS: Final = ("broker-a", "broker-b")
SENT: Final = {0: 30, 1: 6, 2: 3, 7: 4}
"""Messages by priority, to a topic of three levels."""
CONSUMERS: Final = (
    *(Consumer("g_avg", f"a{i}", ["pay"]) for i in range(3)),
    *(Consumer("g_hash", f"h{i}", ["pay"], strategy="CONSISTENT_HASH") for i in range(2)),
    *(Consumer("g_levels", f"l{i}", ["levels"]) for i in range(8)),
)


@dataclass(frozen=True)
class Taken:
    """A snapshot, what the consumers held then, and the plan of the snapshot."""

    inventory: Inventory
    owned: list[Owned]
    answers: Answers

    def topic(self, name: str) -> Topic:
        return next(topic for topic in self.inventory.topics if topic.topic == name)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = started_or_skipped(Cluster([Broker(name) for name in BROKERS], rocketmq=NEWEST).start)
    yield started
    started.close()


@pytest.fixture(scope="module")
def taken(cluster: Cluster) -> Iterator[Taken]:
    cluster.create_topic("pay", {"broker-a": 3, "broker-b": 4})
    for name, message_type in (("levels", "PRIORITY"), ("parent", "LITE")):
        cluster.create_topic(name, dict.fromkeys(BROKERS, 3), message_type=message_type)
    cluster.create_many("broker-a", MANY, MANY)
    with Clients(cluster.nameserver, rocketmq=NEWEST) as clients:
        for consumer in CONSUMERS:
            clients.start_consumer(consumer)
        for priority, count in SENT.items():
            clients.produce("levels", count, priority=priority)
        clients.settled()
        inventory = collect_now([cluster.nameserver])
        yield Taken(inventory, clients.owned(), answer(inventory))


def test_lists_of_more_than_two_thousand_topics_and_groups_are_read_whole(taken: Taken) -> None:
    assert taken.inventory.failures == ()
    assert {broker.version for broker in taken.inventory.brokers} == {"V5_5_0"}
    kinds = Kinds(taken.inventory, Policy().exclude)
    business = {topic.topic for topic in taken.inventory.topics if kinds.of_topic(topic.topic) == BUSINESS}
    assert business == {"pay", "levels", "parent", *MANY}
    assert {group.consumer_group for group in taken.inventory.consumer_groups} >= set(MANY)


def test_every_client_owns_what_is_computed(taken: Taken) -> None:
    judged = taken.answers.judged
    for group, strategy in (("g_avg", "AVG"), ("g_hash", "CONSISTENT_HASH"), ("g_levels", "AVG")):
        said = judged.group(group)
        assert (said["current_strategy"], said["current_strategy_source"]) == (strategy, "reported")
        computed = Counter(
            (row["client_id"], row["topic"], row["broker_name"], row["queue_id"])
            for row in judged.allocation
            if (row["consumer_group"], row["strategy"]) == (group, strategy) and not row["topic"].startswith("%")
        )
        held = Counter(
            (one.client_id, *queue)
            for one in taken.owned
            if one.consumer_group == group
            for queue in one.queues
            if not queue.topic.startswith("%")
        )
        assert computed == held
        assert held


def test_a_message_goes_to_the_queue_of_its_priority_or_to_the_last_one(taken: Taken) -> None:
    written = Counter[int]()
    for offset in taken.topic("levels").offsets or ():
        written[offset.queue_id] += offset.max_offset or 0
    assert written == {0: 30, 1: 6, 2: 3 + 4}


def test_the_snapshot_tells_the_kinds_of_topic_and_the_plan_keeps_their_queues(taken: Taken) -> None:
    assert [taken.topic(name).message_type for name in ("levels", "parent")] == ["PRIORITY", "LITE"]
    assert taken.answers.judged.rules("g_levels") == {"IDLE_CONSUMERS"}
    assert taken.answers.all("EXPAND_QUEUES", topic="levels") == []
    reason = taken.answers.one("SCALE_CONSUMERS", consumer_group="g_levels")["reason"]
    assert "since it is a PRIORITY topic" in reason
