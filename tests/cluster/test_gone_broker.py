"""A broker without a slave that is killed leaves every route: the plan with the history names it until it is back."""

import contextlib
from typing import Final

import pytest

from rocketmq_capacity.assessment.broker_loss import CrashEvidence
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.tables import Finding
from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster
from tests.cluster.snapshots import snapshot_of
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.oracle.requirement import started_or_skipped
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(600)]

PATIENCE_S: Final = 180.0
PER_S: Final = 20.0
LOST: Final = "broker-b"


def lost_in(plan: PlainPlan) -> list[Finding]:
    """The findings of a broker that is lost."""
    return [one for one in plan.findings if (one.rule, one.severity) == ("BROKER_LOSS", "CRITICAL")]


def traffic_of(inventory: Inventory) -> float:
    """Messages a second that are written to the broker."""
    (topic,) = (one for one in inventory.topics if one.topic == "pay")
    return sum(one.put_msgs_per_s or 0.0 for one in topic.offsets or () if one.broker_name == LOST)


def is_read(inventory: Inventory) -> bool:
    """Whether the broker has got messages, and its reader has committed an offset there."""
    (group,) = (one for one in inventory.consumer_groups if one.consumer_group == "g_pay")
    there = [one for one in group.offsets or () if one.broker_name == LOST and one.consumer_offset is not None]
    return traffic_of(inventory) > 0 and bool(there)


def test_a_broker_that_was_killed_is_named_until_it_is_back() -> None:
    cluster = started_or_skipped(Cluster([Broker("broker-a"), Broker(LOST, own_process=True)]).start)
    with contextlib.closing(cluster), Clients(cluster.nameserver) as clients:
        cluster.create_topic("pay", {"broker-a": 2, LOST: 2})
        cluster.create_group("g_pay")
        for number in range(4):
            clients.start_consumer(Consumer("g_pay", f"pay-{number}", ["pay"]))
        clients.settled()
        clients.start_load("pay", PER_S)
        before = until(lambda: one if is_read(one := snapshot_of(cluster)) else None, PATIENCE_S)
        cluster.kill(LOST)
        until(lambda: not cluster.is_registered(LOST), PATIENCE_S)
        gone = plain_plan(snapshot_of(cluster), history=[before])
        cluster.start_again(LOST)
        until(lambda: cluster.is_registered(LOST), PATIENCE_S)
        back = plain_plan(snapshot_of(cluster), history=[before])
        clients.stop_loads()

    assert lost_in(plain_plan(before)) == lost_in(back) == []
    (found,) = lost_in(gone)
    crashed = CrashEvidence.of(found)
    assert (found.broker_name, crashed.broker_addr) == (LOST, cluster.broker_addrs[LOST, 0])
    assert (*crashed.topic_names, *crashed.group_names) == ("pay", "g_pay")
    assert crashed.msgs_per_s == pytest.approx(traffic_of(before), abs=0.01)
    (answer,) = (one for one in gone.recommendations if "BROKER_LOSS" in one.rules)
    assert [line.split()[1] for line in answer.commands] == ["clusterList", "brokerStatus"]
    # Four clients for the two queues that are left: neither more queues nor fewer clients are advised meanwhile.
    assert {one.action for one in gone.recommendations} == {"INVESTIGATE"}
