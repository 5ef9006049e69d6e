"""What a change clears, and what it only makes unknown."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

import pytest

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.assess import assess_group, assess_topic
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.ownership import Drained, read_only_idle
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.trust import snapshot_incomplete
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.producers.balance import producer_balance
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.gone import gone_with_topic_or_broker
from rocketmq_capacity.simulation.judged_again import undecided_balance, undecided_of_cluster, undecided_of_topic
from rocketmq_capacity.simulation.outcome import Sorted, outcome
from rocketmq_capacity.snapshot.inventory import (
    Client,
    Inventory,
    InventoryConsumeStatus,
    InventoryFailure,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    Sample,
)
from rocketmq_capacity.snapshot.past import with_past_samples
from rocketmq_capacity.tables import Finding, ScenarioGroup
from tests.fixtures.losses import coverage
from tests.fixtures.units import Units, units_of
from tests.simulation.clusters import after, broker, client, cluster, group, queues, reads, topic

OWN: Final = "com.acme.MyStrategy"
"""What no policy computes: who owns what is known by observation alone."""
POLICY: Final = Policy.model_validate({"rooms": {"brokers": [{"broker_name": "b", "room": "north"}]}})


def own(*queue_ids: tuple[str, int], name: str = "pay") -> tuple[InventoryOwnedQueue, ...]:
    return tuple(InventoryOwnedQueue(topic=name, broker_name=on, queue_id=queue_id) for on, queue_id in queue_ids)


def observed(client_id: str, *queue_ids: tuple[str, int], **facts: Any) -> Client:
    """A client of a strategy that nobody computes, which reports what it owns."""
    return client(client_id, **{"allocate_strategy": OWN, "owned_queues": own(*queue_ids), "status": None} | facts)


PAY: Final = topic("pay", queues("a", 2), queues("b", 2))
SHIP: Final = topic("ship", queues("c", 2))
ORPHANED: Final = cluster(
    [PAY, SHIP],
    [
        group("g", [observed("1", ("a", 0), ("a", 1)), observed("2", ("b", 0)), observed("3")], [PAY]),
        group("other", [client("9", subscriptions=(reads("ship"),))], [SHIP]),
    ],
)
"""Nobody reads b:1 and client 3 is idle, as observed."""
ORPHAN, IDLE = "ORPHAN_QUEUE", "IDLE_CONSUMERS"
OBSERVED: Final = {ORPHAN, IDLE, "ALLOCATION_SKEW", "TRAFFIC_SKEW"}
"""What the rules say of it."""


def tried(
    inventory: Inventory, *changes: Mapping[str, Any], name: str = "g", policy: Policy = POLICY
) -> tuple[ScenarioGroup, Sorted]:
    """What the changes do to a group."""
    was, now = (units_of(one, policy) for one in (inventory, after(inventory, *changes, policy=policy)))
    topics = [found for one in was.topics for found in assess_topic(AssessedTopic(one, was.cluster, policy))]
    hot = {found.topic for found in topics if found.rule == "HOT_QUEUE"}
    side, changed = (AssessedGroup(one.group(name), one.cluster, policy, Strategies(policy)) for one in (was, now))
    found, finds = (assess_group(one).findings for one in (side, changed))
    rooms = [str(change["room"]) for change in changes if change["change"] == "lose_room"]
    return outcome(side, changed, found, finds, frozenset(filter(None, hot)), rooms)


def rules(findings: Sequence[Any]) -> set[str]:
    return {finding.rule for finding in findings}


@pytest.mark.parametrize(
    "change",
    [
        {"change": "add_clients", "consumer_group": "g", "count": 1},
        {"change": "remove_clients", "consumer_group": "g", "client_ids": ["1"]},
        {"change": "set_queues", "topic": "pay", "read_queue_nums": 3, "write_queue_nums": 3},
        {"change": "add_broker", "broker_name": "new", "topics_like": "a"},
        {"change": "lose_broker", "broker_name": "a"},
        {"change": "lose_room", "room": "north"},
        {"change": "set_request_mode", "consumer_group": "g", "topic": "pay", "message_request_mode": "POP"},
    ],
    ids=lambda change: change["change"],
)
def test_what_was_only_observed_is_undecided_once_the_observed_owners_no_longer_fit(
    change: Mapping[str, Any],
) -> None:
    without_pop = POLICY.model_copy(update={"strategies": ("AVG",)})

    row, found = tried(ORPHANED, change, policy=without_pop)

    assert rules(found.undecided) == OBSERVED
    assert not found.cleared
    assert all(one.why for one in found.undecided)
    assert (row.verdict, row.findings_cleared, row.findings_undecided) == ("UNDECIDED", 0, 4)
    assert row.moved_queues is None


@pytest.mark.parametrize(
    "change",
    [
        {"change": "add_clients", "consumer_group": "other", "count": 1},
        {"change": "set_queues", "topic": "ship", "read_queue_nums": 3, "write_queue_nums": 3},
        {"change": "lose_broker", "broker_name": "c"},
        {"change": "read_only_broker", "broker_name": "b"},
        {"change": "scale_traffic", "topic": "pay", "factor": 3.0},
        {"change": "set_strategy", "consumer_group": "other", "strategy": "AVG_BY_CIRCLE"},
    ],
    ids=lambda change: f"{change['change']} {change.get('broker_name') or change.get('consumer_group') or ''}",
)
def test_observed_ownership_that_still_holds_is_kept(change: Mapping[str, Any]) -> None:
    row, found = tried(ORPHANED, change)

    assert rules([now for _, now in found.still]) == OBSERVED
    assert (found.cleared, found.undecided, row.moved_queues) == ([], [], 0)


def test_a_lost_queue_of_a_retry_topic_leaves_the_owners_of_the_business_queues_as_they_are() -> None:
    retry = topic("%RETRY%g", queues("b", 1), queues("c", 1))
    read = (reads("pay"), reads("%RETRY%g"))
    members = [
        observed("1", ("a", 0), ("a", 1), subscriptions=read),
        observed("2", subscriptions=read, owned_queues=own(("a", 2)) + own(("c", 0), name="%RETRY%g")),
    ]
    pay = topic("pay", queues("a", 4))

    row, found = tried(
        cluster([pay, retry], [group("g", members, [pay, retry])]), {"change": "lose_broker", "broker_name": "c"}
    )

    assert ORPHAN in rules([now for _, now in found.still])
    assert (row.moved_queues, found.undecided) == (0, [])


def test_a_strategy_that_is_computed_gives_every_queue_an_owner_again() -> None:
    row, found = tried(ORPHANED, {"change": "set_strategy", "consumer_group": "g", "strategy": "AVG"})

    assert rules(found.cleared) == OBSERVED
    assert (row.verdict, found.undecided) == ("BETTER", [])
    # AVG gives a:0 and a:1 to 1, b:0 to 2 and b:1 to 3.
    assert row.moved_queues == 1


def test_a_group_without_clients_is_not_well() -> None:
    twins = cluster([PAY], [group("g", [client("1", owned_queues=None), client("1", owned_queues=None)], [PAY])])

    row, found = tried(twins, {"change": "remove_clients", "consumer_group": "g", "count": 2})

    assert rules(found.undecided) == {"DUPLICATE_CLIENT_ID", ORPHAN}
    assert row.verdict != "BETTER"


def test_a_twin_that_leaves_clears_what_it_caused() -> None:
    twins = cluster([PAY], [group("g", [client("1", owned_queues=None), client("1", owned_queues=None)], [PAY])])

    row, found = tried(twins, {"change": "remove_clients", "consumer_group": "g", "client_ids": ["1"]})

    assert rules(found.cleared) == {"DUPLICATE_CLIENT_ID", ORPHAN}
    assert (row.verdict, found.undecided) == ("BETTER", [])


def test_a_finding_with_other_subjects_is_still_there() -> None:
    clients = [client(str(i), owned_queues=None, status=None) for i in range(6)]
    idle = cluster([PAY], [group("g", clients, [PAY])])

    row, found = tried(idle, {"change": "add_clients", "consumer_group": "g", "count": 2})

    assert rules([now for _, now in found.still]) == {IDLE}
    assert not found.added
    assert not found.cleared
    assert (row.verdict, row.reasons) == ("UNCHANGED", ())  # idle clients cost, and nobody is worse off for them


def test_a_group_is_still_idle_where_the_finding_names_another_topic() -> None:
    small = topic("ship", queues("c", 3))
    clients = [client(str(i), owned_queues=None, status=None, subscriptions=None) for i in range(6)]
    inventory = cluster([PAY, small], [group("g", clients, [PAY, small])])

    _, found = tried(inventory, {"change": "set_queues", "topic": "pay", "read_queue_nums": 1, "write_queue_nums": 1})

    ((was, now),) = found.still
    assert (was.rule, was.topic, now.topic) == (IDLE, "pay", "ship")
    assert not found.cleared


STALLED: Final = tuple(
    Sample(at=f"2026-11-20T01:{minute}:00Z", broker_offset=4000 + minute, consumer_offset=100)
    for minute in range(50, 59)
)


def behind(on: str, queue_id: int) -> InventoryGroupOffset:
    return InventoryGroupOffset(
        topic="pay", broker_name=on, queue_id=queue_id, broker_offset=5000, consumer_offset=100, samples=STALLED
    )


LAGGING: Final = cluster(
    [PAY, SHIP],
    [
        group("g", [client("1", owned_queues=None, status=None)], [PAY], offsets=(behind("b", 0), behind("b", 1))),
        group("other", [client("9", subscriptions=(reads("ship"),))], [SHIP]),
    ],
)


@pytest.mark.parametrize(
    ("change", "is_still"),
    [
        ({"change": "lose_broker", "broker_name": "b"}, False),
        ({"change": "lose_broker", "broker_name": "c"}, True),
        ({"change": "scale_traffic", "factor": 0.0}, False),
        ({"change": "scale_traffic", "topic": "ship", "factor": 0.5}, True),
        ({"change": "add_clients", "consumer_group": "g", "count": 1}, False),
        ({"change": "add_clients", "consumer_group": "other", "count": 1}, True),
    ],
    ids=str,
)
def test_lag_that_went_with_its_queues_or_its_samples_is_undecided(
    change: Mapping[str, Any], *, is_still: bool
) -> None:
    _, found = tried(LAGGING, change)

    assert ("LAG_STATE" in rules([now for _, now in found.still])) == is_still
    assert ("LAG_STATE" in rules(found.undecided)) != is_still
    assert not found.cleared


def test_samples_of_the_history_stay_those_of_the_queues_that_do_not_change() -> None:
    bare = cluster(
        [PAY, SHIP],
        [
            InventoryGroup(
                consumer_group="g",
                subscriptions=(reads("pay"),),
                offsets=(
                    InventoryGroupOffset(
                        topic="pay", broker_name="b", queue_id=0, broker_offset=5000, consumer_offset=100
                    ),
                ),
            )
        ],
    )

    whole = with_past_samples(bare, [LAGGING])

    (offset,) = whole.consumer_groups[0].offsets or ()
    assert offset.samples == (*STALLED, Sample(at=LAGGING.taken_at, broker_offset=5000, consumer_offset=100))
    assert with_past_samples(bare, []) is bare
    lost = after(whole, {"change": "scale_traffic", "topic": "pay", "factor": 2.0})
    assert [one.samples for one in lost.consumer_groups[0].offsets or ()] == [None]


def test_failures_that_nobody_counts_any_more_are_undecided() -> None:
    failing = (
        InventoryConsumeStatus(
            topic="pay", consume_rt_ms=1.0, consume_ok_msgs_per_s=10.0, consume_failed_msgs_per_s=10.0
        ),
    )
    inventory = cluster([PAY], [group("g", [client(i, owned_queues=None, status=failing) for i in ("1", "2")], [PAY])])

    _, found = tried(inventory, {"change": "remove_clients", "consumer_group": "g", "count": 1})

    assert "RETRY_PRESSURE" in rules(found.undecided)


HOT: Final = topic(
    "pay", queues("a", 2), queues("b", 2), rates={("a", 0): 90.0, ("a", 1): 1.0, ("b", 0): 1.0, ("b", 1): 1.0}
)


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

    (found,) = read_only_idle([Drained("g", ["2"], ["dead"])], facts(6, 4))

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


def test_a_group_that_was_too_busy_is_clear_with_enough_more_clients() -> None:
    slow = (InventoryConsumeStatus(topic="pay", consume_rt_ms=1000.0),)
    members = [client(i, owned_queues=None, status=slow) for i in ("1", "2")]
    inventory = cluster([PAY], [group("g", members, [PAY])])

    row, found = tried(inventory, {"change": "add_clients", "consumer_group": "g", "client_ids": ["3", "4"]})

    assert rules(found.cleared) == {"CONSUMER_CAPACITY"}
    assert (row.verdict, row.before_utilisation, row.after_utilisation) == ("BETTER", 1.0, 0.5)
    assert (row.before_lag, row.after_lag) == (40, 40)


def test_queues_that_consumers_cannot_see_are_not_well_because_their_broker_is_lost() -> None:
    hidden = topic("pay", queues("a", 2), queues("b", 1, 2))
    inventory = cluster([hidden], [], (broker("a"), broker("b"), broker("c", perm=6)))
    sides = [
        units_of(one, POLICY) for one in (inventory, after(inventory, {"change": "lose_broker", "broker_name": "b"}))
    ]
    was, now = (AssessedTopic(side.topic("pay"), side.cluster, POLICY) for side in sides)
    found = {one.rule: one for one in (*assess_topic(was), *coverage(sides[1], POLICY))}

    assert undecided_of_topic(found["READ_LESS_THAN_WRITE"], was, now)
    assert undecided_of_topic(found["TOPIC_COVERAGE"], was, now) is None
    assert undecided_of_topic(found["TOPIC_COVERAGE"], was, None)


def test_a_snapshot_is_not_made_whole_by_losing_the_broker_that_did_not_answer() -> None:
    failures = [InventoryFailure(broker_addr="b:10911", request="GET_ALL_TOPIC_CONFIG", error="timed out")]
    inventory = cluster([PAY], [], [broker("a"), broker("b")], failures)
    was, now = (
        units_of(one, POLICY).cluster
        for one in (inventory, after(inventory, {"change": "lose_broker", "broker_name": "b"}))
    )
    (found,) = snapshot_incomplete(was, (), POLICY)

    assert undecided_of_cluster(found, was, now, POLICY)


def test_a_new_finding_makes_no_group_worse_off() -> None:
    row, found = tried(
        cluster([PAY], [group("g", [client(str(i), owned_queues=None, status=None) for i in range(4)], [PAY])]),
        {"change": "lose_broker", "broker_name": "b"},
    )

    assert rules(found.added) >= {IDLE}
    assert (row.verdict, row.why, row.moved_queues) == ("UNCHANGED", "", 0)  # 0 and 1 keep a:0 and a:1
