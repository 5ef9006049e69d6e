"""What a change does not mend, though its finding is gone."""

from collections.abc import Mapping
from typing import Any

import pytest

from rocketmq_capacity.assessment.assess import assess_topic
from rocketmq_capacity.assessment.ownership import Drained, read_only_idle
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.trust import snapshot_incomplete
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.producers.balance import producer_balance
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.gone import gone_with_topic_or_broker
from rocketmq_capacity.simulation.judged_again import undecided_balance, undecided_of_cluster, undecided_of_topic
from rocketmq_capacity.simulation.outcome import Sorted
from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus, InventoryFailure, InventoryGroupOffset
from rocketmq_capacity.tables import Finding
from tests.fixtures.units import Units, units_of
from tests.simulation.clusters import after, broker, client, cluster, group, queues, reads, topic
from tests.simulation.outcomes import HOT, IDLE, OBSERVED, ORPHAN, ORPHANED, PAY, POLICY, rules, tried


def hot_after(*changes: Mapping[str, Any]) -> str | None:
    """Why HOT_QUEUE of the hot topic can no longer be judged."""
    inventory = cluster([HOT], [])
    sides: list[Units] = [units_of(one, POLICY) for one in (inventory, after(inventory, *changes))]
    was, now = (AssessedTopic(side.topic("pay"), side.cluster, POLICY) for side in sides)
    (found,) = (one for one in assess_topic(was) if one.rule == "HOT_QUEUE")
    return undecided_of_topic(found, was, now)


def gone_with(found: Sorted) -> dict[str, str | None]:
    return {one.rule: one.gone_with for one in found.undecided}


def test_what_is_gone_with_its_broker_topic_or_last_client_is_not_mended() -> None:
    _, found = tried(ORPHANED, {"change": "lose_broker", "broker_name": "b"})
    assert gone_with(found)[ORPHAN] == "broker b"
    assert {name for name, lost in gone_with(found).items() if lost is None} == OBSERVED - {ORPHAN}

    lost_both = [{"change": "lose_broker", "broker_name": name} for name in ("a", "b")]
    _, found = tried(ORPHANED, *lost_both)
    assert {rule: lost for rule, lost in gone_with(found).items() if rule != IDLE} == dict.fromkeys(
        OBSERVED - {IDLE}, "topic pay"
    )

    _, found = tried(ORPHANED, {"change": "remove_clients", "consumer_group": "g", "count": 3})
    assert set(gone_with(found).values()) == {"the last client of the group"}


def test_a_client_only_on_a_dead_broker_is_not_mended_by_the_loss_of_that_broker() -> None:
    def facts(*perms: int) -> ClusterFacts:
        brokers = [broker(name, perm=perm) for name, perm in zip(("a", "dead"), perms, strict=False)]
        return units_of(cluster([PAY], [], brokers), Policy()).cluster

    (found,) = read_only_idle([Drained("g", ["2"], ["dead"], ["pay"])], facts(6, 4))

    assert undecided_of_cluster(found, facts(6, 4), facts(6), Policy()) == "the changed cluster no longer has dead"
    assert undecided_of_cluster(found, facts(6, 4), facts(6, 4), Policy()) is not None
    assert undecided_of_cluster(found, facts(6, 4), facts(6, 6), Policy()) is None


def test_twins_of_a_lost_room_are_gone_with_it_and_mended_where_one_of_them_leaves() -> None:
    north = Policy.model_validate({"rooms": {"clients": [{"pattern": "^(?P<room>[a-z]+)-"}]}})
    clients = [client(name, owned_queues=None) for name in ("north-1", "north-1", "south-1")]
    inventory = cluster([PAY], [group("g", clients, [PAY])])

    _, lost = tried(inventory, {"change": "lose_room", "room": "north"}, policy=north)
    _, mended = tried(
        inventory, {"change": "remove_clients", "consumer_group": "g", "client_ids": ["north-1"]}, policy=north
    )

    assert gone_with(lost)["DUPLICATE_CLIENT_ID"] == "room north"
    assert "DUPLICATE_CLIENT_ID" in rules(mended.cleared)


def test_what_is_gone_with_a_subscription_is_not_gone_with_its_topic() -> None:
    both = [topic(name, queues("a", 4)) for name in ("pay", "ship")]
    twins = [client(name, owned_queues=None, subscriptions=None) for name in ("1", "1", "2")]

    _, found = tried(
        cluster(both, [group("g", twins, both)]), {"change": "unsubscribe", "consumer_group": "g", "topic": "pay"}
    )

    assert gone_with(found)[ORPHAN] == "the subscription to pay"


def test_idle_clients_are_mended_where_only_standbys_are_left() -> None:
    told = Policy.model_validate({"groups": [{"match": "^g$", "standby": 1}]})
    clients = [client(name, owned_queues=None) for name in "123456"]
    inventory = cluster([topic("pay", queues("a", 4))], [group("g", clients, [PAY])])

    _, found = tried(inventory, {"change": "remove_clients", "consumer_group": "g", "count": 1}, policy=told)

    assert IDLE in rules(found.cleared)


def test_the_last_client_of_several_is_no_even_division() -> None:
    read = [topic(name, queues("a", 1)) for name in ("pay", "ship", "tell")]
    clients = [
        client(name, subscriptions=tuple(map(reads, ("pay", "ship", "tell"))), owned_queues=None, status=None)
        for name in ("1", "2", "3")
    ]
    inventory = cluster(read, [group("g", clients, read)])

    # AVG gives the single queue of each topic to client 1.
    _, found = tried(inventory, {"change": "remove_clients", "consumer_group": "g", "count": 2})

    why = {one.rule: one.why for one in found.undecided if one.rule.endswith("_SKEW")}
    assert why == dict.fromkeys(
        ("CROSS_TOPIC_SKEW", "TRAFFIC_SKEW"), "one client is left, which has no other to be compared with"
    )


def test_a_finding_without_a_group_is_gone_with_its_topic_or_broker() -> None:
    usual: dict[str, Any] = {
        "rule": "READ_LESS_THAN_WRITE",
        "severity": "CRITICAL",
        "evidence": "{}",
        "message": "Hidden.",
    }
    on_topic = Finding(**usual, topic="pay", broker_name="b")
    (now,) = units_of(cluster([topic("pay", queues("a", 2))], []), POLICY).topics
    still = AssessedTopic(now, units_of(cluster([PAY], []), POLICY).cluster, POLICY)

    assert gone_with_topic_or_broker(on_topic, None, ["b"]) == "topic pay"
    assert gone_with_topic_or_broker(on_topic, still, ["b"]) == "broker b"
    assert gone_with_topic_or_broker(on_topic, still, []) is None
    assert gone_with_topic_or_broker(Finding(**usual, subjects=("b",)), None, ["a", "b"]) == "broker b"


def test_the_loss_of_a_broker_is_not_mended_where_the_last_one_is_left() -> None:
    inventory = cluster([PAY], [])
    was, now = (
        units_of(one, POLICY).cluster
        for one in (inventory, after(inventory, {"change": "lose_broker", "broker_name": "b"}))
    )
    found = Finding(rule="BROKER_LOSS", severity="INFO", broker_name="a", evidence="{}", message="Lost.")

    assert undecided_of_cluster(found, was, now, POLICY) == (
        "the changed cluster has 1 broker, too few to judge the loss of one"
    )
    assert undecided_of_cluster(found, was, was, POLICY) is None


def test_a_hot_queue_is_not_cooled_by_spreading_its_messages_in_a_simulation() -> None:
    assert hot_after({"change": "set_queues", "topic": "pay", "read_queue_nums": 8, "write_queue_nums": 8})
    assert hot_after({"change": "lose_broker", "broker_name": "a"})
    assert hot_after({"change": "scale_traffic", "factor": 0.0})
    assert hot_after({"change": "scale_traffic", "factor": 2.0}) is None


@pytest.mark.parametrize("waiting", [1, 10_000])
@pytest.mark.parametrize("factor", [0.0, 1e-9, 1e-3])
def test_uneven_traffic_is_not_evened_by_taking_it_away(waiting: int, factor: float) -> None:
    """Where many messages wait, the shares of what is still written are judged as before."""
    rates = {("a", 0): 90.0, ("a", 1): 90.0, ("b", 0): 1.0, ("b", 1): 1.0}
    pay = topic("pay", queues("a", 2), queues("b", 2), rates=rates)
    lags = tuple(
        InventoryGroupOffset(
            topic="pay", broker_name=on, queue_id=i, broker_offset=50_000, consumer_offset=50_000 - waiting
        )
        for on, i in rates
    )
    members = [client(i, owned_queues=None, status=None) for i in ("1", "2")]
    inventory = cluster([pay], [group("g", members, [pay], offsets=lags)])

    _, found = tried(inventory, {"change": "scale_traffic", "factor": factor})

    is_judged = waiting > 1 and factor > 0
    assert "TRAFFIC_SKEW" in rules([now for _, now in found.still] if is_judged else found.undecided)
    assert not found.cleared


def test_topics_that_producers_write_to_unevenly_are_never_evened_by_a_change() -> None:
    def why(*changes: Mapping[str, Any]) -> str:
        inventory = cluster([HOT], [])
        was, now = (units_of(one, POLICY) for one in (inventory, after(inventory, *changes)))
        assert producer_balance(was.topic("pay").facts, (), POLICY) is not None
        changed = AssessedTopic(now.topic("pay"), now.cluster, POLICY)
        assert producer_balance(changed.unit.facts, (), POLICY) is None
        return undecided_balance(was.topic("pay").facts, changed.unit.facts)

    assert why({"change": "scale_traffic", "factor": 0.01}).startswith("too few messages")
    assert why({"change": "set_queues", "topic": "pay", "read_queue_nums": 3, "write_queue_nums": 3}) == (
        "how producers would spread their messages over other queues is not known"
    )
    as_it_is = units_of(cluster([HOT], []), POLICY).topic("pay").facts
    assert undecided_balance(as_it_is, None) == "no broker has pay after the change"


def test_a_group_of_a_hot_topic_is_not_relieved_by_that_either() -> None:
    slow = (InventoryConsumeStatus(topic="pay", consume_rt_ms=1000.0),)
    members = [client(i, owned_queues=None, status=slow, consume_threads=100) for i in ("1", "2")]
    inventory = cluster([HOT], [group("g", members, [HOT])])

    _, found = tried(inventory, {"change": "set_queues", "topic": "pay", "read_queue_nums": 4, "write_queue_nums": 4})

    assert rules(found.undecided) == {"CONSUMER_CAPACITY"}
    assert not found.cleared


def test_a_snapshot_is_not_made_whole_by_losing_the_broker_that_did_not_answer() -> None:
    failures = [InventoryFailure(broker_addr="b:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out")]
    inventory = cluster([PAY], [], [broker("a"), broker("b")], failures)
    was, now = (
        units_of(one, POLICY).cluster
        for one in (inventory, after(inventory, {"change": "lose_broker", "broker_name": "b"}))
    )
    (found,) = snapshot_incomplete(was, (), POLICY)

    assert undecided_of_cluster(found, was, now, POLICY)
