"""What a change clears, and what it only makes unknown."""

from collections.abc import Mapping
from typing import Any, Final

import pytest

from rocketmq_capacity.assessment.assess import assess_topic
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.simulation.judged_again import undecided_of_topic
from rocketmq_capacity.snapshot.inventory import InventoryConsumeStatus, InventoryGroup, InventoryGroupOffset, Sample
from rocketmq_capacity.snapshot.past import with_past_samples
from tests.fixtures.losses import coverage
from tests.fixtures.units import units_of
from tests.simulation.clusters import after, broker, client, cluster, group, queues, reads, topic
from tests.simulation.outcomes import IDLE, OBSERVED, ORPHAN, ORPHANED, PAY, POLICY, SHIP, observed, own, rules, tried


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


def test_a_new_finding_makes_no_group_worse_off() -> None:
    row, found = tried(
        cluster([PAY], [group("g", [client(str(i), owned_queues=None, status=None) for i in range(4)], [PAY])]),
        {"change": "lose_broker", "broker_name": "b"},
    )

    assert rules(found.added) >= {IDLE}
    assert (row.verdict, row.why, row.moved_queues) == ("UNCHANGED", "", 0)  # 0 and 1 keep a:0 and a:1


@pytest.mark.parametrize(
    ("strategy", "change"),
    [
        ("CONSISTENT_HASH", {"change": "set_request_mode", "topic": "pay", "message_request_mode": "POP"}),
        ("AVG", {"change": "set_strategy", "strategy": "CONSISTENT_HASH"}),
    ],
    ids=lambda each: each if isinstance(each, str) else each["change"],
)
def test_whoever_pops_with_a_strategy_that_brokers_do_not_know_reads_nothing(
    strategy: str, change: Mapping[str, Any]
) -> None:
    pay = topic("pay", queues("a", 2), queues("b", 2))
    popped = reads("pay", message_request_mode="POP", pop_share_queue_num=-1)
    subscriptions = (reads("pay") if change["change"] == "set_request_mode" else popped,)
    clients = [client(name, allocate_strategy=strategy) for name in "123"]
    inventory = cluster([pay], [group("g", clients, [pay], subscriptions=subscriptions)])

    row, found = tried(inventory, {**change, "consumer_group": "g"})

    assert ORPHAN in rules(found.added)
    assert row.verdict == "WORSE"
