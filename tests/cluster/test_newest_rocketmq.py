"""The newest RocketMQ, whatever version the other tests run on: its kinds of topic and consumer, and its long lists."""

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import pytest

from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryTopic
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.vocabulary import BUSINESS
from tests.cluster.clients import Consumer, Owned
from tests.cluster.proxies import GrpcClients, Proxies
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import NEWEST
from tests.recommendation.answers import Answers, answer

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

PAGE: Final = 100
"""Entries of a page of topics or groups that a broker gives to callers who ask for pages; usually 2,000."""
MANY: Final = [f"many_{number}" for number in range(PAGE + 50)]
BROKERS: Final = ("broker-a", "broker-b")
SENT: Final = {0: 30, 1: 6, 2: 3, 7: 4}
"""Messages by priority, to a topic of three levels."""
CONFIG: Final = {"splitMetadataSize": str(PAGE), "enableLmq": "true", "enableMultiDispatch": "true"}
"""Short pages, and what a broker needs for lite topics."""
LITE_TOPICS: Final = ("today", "tomorrow")
LITE_MESSAGES: Final = 20
"""To each of them."""
LITE_CLIENTS: Final = 8
"""More than the parent topic has queues."""
CONSUMERS: Final = (
    *(Consumer("g_avg", f"a{i}", ["pay"]) for i in range(3)),
    *(Consumer("g_hash", f"h{i}", ["pay"], strategy="CONSISTENT_HASH") for i in range(2)),
    *(Consumer("g_levels", f"l{i}", ["levels"]) for i in range(8)),
)


@dataclass(frozen=True)
class Taken:
    """A snapshot, what the consumers held then, and the plan of the snapshot.

    ``lite_read`` is how many messages the consumers of lite topics have read.
    """

    inventory: Inventory
    owned: list[Owned]
    answers: Answers
    lite_read: int

    def group(self, name: str) -> InventoryGroup:
        return next(group for group in self.inventory.consumer_groups if group.consumer_group == name)

    def topic(self, name: str) -> InventoryTopic:
        return next(topic for topic in self.inventory.topics if topic.topic == name)


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    brokers = [Broker(name, config=CONFIG) for name in BROKERS]
    started = started_or_skipped(Cluster(brokers, pop=True, rocketmq=NEWEST).start)
    yield started
    started.close()


@pytest.fixture(scope="module")
def taken(cluster: Cluster) -> Iterator[Taken]:
    cluster.create_topic("pay", {"broker-a": 3, "broker-b": 4})
    for name, message_type in (("levels", "PRIORITY"), ("parent", "LITE")):
        cluster.create_topic(name, dict.fromkeys(BROKERS, 3), message_type=message_type)
    cluster.create_many("broker-a", MANY, MANY)
    cluster.create_group("g_lite", lite_topic="parent")
    proxies = Proxies(cluster.nameserver, cluster.cluster_name, rocketmq=NEWEST)
    with proxies, GrpcClients() as grpc, Clients(cluster.nameserver, rocketmq=NEWEST) as clients:
        proxy = proxies.places[0]
        for _ in range(LITE_CLIENTS):
            grpc.start_lite(proxy.endpoint, "g_lite", "parent", LITE_TOPICS)
        for lite_topic in LITE_TOPICS:
            grpc.produce(proxy.endpoint, "parent", LITE_MESSAGES, lite_topic=lite_topic)
        for consumer in CONSUMERS:
            clients.start_consumer(consumer)
        for priority, count in SENT.items():
            clients.produce("levels", count, priority=priority)
        clients.settled()
        lite_read = all_read(grpc)
        inventory = collect_now(
            [cluster.nameserver], options=CollectOptions(proxies=[parse_address(proxy.remoting_addr)])
        )
        yield Taken(inventory, clients.owned(), answer(inventory), lite_read)


def all_read(grpc: GrpcClients) -> int:
    """How many messages the consumers of lite topics have read, once that is all."""
    deadline = time.monotonic() + 300
    while (read := sum(one.consumed for one in grpc.owned())) < LITE_MESSAGES * len(LITE_TOPICS):
        if time.monotonic() > deadline:
            break
        time.sleep(0.5)
    return read


def test_lists_of_more_topics_and_groups_than_a_page_are_read_whole(taken: Taken) -> None:
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


def test_the_snapshot_has_the_kinds_of_topic_and_the_plan_keeps_their_queues(taken: Taken) -> None:
    assert [taken.topic(name).message_type for name in ("levels", "parent")] == ["PRIORITY", "LITE"]
    assert taken.answers.judged.rules("g_levels") == {"IDLE_CONSUMERS"}
    assert taken.answers.all("EXPAND_QUEUES", topic="levels") == []
    reason = taken.answers.one("SCALE_CONSUMERS", consumer_group="g_levels")["reason"]
    assert "since it is a PRIORITY topic" in reason


def test_consumers_of_lite_topics_are_seen_as_such_and_no_strategy_is_tried_on_them(taken: Taken) -> None:
    group, said = taken.group("g_lite"), taken.answers.judged.group("g_lite")
    clients = group.clients or ()

    assert taken.lite_read == LITE_MESSAGES * len(LITE_TOPICS)
    assert group.message_model == "LITE_SELECTIVE"
    assert (len({one.client_id for one in clients}), {one.protocol for one in clients}) == (LITE_CLIENTS, {"GRPC"})
    assert said["provision_status"] == "UNDECIDED"
    assert taken.answers.judged.rules("g_lite") == set()
    assert taken.answers.all(consumer_group="g_lite") == []
    assert taken.answers.all(topic="parent") == []
    assert not [row for row in taken.answers.judged.allocation if row["consumer_group"] == "g_lite"]
