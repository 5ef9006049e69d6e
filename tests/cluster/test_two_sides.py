"""Remoting clients of one group behind a Proxy in cluster mode and at the brokers, and who decides on order."""

import contextlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import Finding
from tests.cluster.clients import Consumer
from tests.cluster.proxies import Proxies
from tests.cluster.rocketmq import Broker, Clients, Cluster
from tests.fixtures.plain_plan import plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

QUEUES = 4
TIME_LIMIT_S = 120.0
SOON = Policy.model_validate({
    "thresholds": {"SUBSCRIPTION_MISMATCH": {"settled_s": 0.0}, "STUCK_QUEUE": {"lock_s": 1.0}}
})


@dataclass(frozen=True)
class Story:
    """How many clients of ``g`` and of ``g_locks`` have each queue, those of ``g`` at the brokers, and a snapshot."""

    readers: Counter[int]
    lockers: Counter[int]
    at_brokers: list[int]
    inventory: Inventory

    def found(self, rule: str) -> list[Finding]:
        return [one for one in plain_plan(self.inventory, SOON).findings if one.rule == rule]


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    with contextlib.ExitStack() as stack:
        cluster = stack.enter_context(contextlib.closing(started_or_skipped(Cluster((Broker("broker-a"),)).start)))
        proxies = stack.enter_context(Proxies(cluster.nameserver, cluster.cluster_name, 2))
        cluster.create_topic("pay", {"broker-a": QUEUES})
        cluster.create_group("g")
        cluster.create_group("g_locks")
        cluster.create_group("g_set", orderly=True)
        at_brokers = stack.enter_context(Clients(cluster.nameserver))
        for name in ("d1", "d2"):
            at_brokers.start_consumer(Consumer("g", name, ["pay"]))
        at_brokers.start_consumer(Consumer("g_set", "s1", ["pay"]))
        at_brokers.start_consumer(Consumer("g_locks", "l1", ["pay"], orderly=True))
        behind = stack.enter_context(Clients(proxies.places[0].remoting_addr))
        behind.start_consumer(Consumer("g", "p1", ["pay"]))
        until(lambda: sorted(held(at_brokers, "g_locks")) == list(range(QUEUES)), TIME_LIMIT_S)
        behind.start_consumer(Consumer("g_locks", "l2", ["pay"], orderly=True))
        groups = ((at_brokers, "g"), (behind, "g"), (at_brokers, "g_set"), (at_brokers, "g_locks"))
        until(lambda: all(sorted(held(*one)) == list(range(QUEUES)) for one in groups), TIME_LIMIT_S)
        addresses = [parse_address(one.remoting_addr) for one in proxies.places]
        inventory = collect_now([cluster.nameserver], options=CollectOptions(sample_count=2, proxies=addresses))
        readers, lockers = (Counter(held(at_brokers, one) + held(behind, one)) for one in ("g", "g_locks"))
        yield Story(readers, lockers, held(at_brokers, "g"), inventory)


def held(clients: Clients, group: str) -> list[int]:
    """The queues of the topic that these clients hold, as often as they do."""
    return [
        queue.queue_id
        for one in clients.owned()
        if one.consumer_group == group
        for queue in one.queues
        if queue.topic == "pay"
    ]


def test_each_side_divides_all_queues_among_its_own_clients(story: Story) -> None:
    assert sorted(story.at_brokers) == list(range(QUEUES))
    assert story.readers == Counter(dict.fromkeys(range(QUEUES), 2))


def test_in_order_a_queue_has_the_one_reader_that_locked_it(story: Story) -> None:
    assert story.lockers == Counter(range(QUEUES))


def test_the_two_sides_are_found(story: Story) -> None:
    found = {one.consumer_group: one for one in story.found("MEMBERSHIP_DISAGREEMENT")}

    assert {name: one.severity for name, one in found.items()} == {"g": "CRITICAL", "g_locks": "WARNING"}
    assert found["g"].message == (
        "Proxies alone know 1 client, and brokers know 2: each side divides all queues among its own clients, so that"
        " messages are consumed twice."
    )


def test_a_push_client_that_consumes_side_by_side_does_so_whatever_its_group_is_set_to(story: Story) -> None:
    (group,) = (one for one in story.inventory.consumer_groups if one.consumer_group == "g_set")

    assert [one.consume_message_orderly for one in group.settings or ()] == [True]
    assert group.orderly is False
    # Its queues are not locked, which is as it should be.
    assert "g_set" not in {one.consumer_group for one in story.found("STUCK_QUEUE")}
