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
    """What the clients of the group ``g`` hold, how many have each queue, and a snapshot."""

    readers: Counter[int]
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
        cluster.create_group("g_set", orderly=True)
        at_brokers = stack.enter_context(Clients(cluster.nameserver))
        for consumer in (Consumer("g", "d1", ["pay"]), Consumer("g", "d2", ["pay"]), Consumer("g_set", "s1", ["pay"])):
            at_brokers.start_consumer(consumer)
        behind = stack.enter_context(Clients(proxies.places[0].remoting_addr))
        behind.start_consumer(Consumer("g", "p1", ["pay"]))
        groups = ((at_brokers, "g"), (behind, "g"), (at_brokers, "g_set"))
        until(lambda: all(sorted(held(*one)) == list(range(QUEUES)) for one in groups), TIME_LIMIT_S)
        addresses = [parse_address(one.remoting_addr) for one in proxies.places]
        inventory = collect_now([cluster.nameserver], options=CollectOptions(sample_count=2, proxies=addresses))
        yield Story(Counter(held(at_brokers, "g") + held(behind, "g")), held(at_brokers, "g"), inventory)


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


def test_the_two_sides_are_found(story: Story) -> None:
    assert [one.message for one in story.found("MEMBERSHIP_DISAGREEMENT")] == [
        "Proxies alone know 1 client, and brokers know 2: each side divides all queues among its own clients, so that"
        " messages are consumed twice."
    ]


def test_a_push_client_that_consumes_side_by_side_does_so_whatever_its_group_is_set_to(story: Story) -> None:
    (group,) = (one for one in story.inventory.consumer_groups if one.consumer_group == "g_set")

    assert [one.consume_message_orderly for one in group.settings or ()] == [True]
    assert group.orderly is False
    assert story.found("STUCK_QUEUE") == []
