"""A real cluster, its clients, and a snapshot of it: made once for all tests here that look at it.

The tests that freeze or kill a broker stand in the last file that asks for it.
"""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import pytest

from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, InventoryTopic
from tests.cluster.clients import Clients, Consumer, Owned, Subscription
from tests.cluster.rocketmq import Broker, Cluster
from tests.oracle.requirement import started_or_skipped

ROOM: Final = "room1@broker-c"
PLACED: Final = {"broker-a": 3, "broker-b": 2, ROOM: 4}
NEARBY: Final = {
    "broker_rooms": {"broker-a": "hz", "broker-b": "hz", ROOM: "room1"},
    "client_rooms": {"127.0.0.1@n0": "hz", "127.0.0.1@n1": "room1"},
}
CONSUMERS: Final = (
    *(Consumer("g_avg", f"a{i}", ["pay", "ship"], consume_threads=2 + i) for i in range(3)),
    *(Consumer("g_circle", f"c{i}", ["pay"], strategy="AVG_BY_CIRCLE") for i in range(2)),
    *(Consumer("g_hash", f"h{i}", ["pay"], strategy="CONSISTENT_HASH", orderly=True) for i in range(2)),
    *(
        Consumer("g_room", f"r{i}", ["pay"], strategy="MACHINE_ROOM", strategy_params={"machine_rooms": ["room1"]})
        for i in range(2)
    ),
    *(
        Consumer("g_near", f"n{i}", ["pay"], strategy="MACHINE_ROOM_NEARBY-AVG", strategy_params=NEARBY)
        for i in range(2)
    ),
    *(Consumer("g_all", f"b{i}", ["ship"], message_model="BROADCASTING") for i in range(2)),
    *(Consumer("g_pop", f"p{i}", ["popped"], pop=True) for i in range(4)),
    *(Consumer("g_twice", "same", ["pay"]) for _ in range(2)),
    Consumer("g_mixed", "m0-中文", [Subscription("pay", "red || blue"), "ship"], consume_batch_size=3),
    Consumer("g_mixed", "m1", [Subscription("pay", "a > 1", "SQL92"), "absent"], pull_threshold_for_queue=77),
)


@dataclass(frozen=True)
class Taken:
    """One snapshot, and what the admin client and the clients themselves said before and after it."""

    inventory: Inventory
    facts: dict[str, Any]
    facts_after: dict[str, Any]
    owned: list[Owned]

    def group(self, name: str) -> InventoryGroup:
        return next(group for group in self.inventory.consumer_groups if group.consumer_group == name)

    def clients(self, group: str) -> tuple[Client, ...]:
        return self.group(group).clients or ()

    def topic(self, name: str) -> InventoryTopic:
        return next(topic for topic in self.inventory.topics if topic.topic == name)

    def masters(self, kind: str) -> list[dict[str, Any]]:
        return [row for row in self.facts[kind] if row["broker_id"] == 0]


def settled_topics(inventory: Inventory) -> list[InventoryTopic]:
    """The topics without those that are made later."""
    return [topic for topic in inventory.topics if not is_made_later(topic.topic)]


def is_made_later(topic: str) -> bool:
    """Whether brokers make it for themselves, for a while after their start."""
    return topic.startswith("rmq_sys_")


def read_by_groups(facts: dict[str, Any]) -> dict[tuple[str, str, str, int], tuple[int, int]]:
    """(group, topic, broker name, queue id) -> (broker offset, consumer offset), as the masters have them."""
    return {
        (row["consumer_group"], row["topic"], row["broker_name"], row["queue_id"]): (
            row["broker_offset"],
            row["consumer_offset"],
        )
        for row in facts["consume_stats"]
        if row["broker_id"] == 0
    }


def facts_when_quiet(cluster: Cluster) -> dict[str, Any]:
    """What the admin client says once groups have committed all that they have read, which takes them some seconds."""
    facts = cluster.facts_of_brokers()
    for _ in range(30):
        time.sleep(3)
        before, facts = facts, cluster.facts_of_brokers()
        if read_by_groups(before) == read_by_groups(facts):
            return cluster.facts()
    pytest.fail("the groups' offsets did not come to rest")


@pytest.fixture(scope="package")
def running() -> Iterator[Cluster]:
    brokers = [
        Broker("broker-a"),
        Broker("broker-b", own_process=True),
        Broker("broker-b", broker_id=1),
        Broker(ROOM, own_process=True),
    ]
    started = started_or_skipped(Cluster(brokers, cluster_name="C1", pop=True).start)
    yield started
    started.close()


@pytest.fixture(scope="package")
def clients(running: Cluster) -> Iterator[Clients]:
    with Clients(running.nameserver) as started:
        yield started


@pytest.fixture(scope="package")
def taken(running: Cluster, clients: Clients) -> Taken:
    running.create_topic("pay", PLACED)
    running.create_topic("ship", {"broker-a": (2, 5), "broker-b": 4}, perm={"broker-a": 6, "broker-b": 4})
    running.create_topic("fifo", {"broker-a": 2}, order=True, message_type="FIFO")
    running.create_topic("popped", PLACED)
    running.create_group("g_pop")
    running.create_group("g_orderly", orderly=True)
    running.set_request_mode("popped", "g_pop", "POP", pop_share_queue_num=1)
    for consumer in CONSUMERS:
        clients.start_consumer(consumer)
    clients.produce("pay", 300, weights={("broker-a", 0): 5.0, (ROOM, 0): 0.0})
    clients.produce("ship", 50)
    clients.settled()
    facts = facts_when_quiet(running)
    inventory = collect_now([running.nameserver])
    return Taken(inventory, facts, running.facts(), clients.owned())
