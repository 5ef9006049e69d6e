"""What is looked into for the whole cluster: a recommendation, and so a cause, for each rule and broker."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import DriftedTopic, Inventory, InventoryBroker, InventoryFailure
from tests.assessment.cases import READ_ONLY, WRITE_ONLY, a_group, a_topic, members
from tests.fixtures.plain_plan import plain_plan
from tests.recommendation.answers import answer
from tests.simulation.clusters import broker, cluster, queues

FULL = {"commitLogDiskRatio": "0.9"}


def drained_and_drifted(*slaves_of: str) -> Inventory:
    """One client owns only queues of the read-only broker-b; slaves lack a topic of their masters."""
    topic = a_topic("t", queues("broker-a", 4), queues("broker-b", 4, perm=READ_ONLY))
    brokers = [broker("broker-a"), replace(broker("broker-b"), broker_perm=READ_ONLY)]
    missing = (DriftedTopic(topic="t", master_read_queue_nums=4, master_write_queue_nums=4),)
    slaves = [
        InventoryBroker(broker_name=name, broker_id=1, broker_addr=f"{name}:10912", drifted_topics=missing)
        for name in slaves_of
    ]
    return cluster([topic], [a_group("g", members(2), [topic], lag=0)], [*brokers, *slaves])


def looks(inventory: Inventory) -> list[tuple[Sequence[str], Sequence[str] | None]]:
    """The rules and the brokers of everything that is looked into for the cluster."""
    rows = [row for row in answer(inventory).all("INVESTIGATE") if row["consumer_group"] is row["topic"] is None]
    return sorted((row["rules"], row["before"].get("broker_names")) for row in rows)


def test_unrelated_findings_of_one_broker_are_looked_into_apart() -> None:
    assert looks(drained_and_drifted("broker-b")) == [
        (["BROKER_LOSS"], ["broker-a"]),
        (["READ_ONLY_IDLE"], ["broker-b"]),
        (["SLAVE_DRIFT"], ["broker-b"]),
    ]


def test_each_broker_is_looked_into_with_its_own_commands() -> None:
    plan = plain_plan(drained_and_drifted("broker-a", "broker-b"), Policy())
    cards = [one for one in plan.recommendations if one.rules == ("SLAVE_DRIFT",)]

    assert len({one.id for one in cards}) == len(cards) == 2
    for card, other in zip(cards, reversed(cards), strict=True):
        (address,) = [line.split()[-1] for line in card.commands if "brokerStatus" in line]
        assert address in card.reason
        assert address not in " ".join([other.reason, *other.commands])


def test_brokers_for_which_the_same_is_advised_are_looked_into_together() -> None:
    """Both full brokers are told to spread topics to broker-c: said once, with the commands of both."""
    brokers: list[Any] = [replace(broker(name), runtime=FULL) for name in ("broker-a", "broker-b")]
    roomy = replace(broker("broker-c"), runtime={"commitLogDiskRatio": "0.2"})
    topic = a_topic("t", queues("broker-a", 2), queues("broker-b", 2), queues("broker-c", 2))
    inventory = cluster([topic], [a_group("g", members(2), [topic], lag=0)], [*brokers, roomy])

    assert looks(inventory) == [(["BROKER_DISK"], ["broker-a", "broker-b"])]


@pytest.mark.parametrize("ratio_of_c", ["0.2", "0.9"])
def test_messages_are_kept_for_a_shorter_time_only_where_they_are_read_within_it(ratio_of_c: str) -> None:
    """A group that is days behind would lose what it has not read."""
    brokers = [
        replace(broker("broker-a"), runtime=FULL),
        replace(broker("broker-c"), runtime={"commitLogDiskRatio": ratio_of_c}),
    ]
    topic = a_topic("t", queues("broker-a", 2), queues("broker-c", 2))
    plan = plain_plan(cluster([topic], [a_group("g", members(2), [topic], lag=0)], brokers), Policy())

    (found,) = [one for one in plan.recommendations if "BROKER_DISK" in one.rules]
    assert "(fileReservedTime), if every group reads its messages within it" in found.reason


def test_below_the_bound_closed_brokers_are_looked_into_together_with_the_snapshot() -> None:
    """broker-d did not answer: 8 of the 20 queues of each topic are missing."""
    brokers = [broker("broker-a"), broker("broker-b", perm=WRITE_ONLY), broker("broker-c", perm=WRITE_ONLY)]
    layout = [queues("broker-a", 4), *(queues(one.broker_name, 4, perm=WRITE_ONLY) for one in brokers[1:])]
    topics = [a_topic(name, *layout, queues("broker-d", 8)) for name in ("pay", "refund")]
    failures = [InventoryFailure(broker_addr="broker-d:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out")]
    groups = [a_group("g", members(2), topics)]
    incomplete = cluster(topics, groups, [*brokers, broker("broker-d")], failures)

    assert looks(incomplete) == [(["READ_LESS_THAN_WRITE", "SNAPSHOT_INCOMPLETE"], None)]
    (found,) = [row for row in answer(incomplete).all("INVESTIGATE") if "SNAPSHOT_INCOMPLETE" in row["rules"]]
    assert "no change is recommended" in found["reason"]
    assert found["reason"].count("Consumers see no queue of broker-c, which lets only producers in") == 1
    assert not found["is_manual"]
    assert {command.split()[1] for command in found["commands"]} == {"getBrokerConfig", "clusterList"}
    assert (["READ_LESS_THAN_WRITE"], ["broker-c"]) in looks(cluster(topics, groups, [*brokers, broker("broker-d")]))
