"""What the policy tells of a group: clients that it keeps, its standbys, when it runs, how long messages wait."""

from collections.abc import Sequence
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.capacity import fewest_clients
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.search import result
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroupOffset, Sample
from tests.assessment.cases import a_group, a_topic, ago, members, takes
from tests.assessment.judge import Judgement, judge
from tests.fixtures.units import units_of
from tests.simulation.clusters import cluster, queues

END = 100_000
"""The broker's offset at the snapshot."""


def told(**entry: Any) -> Policy:
    return Policy.model_validate({"groups": [{"match": "^g_pay$", **entry}]})


def a_queue(
    lag: int, *, read_s_ago: float | None = None, queue_id: int = 0, samples: Sequence[tuple[int, int]] = ()
) -> InventoryGroupOffset:
    """A queue of ``pay``; ``samples`` are (broker offset, consumer offset), a minute apart, the last a minute ago."""
    earlier = tuple(
        Sample(at=ago(60 * (len(samples) - n)), broker_offset=put, consumer_offset=read)
        for n, (put, read) in enumerate(samples)
    )
    return InventoryGroupOffset(
        topic="pay",
        broker_name="broker-a",
        queue_id=queue_id,
        broker_offset=END,
        consumer_offset=END - lag,
        last_timestamp=None if read_s_ago is None else ago(read_s_ago),
        samples=earlier or None,
    )


def paying(*offsets: InventoryGroupOffset, clients: int = 2, rate: float | None = 100.0, **facts: Any) -> Inventory:
    """A group ``g_pay`` on a topic of two queues that receive ``rate`` each."""
    rates = None if rate is None else {("broker-a", i): rate for i in range(2)}
    topic = a_topic("pay", queues("broker-a", 2), rates=rates)
    group = a_group("g_pay", members(clients), [topic], **facts)
    return cluster([topic], [replace(group, offsets=offsets) if offsets else group])


def late(policy: Policy, *offsets: InventoryGroupOffset, **facts: Any) -> dict[str, Any] | None:
    return judge(paying(*offsets, **facts), policy).found("LAG_STATE", "g_pay")


def test_a_group_keeps_the_clients_of_its_entry_and_at_least_those_of_all_groups() -> None:
    topic = a_topic("t", queues("broker-a", 8))
    groups = [a_group(name, members(8), [topic]) for name in ("g_one", "g_pay", "g_stock")]
    entries = {"groups": [{"match": "^g_pay", "min_clients": 6}, {"match": "^g_one", "min_clients": 1}]}
    policy = Policy.model_validate(entries)
    units = units_of(cluster(topics=[topic], groups=groups), policy)

    kept = [
        AssessedGroup(facts, units.cluster, policy, Strategies(policy)).min_clients
        for facts in sorted(units.business_groups, key=lambda facts: facts.consumer_group)
    ]

    assert kept == [2, 6, 2]


@pytest.mark.parametrize(("standby", "kept"), [(3, 4), (6, 7), (7, None)])
def test_standbys_are_not_called_unneeded(standby: int, kept: int | None) -> None:
    # All messages keep one client busy for 40 % of its time: one at work is enough.
    topic = a_topic("pay", queues("broker-a", 8), rates={("broker-a", i): 50.0 for i in range(8)})
    clients = members(8, consume_threads=10, consume_batch_size=1, status=takes("pay", 10.0))
    policy = told(standby=standby)
    units = units_of(cluster(topics=[topic], groups=[a_group("g_pay", clients, [topic])]), policy)
    (facts,) = units.business_groups

    assert result(fewest_clients(AssessedGroup(facts, units.cluster, policy, Strategies(policy)))) == kept


@pytest.mark.parametrize(("standby", "idle"), [(0, ["c03", "c04", "c05"]), (2, ["c05"]), (3, None), (4, None)])
def test_as_many_idle_clients_as_a_group_has_standbys_are_no_finding(standby: int, idle: list[str] | None) -> None:
    found = judge(paying(clients=5), told(standby=standby)).found("IDLE_CONSUMERS", "g_pay")

    assert (found and found["subjects"]) == idle
    assert found is None or found["evidence"].get("standby", 0) == standby


def test_the_message_says_that_standbys_do_not_count() -> None:
    found = judge(paying(clients=5), told(standby=2)).finding("IDLE_CONSUMERS", "g_pay")

    assert found["message"] == (
        "1 of 5 clients owns no queue, not counting 2 standbys; the group's largest topic has 2 readable queues."
    )


def test_standbys_of_one_group_say_nothing_of_another() -> None:
    policy = Policy.model_validate({"groups": [{"match": "^g_stock", "standby": 3}]})

    assert judge(paying(clients=5), policy).rules("g_pay") >= {"IDLE_CONSUMERS"}


STALLED = [(END - 1_000 * (10 - n), 10_000) for n in range(10)]
"""Samples of a queue from which nobody reads."""


def at_night(schedule: str | None, clients: int, **facts: Any) -> Judgement:
    entry = {} if schedule is None else {"schedule": schedule}
    return judge(paying(a_queue(END - 10_000, samples=STALLED), clients=clients, **facts), told(**entry))


def test_a_group_without_clients_is_silent_outside_its_schedule() -> None:
    # The snapshot is of two o'clock.
    assert at_night("0 6-22 * * *", clients=0).rules("g_pay") == set()
    assert at_night("0 6-22 * * *", clients=0).group("g_pay")["provision_reason"] == (
        "the group has no clients, as its schedule in the policy expects"
    )


@pytest.mark.parametrize(("schedule", "clients"), [(None, 0), ("0 0-5 * * *", 0), ("0 6-22 * * *", 2)])
def test_a_group_is_judged_where_its_schedule_expects_it_and_where_it_runs_all_the_same(
    schedule: str | None, clients: int
) -> None:
    assert "LAG_STATE" in at_night(schedule, clients).rules("g_pay")


def test_what_is_deleted_before_a_group_runs_again_is_told_at_night_too() -> None:
    inventory = paying(a_queue(90_000), clients=0)
    topic = inventory.topics[0]
    offsets = tuple(replace(one, min_offset=50_000) for one in topic.offsets or ())
    assert offsets
    inventory = replace(inventory, topics=(replace(topic, offsets=offsets),))

    assert judge(inventory, told(schedule="0 6-22 * * *")).rules("g_pay") == {"RETENTION_RISK"}


def test_messages_that_wait_longer_than_allowed_are_a_finding_with_the_bound_and_the_wait() -> None:
    found = late(told(max_lag_s=60), a_queue(9_000, read_s_ago=90.01), a_queue(100, read_s_ago=1, queue_id=1))

    assert found is not None
    assert found["queues"] == [{"topic": "pay", "broker_name": "broker-a", "queue_id": 0}]
    figures = {name: found["evidence"][name] for name in ("max_lag_s", "waits_s", "late_queues", "breach_in_s", "lag")}
    # The oldest unread message came 10 ms after the last one read.
    assert figures == {"max_lag_s": 60, "waits_s": 90.0, "late_queues": 1, "breach_in_s": None, "lag": 9_000}
    assert found["message"] == (
        "The oldest message has waited 90 s on 1 queue, longer than the 60 s that its owner allows."
    )


@pytest.mark.parametrize(("read_s_ago", "is_found"), [(60.01, False), (60.1, True)])
def test_the_bound_itself_is_allowed(read_s_ago: float, is_found: bool) -> None:
    assert (late(told(max_lag_s=60), a_queue(9_000, read_s_ago=read_s_ago)) is not None) is is_found


def test_a_queue_that_is_seldom_written_is_not_late_because_its_last_message_is_old() -> None:
    assert late(told(max_lag_s=60), a_queue(1, read_s_ago=900.0), rate=0.001) is None


def test_without_the_time_of_the_last_message_read_the_wait_follows_from_the_rate() -> None:
    found = late(told(max_lag_s=60), a_queue(9_000))

    assert found is not None
    assert found["evidence"]["waits_s"] == 90.0


@pytest.mark.parametrize(
    ("wait_s", "factor"),
    [
        (30.01, 2.0),  # at twice the traffic messages wait for the 60 s that are allowed
        (120.01, 0.5),
        (4.0, None),  # as long as between two commits
    ],
)
def test_the_headroom_of_a_group_ends_where_its_messages_wait_too_long(wait_s: float, factor: float | None) -> None:
    row = judge(paying(a_queue(9_000, read_s_ago=wait_s)), told(max_lag_s=60)).group("g_pay")

    assert row["headroom_factor"] == row["headroom_measured_factor"] == (factor and pytest.approx(factor))
    assert row["headroom_breaks"] == (factor and "MAX_LAG")
    untold = judge(paying(a_queue(9_000, read_s_ago=wait_s)), told(tier=1)).group("g_pay")
    assert untold["headroom_factor"] is None


def test_a_group_without_a_bound_and_a_broadcasting_one_are_never_late() -> None:
    assert late(told(tier=1), a_queue(9_000, read_s_ago=900.0)) is None
    facts: dict[str, Any] = {"message_model": "BROADCASTING"}
    assert late(told(max_lag_s=60), a_queue(9_000, read_s_ago=900.0), **facts) is None


def growing(first: int, last: int) -> list[tuple[int, int]]:
    """Two samples before the snapshot, with the first lag and one between it and the last."""
    return [(END - 2 * 6_000, END - 2 * 6_000 - first), (END - 6_000, END - 6_000 - (first + last) // 2)]


@pytest.mark.parametrize(
    ("first", "clients", "severity"),
    [(9_600, 2, "WARNING"), (9_000, 2, "CRITICAL"), (8_000, 2, "CRITICAL"), (9_600, 0, "CRITICAL")],
)
def test_a_breach_is_critical_unless_the_group_catches_up(first: int, clients: int, severity: str) -> None:
    offsets = [
        a_queue(9_000, read_s_ago=90, samples=growing(first, 9_000)),
        a_queue(0, queue_id=1, samples=growing(0, 0)),
    ]
    found = late(told(max_lag_s=60), *offsets, clients=clients)

    assert found is not None
    assert found["severity"] == severity


def test_a_breach_whose_course_is_unknown_is_a_warning() -> None:
    found = late(told(max_lag_s=60), a_queue(9_000, read_s_ago=90))

    assert found is not None
    assert found["severity"] == "WARNING"


def test_lag_that_grows_tells_when_messages_will_wait_too_long() -> None:
    # In two minutes lag grew by 1,200 messages; at 200 a second the wait grows by a twentieth of a second a second.
    offsets = [
        a_queue(2_400, read_s_ago=24.01, samples=growing(1_200, 2_400)),
        a_queue(0, queue_id=1, samples=growing(0, 0)),
    ]
    found = late(told(max_lag_s=60), *offsets)

    assert found is not None
    assert (found["severity"], found["evidence"]["breach_in_s"]) == ("WARNING", 720.0)
    assert found["message"] == (
        "Lag grows: messages wait 24 s now, and in about 0.2 hours longer than the 60 s that its owner allows."
    )


@pytest.mark.parametrize(("max_lag_s", "is_found"), [(2_183, True), (2_185, False)])
def test_a_breach_later_than_the_hours_of_the_policy_is_not_told(max_lag_s: float, is_found: bool) -> None:
    # 24 s + 12 h / 20
    offsets = [
        a_queue(2_400, read_s_ago=24.01, samples=growing(1_200, 2_400)),
        a_queue(0, queue_id=1, samples=growing(0, 0)),
    ]

    assert (late(told(max_lag_s=max_lag_s), *offsets) is not None) is is_found


def test_lag_by_its_samples_and_the_wait_are_one_finding_with_the_worse_severity() -> None:
    found = late(told(max_lag_s=60), a_queue(END - 10_000, read_s_ago=300.01, samples=STALLED))

    assert found is not None
    assert found["severity"] == "CRITICAL"
    evidence = found["evidence"]
    assert (evidence["state"], evidence["max_lag_s"], evidence["waits_s"]) == ("STALL", 60, 300.0)
    assert "STALL" in found["message"]
    assert found["message"].endswith("longer than the 60 s that its owner allows.")
