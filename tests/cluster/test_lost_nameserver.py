"""A real name server that brokers no longer reach, while clients still ask it: what the what-if predicts happens.

Brokers that tell name servers every second that they live (enableSlaveActingMaster) expire within seconds. One after
the other no longer registers with the second name server. The group ``g_pay`` has a client at each name server.
"""

import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import pytest

from rocketmq_capacity.plan_file.lost_nameserver import LostNameserver, PartialLists
from rocketmq_capacity.simulation.lost_nameservers import entries_of
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.collect import collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster
from tests.cluster.transition_runs import QUICK
from tests.fixtures.plain_plan import plain_plan
from tests.fixtures.units import units_of
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

CONFIG: Final = {
    "enableSlaveActingMaster": "true",
    "brokerNotActiveTimeoutMillis": "6000",
    "registerNameServerPeriod": "10000",
    "updateNameServerAddrPeriod": "1000",
}
"""The last one is how soon a broker follows a change of its namesrvAddr."""
FOLLOWS_S: Final = 5.0
"""It follows within a second, and drops the old name server at its next look (every 3 s)."""
LATE_S: Final = 60.0
"""By how much a loaded machine may be late."""
A: Final = tuple(("pay", "broker-a", number) for number in range(4))
B: Final = tuple(("pay", "broker-b", number) for number in range(4))


@dataclass
class Story:
    """What was seen.

    Attributes:
        predicted: what the what-if says.
        expired_s: by broker, how long after it was cut off the second name server listed it no more.
        held: what each client of ``g_pay`` owned, once the first broker had expired and at the end.
        partial: a snapshot between the two.
        newcomer: what a client that started last at the second name server owned, and whether it was a member.
        back_s: after brokers reached it again, how long until every client had its share of all queues.
    """

    predicted: LostNameserver
    expired_s: dict[str, float] = field(default_factory=dict)
    held: list[Mapping[str, Any]] = field(default_factory=list)
    partial: Inventory | None = None
    newcomer: tuple[int, bool] = (-1, True)
    back_s: float = -1.0


@pytest.fixture(scope="module")
def story() -> Iterator[Story]:
    # A broker closes its connection to a name server that it no longer registers with if it asks that one for its own
    # peers. These ask the first one, because they know it alone at their start.
    brokers = [Broker(name, is_cut_off=True, config=CONFIG) for name in ("broker-a", "broker-b")]
    cluster = started_or_skipped(Cluster(brokers, two_nameservers=True).start)
    with (
        contextlib.closing(cluster),
        Clients(cluster.nameserver, jvm=QUICK.jvm) as first,
        Clients(cluster.second_nameserver, jvm=QUICK.jvm) as second,
    ):
        yield told(cluster, first, second)


def told(cluster: Cluster, first: Clients, second: Clients) -> Story:
    cluster.create_topic("pay", {"broker-a": 4, "broker-b": 4})
    cluster.create_group("g_pay")
    both = f"{cluster.nameserver};{cluster.second_nameserver}"
    register(cluster, both, "broker-a", "broker-b")
    until(lambda: listed(cluster) == {"broker-a", "broker-b"}, 2 * LATE_S)
    first.start_consumer(consumer("c1"))
    second.start_consumer(consumer("c2"))
    whole = {"c1": {*A}, "c2": {*B}}
    until(lambda: held(first, second) == whole, 2 * LATE_S)
    story = Story(predicted(taken(cluster), cluster.second_nameserver))

    of_one_broker = {"c1": {*A}, "c2": {*A[2:]}}
    for broker_name, then in (("broker-b", of_one_broker), ("broker-a", of_one_broker)):
        cut_at = time.monotonic()
        register(cluster, cluster.nameserver, broker_name)
        until(partial(is_unlisted, broker_name, cluster), 2 * LATE_S)
        story.expired_s[broker_name] = time.monotonic() - cut_at
        until(partial(own, then, first, second), 2 * LATE_S)
        story.held.append(held(first, second))
        if story.partial is None:
            story.partial = taken(cluster)

    cluster.create_group("g_new")
    second.start_consumer(Consumer("g_new", "new", ["pay"], **QUICK.of_consumers))
    members = {one.consumer_group: one.clients for one in taken(cluster).consumer_groups}
    owns = sum(len(one.queues) for one in second.owned() if one.consumer_group == "g_new")
    story.newcomer = owns, bool(members.get("g_new"))

    back_at = time.monotonic()
    register(cluster, both, "broker-a", "broker-b")
    until(lambda: held(first, second) == whole, 2 * LATE_S)
    story.back_s = time.monotonic() - back_at
    return story


def register(cluster: Cluster, nameservers: str, *broker_names: str) -> None:
    """Let brokers register with these name servers."""
    for broker_name in broker_names:
        cluster.set_broker_config(broker_name, {"namesrvAddr": nameservers})


def consumer(name: str) -> Consumer:
    return Consumer("g_pay", name, ["pay"], **QUICK.of_consumers)


def own(queues: Mapping[str, Any], *clients: Clients) -> bool:
    """Whether the clients of ``g_pay`` own these queues."""
    return held(*clients) == queues


def listed(cluster: Cluster) -> set[str]:
    """The brokers that the second name server lists."""
    return {one.broker_name for one in collect_now([cluster.second_nameserver]).brokers}


def is_unlisted(broker_name: str, cluster: Cluster) -> bool:
    return broker_name not in listed(cluster)


def held(*clients: Clients) -> dict[str, set[tuple[str, str, int]]]:
    """By client of ``g_pay``, the queues that it owns."""
    return {
        one.client_id.partition("@")[2]: {
            (queue.topic, queue.broker_name, queue.queue_id) for queue in one.queues if queue.topic == "pay"
        }
        for each in clients
        for one in each.owned()
        if one.consumer_group == "g_pay"
    }


def taken(cluster: Cluster) -> Inventory:
    """A snapshot by both name servers."""
    return collect_now([cluster.nameserver, cluster.second_nameserver])


def predicted(inventory: Inventory, nameserver: str) -> LostNameserver:
    change = {"change": "lose_nameserver", "nameserver": nameserver, "loss": "CUT_OFF"}
    scenario = Scenario.model_validate({"name": "cut off", "changes": [change]})
    cluster = units_of(inventory).cluster
    left = tuple(one for one in cluster.cluster.nameservers if one != nameserver)
    lists = PartialLists(topics=0, topic_names=(), queues=0, groups=0, group_names=())
    (entry,) = entries_of(scenario, cluster.brokers, left, Timing.of(cluster, QUICK.policy), lists)
    return entry


def test_it_expires_each_broker_within_the_predicted_time(story: Story) -> None:
    first_s, last_s = story.predicted.expires_first_s, story.predicted.expires_last_s

    # Every second a broker tells that it lives; it expires after 6 s, and the name server looks every 5 s.
    assert first_s is not None
    assert last_s is not None
    assert (first_s, last_s) == (5.0, 11.0)
    assert story.expired_s.keys() == {"broker-a", "broker-b"}
    for seconds in story.expired_s.values():
        assert first_s <= seconds <= last_s + FOLLOWS_S + LATE_S


def test_a_client_keeps_the_last_list_that_it_got(story: Story) -> None:
    # The first client divides a0 to a3 and b0 to b3, and takes the first four. The second one divides a0 to a3 alone.
    partial = {"c1": {*A}, "c2": {*A[2:]}}

    assert story.held == [partial, partial]
    last = [span for span in story.predicted.routes if span.clients == "ASK_IT"][-1]
    assert (last.route, last.until_s) == ("LAST", None)


def test_a_snapshot_meanwhile_names_the_queues_that_are_read_twice_or_by_nobody(story: Story) -> None:
    assert story.partial is not None
    (found,) = [one for one in plain_plan(story.partial).findings if one.rule == "NAMESERVER_DISAGREEMENT"]
    evidence = json.loads(found.evidence)
    (group,) = evidence["divided_groups"]

    assert (group["consumer_group"], group["clients"], group["placed_clients"]) == ("g_pay", 2, 2)
    named = {
        (one["queue"]["topic"], one["queue"]["broker_name"], one["queue"]["queue_id"]): (
            one["unread"],
            one["read_twice"],
        )
        for one in evidence["divided_queues"]
    }
    assert named == dict.fromkeys(A[2:], ("NO", "YES")) | dict.fromkeys(B, ("YES", "NO"))


def test_a_client_that_starts_at_it_has_no_route_and_is_no_member(story: Story) -> None:
    assert story.newcomer == (0, False)
    new = [span for span in story.predicted.routes if span.clients == "NEW"][-1]
    assert (new.route, new.until_s) == ("NONE", None)


def test_when_it_is_back_clients_have_all_routes_within_the_predicted_time(story: Story) -> None:
    # A broker registers every 10 s, and clients ask every 2 s; both take 3 s at most. Then they rebalance (2 s).
    assert story.predicted.back_s == 18.0
    assert story.back_s <= story.predicted.back_s + FOLLOWS_S + QUICK.rebalance_s + LATE_S
