"""What failures would do, compared with a plan of the cluster that has failed: the what-ifs are the oracle."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import msgspec
import pytest
import yaml
from msgspec.structs import replace

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.assessment.topic_failures import topic_failures
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.outcome import outcome
from rocketmq_capacity.simulation.traffic import without_samples
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryConsumeStatus, InventoryGroupOffset
from rocketmq_capacity.tables import GroupFailure
from rocketmq_capacity.vocabulary import UNDECIDED
from tests.assessment.cases import a_group, a_topic, member, members, pops, takes
from tests.fixtures.generated import generated, policy_for_generated
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import after, cluster, queues
from tests.simulation.sides import Effects, effects

SEEDS = (1,)
CLIENTS = ("ONE_FEWER", "ONE_MORE", "BUSIEST_CLIENT")
POLICY = Policy.model_validate(yaml.safe_load(policy_for_generated()))


@cache
def fleet(seed: int) -> Inventory:
    """Without samples: a what-if drops those of topics that change, and the highest rate between samples is a peak."""
    inventory = msgspec.convert(generated(30, seed), Inventory)
    names = {topic.topic for topic in inventory.topics}
    groups = (without_samples(group, names) for group in inventory.consumer_groups)
    return replace(inventory, consumer_groups=tuple(groups))


@cache
def plan_of(seed: int) -> PlainPlan:
    return plain_plan(fleet(seed), POLICY)


def failures(seed: int, *kinds: str) -> Iterator[tuple[AssessedGroup, GroupFailure]]:
    for group, judged in zip(plan_of(seed).groups, plan_of(seed).assessments, strict=True):
        for one in judged.failures:
            if one.failure in kinds:
                yield group, one


def what_if(seed: int, change: Mapping[str, Any]) -> tuple[Effects, dict[str, AssessedGroup]]:
    """What a scenario of this change says of queues that move, and the groups as it leaves them."""
    changed = after(fleet(seed), change, policy=POLICY)
    return effects(fleet(seed), changed, POLICY), {group.name: group for group in plain_plan(changed, POLICY).groups}


def agrees(one: GroupFailure, told: Effects) -> int:
    """Compares the queues that move with those of the what-if; gives the number of strategies that say something."""
    moved = {
        strategy: row.moved_queues
        for (name, strategy), row in told.items()
        if name == one.consumer_group and row.moved_queues is not None
    }
    said = {strategy: int(number) for strategy, number in one.moved.items()}
    assert {strategy: said.get(strategy) for strategy in moved} == moved, one
    return len(moved)


def is_as_busy(one: GroupFailure, group: AssessedGroup, changed: AssessedGroup) -> bool:
    """Compares clients, and how busy the busiest is, with both plans; False where the latter is not comparable."""
    assert (one.clients_today, one.clients_left) == (len(group.client_ids), len(changed.client_ids)), one
    if one.busy_ratio is None or changed.current is None or group.current is None:
        return False
    if one.failure != "BROKER" and one.busy_lower != one.busy_upper:
        return False  # what is not known of clients goes by those that are there, and some have left
    same = group.policy.computed(changed.current.strategy) == group.policy.computed(group.current.strategy)
    found = None if changed.work is None or not same else changed.work.busiest()
    if found is None:
        return False
    assert (one.busy_lower, one.busy_ratio, one.busy_upper) == pytest.approx(tuple(found[0])), one
    today = None if group.apart.work is None else group.apart.work.busiest()
    assert one.busy_today == (None if today is None else pytest.approx(today[0].estimate)), one
    return True


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    ("failure", "change", "named", "least_compared", "least_busy"),
    [("BROKER", "lose_broker", "broker_name", 200, 11), ("ROOM", "lose_room", "room", 50, 0)],
)
def test_the_loss_of_each_broker_and_of_each_room_is_what_a_plan_without_it_says(
    seed: int, failure: str, change: str, named: str, least_compared: int, least_busy: int
) -> None:
    compared = busy = 0
    for lost in sorted(filter(None, {one.lost for _, one in failures(seed, failure)})):
        told, groups = what_if(seed, {"change": change, named: lost})
        for group, one in failures(seed, failure):
            if one.lost == lost:
                compared += agrees(one, told)
                busy += is_as_busy(one, group, groups[group.name])
    assert compared > least_compared
    assert busy >= least_busy


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_one_client_fewer_and_one_more_are_what_a_plan_with_them_says(seed: int) -> None:
    compared = busy = 0
    for group, one in failures(seed, "ONE_FEWER", "ONE_MORE"):
        last = group.division.members.consumers[-1]
        change: dict[str, Any] = {"change": "remove_clients", "consumer_group": group.name, "count": 1}
        if one.failure == "ONE_MORE":
            change = {"change": "add_clients", "consumer_group": group.name, "client_ids": [f"{last.client_id}~"]}
            if last.only_topics is not None or last.room is not None or last.is_grpc:
                continue  # a what-if's newcomer is like most clients, and this one is like the last
        told, groups = what_if(seed, change)
        compared += agrees(one, told)
        busy += one.failure == "ONE_FEWER" and is_as_busy(one, group, groups[group.name])
    assert compared > 50
    assert busy > 3


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_the_loss_of_a_busiest_client_is_what_a_plan_without_it_says(seed: int) -> None:
    compared = 0
    for group, one in failures(seed, "BUSIEST_CLIENT"):
        ids = [each.client_id for each in group.division.members.consumers if each.client_id == one.lost]
        told, _ = what_if(seed, {"change": "remove_clients", "consumer_group": group.name, "client_ids": ids})
        compared += agrees(one, told)
    assert compared > 40


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("failure", ["BROKER", "ROOM"])
def test_a_failure_has_the_verdict_that_the_same_what_if_has_and_makes_nobody_better_off(
    seed: int, failure: str
) -> None:
    before = {group.name: group for group in plan_of(seed).groups}
    found: Counter[str] = Counter()
    for lost in sorted({one.lost or "" for _, one in failures(seed, failure)}):
        is_room = failure == "ROOM"
        change = {"change": "lose_room", "room": lost} if is_room else {"change": "lose_broker", "broker_name": lost}
        now = {group.name: group for group in plain_plan(after(fleet(seed), change, policy=POLICY), POLICY).groups}
        rows = {one.consumer_group: one for _, one in failures(seed, failure) if one.lost == lost}
        for name, group in now.items():
            told, _ = outcome(before[name], group, (), (), frozenset(), [lost] if is_room else ())
            assert told.verdict != "BETTER"
            one = rows.get(name)
            if one is not None and UNDECIDED not in (one.verdict, told.verdict):
                found[told.verdict] += 1
                assert (one.verdict, one.reasons) == (told.verdict, told.reasons), (one, told)
                assert told.unread_queues in (None, one.unread_queues)
                assert told.waiting_messages in (None, one.waiting_messages)
    assert min(found["WORSE"], found["UNCHANGED"]) > 15


def small(
    count: int = 2, *, rates: Any = None, policy: Policy | None = None, layout: Any = None, **facts: Any
) -> PlainPlan:
    """Group g_pay on ``pay``, by default four queues each on broker-a and broker-b with 10 messages a second each."""
    layout = layout or (queues("broker-a"), queues("broker-b"))
    pay = a_topic("pay", *layout, rates=rates, order=False, message_type="NORMAL")
    clients = facts.pop("clients", None) or members(
        count, allocate_strategy="AVG", consume_threads=1, consume_batch_size=1, status=takes("pay", 10.0)
    )
    return plain_plan(cluster([pay], [a_group("g_pay", clients, [pay], **facts)]), policy or Policy())


def rows(plan: PlainPlan, failure: str) -> list[GroupFailure]:
    return [one for judged in plan.assessments for one in judged.failures if one.failure == failure]


def losses(plan: PlainPlan) -> list[tuple[str | None, str, dict[str, Any]]]:
    return [
        (one.broker_name, one.severity, json.loads(one.evidence)) for one in plan.findings if one.rule == "BROKER_LOSS"
    ]


def test_what_the_lost_broker_got_goes_to_the_others() -> None:
    """40 of 80 messages a second at 10 ms each are 0.4 of a client's time; AVG gives each client one broker."""
    plan = small()
    assert plan.assessments[0].status.utilisation == pytest.approx(0.4)
    for one in rows(plan, "BROKER"):
        assert one.busy_ratio == pytest.approx(0.4)
        assert (one.lost_queues, one.becomes_under) == (4, False)
        assert one.moved == {"AVG": 2, "AVG_BY_CIRCLE": 0, "CONSISTENT_HASH": 0, "POP": 0}
    (fewer,) = rows(plan, "ONE_FEWER")
    assert fewer.busy_ratio == pytest.approx(0.8)
    assert (fewer.lost, fewer.becomes_under) == ("c02", True)
    assert fewer.moved["AVG"] == 4
    (busiest,) = rows(plan, "BUSIEST_CLIENT")
    assert busiest.busy_ratio == pytest.approx(0.8)
    assert (busiest.lost, busiest.moved_today) == ("c01", 4)
    assert busiest.moved == {"AVG": 4, "AVG_BY_CIRCLE": 4, "CONSISTENT_HASH": 3, "POP": 8}
    (more,) = rows(plan, "ONE_MORE")
    assert more.busy_ratio == pytest.approx(0.3)
    assert (more.lost, more.moved["AVG"]) == (None, 3)


def verdicts(plan: PlainPlan, failure: str) -> list[tuple[str | None, str | None, tuple[str, ...]]]:
    return [(one.lost, one.verdict, one.reasons) for one in rows(plan, failure)]


def test_a_failure_has_the_verdict_of_a_what_if() -> None:
    """Two clients that are 40 % busy share two brokers. One of them is 80 % busy alone, and 30 % with two others."""
    plan = small()
    assert verdicts(plan, "BROKER") == [("broker-a", "UNCHANGED", ()), ("broker-b", "UNCHANGED", ())]
    assert verdicts(plan, "ONE_FEWER") == [("c02", "WORSE", ("CAPACITY",))]
    assert verdicts(plan, "BUSIEST_CLIENT") == [("c01", "WORSE", ("CAPACITY",))]
    assert verdicts(plan, "ONE_MORE") == [(None, "UNCHANGED", ())]


def test_a_failure_that_takes_a_topic_makes_its_groups_worse_off_although_nobody_is_busy() -> None:
    plan = small(layout=(queues("broker-a"), queues("broker-b", perm=4)))
    assert verdicts(plan, "BROKER") == [("broker-a", "WORSE", ("REACHABILITY",)), ("broker-b", "UNCHANGED", ())]
    told = {one.lost: (one.unreadable_topics, one.unwritable_topics) for one in rows(plan, "BROKER")}
    assert told == {"broker-a": (0, 1), "broker-b": (0, 0)}
    assert verdicts(small(layout=(queues("broker-a"),)), "BROKER") == [("broker-a", "WORSE", ("REACHABILITY",))]


def test_messages_that_wait_on_a_lost_broker_are_counted() -> None:
    offsets = tuple(
        InventoryGroupOffset(topic="pay", broker_name=on, queue_id=i, broker_offset=5000, consumer_offset=behind)
        for on, behind in (("broker-a", 4990), ("broker-b", 4700))
        for i in range(4)
    )
    plan = small(offsets=offsets)
    assert [one.waiting_messages for one in rows(plan, "BROKER")] == [40, 1200]
    assert verdicts(plan, "BROKER")[1] == ("broker-b", "WORSE", ("LOSS",))
    assert {one.waiting_messages for one in rows(plan, "BUSIEST_CLIENT")} == {0}
    unknown = tuple(replace(one, consumer_offset=None) if one.broker_name == "broker-b" else one for one in offsets)
    assert [one.waiting_messages for one in rows(small(offsets=unknown), "BROKER")] == [40, None]


def test_queues_that_a_list_gives_to_the_lost_client_are_unread() -> None:
    """CONFIG gives a client its list, whoever else is there."""
    brokers = ("broker-a", "broker-b")
    own = [[{"topic": "pay", "broker_name": name, "queue_id": i} for i in range(4)] for name in brokers]
    policy = Policy.model_validate({"config_assignments": {"g_pay": {"c01": own[0], "c02": own[1]}}})
    clients = members(2, allocate_strategy="CONFIG", consume_threads=1, consume_batch_size=1, status=takes("pay", 1.0))
    plan = small(policy=policy, clients=clients)
    assert [(one.verdict, one.unread_queues) for one in rows(plan, "BUSIEST_CLIENT")] == [("WORSE", 4)]
    assert [(one.verdict, one.unread_queues) for one in rows(plan, "ONE_FEWER")] == [("WORSE", 4)]
    assert [(one.verdict, one.unread_queues) for one in rows(plan, "BROKER")] == [("UNCHANGED", 0)] * 2


def test_a_lost_room_that_has_all_clients_makes_the_group_worse_off() -> None:
    rooms = Policy.model_validate({
        "rooms": {"brokers": [{"broker_name": "broker-a", "room": "hz"}], "clients": [{"pattern": "(?P<room>hz)"}]}
    })
    clients = [
        replace(one, client_id=f"hz-{one.client_id}")
        for one in members(2, allocate_strategy="AVG", consume_threads=1, status=takes("pay", 10.0))
    ]
    plan = small(policy=rooms, clients=clients)
    assert verdicts(plan, "ROOM") == [("hz", "WORSE", ("REACHABILITY",))]


def test_a_group_whose_owners_are_unknown_is_undecided() -> None:
    assert {verdict for _, verdict, _ in verdicts(small(subscriptions=(pops("pay"),)), "BROKER")} == {"UNDECIDED"}


def test_a_broker_whose_loss_makes_a_group_too_weak_is_a_warning() -> None:
    """broker-a has 7 of 8 queues: without it two clients of three have nothing, and one does everything."""
    plan = small(3, layout=(queues("broker-a", 7), queues("broker-b", 1)))
    ((name, severity, evidence),) = losses(plan)
    assert (name, severity, evidence["groups_under"]) == ("broker-a", "WARNING", ["g_pay"])
    assert (evidence["queues"], evidence["groups"], evidence["traffic_share"]) == (7, 1, 0.875)
    assert (evidence["unwritable_topics"], evidence["unreadable_topics"]) == ([], [])
    assert any("BROKER_LOSS" in one.rules for one in plan.recommendations)


def test_a_topic_on_one_broker_alone_is_lost_with_it() -> None:
    pay = a_topic("pay", queues("broker-a"))
    ship = a_topic("ship", queues("broker-a"), queues("broker-b"))
    ((name, severity, evidence),) = losses(plain_plan(cluster([pay, ship])))
    assert (name, severity) == ("broker-a", "INFO")
    assert (evidence["unwritable_topics"], evidence["unreadable_topics"]) == (["pay"], ["pay"])
    assert evidence["msgs_per_s"] == 80.0
    assert evidence["traffic_share"] == pytest.approx(2 / 3, abs=1e-4)


def test_queues_that_are_left_but_cannot_be_written_save_no_producer() -> None:
    pay = a_topic("pay", queues("broker-a"), queues("broker-b", perm=4))
    ((name, _, evidence),) = losses(plain_plan(cluster([pay])))
    assert (name, evidence["unwritable_topics"], evidence["unreadable_topics"]) == ("broker-a", ["pay"], [])


def test_brokers_that_can_be_spared_are_no_finding() -> None:
    assert losses(small()) == []


def test_what_is_left_of_a_topic_is_on_the_other_brokers() -> None:
    """The perm on broker-c is unknown: no queue there counts as readable, and only without it is the sum known."""
    layout = queues("broker-a", 4), queues("broker-b", 2, perm=4), queues("broker-c", 3, perm=None), queues("broker-d")
    units = plain_plan(cluster([a_topic("pay", *layout)])).units
    told = {
        one.lost: (one.readable_queues, one.writable_queues, one.was_readable, one.was_writable)
        for one in topic_failures(AssessedTopic(units.topics[0], units.cluster, Policy()))
    }
    assert told == {
        "broker-a": (6, None, True, True),
        "broker-b": (8, None, True, False),
        "broker-c": (10, 8, False, None),
        "broker-d": (6, None, True, True),
    }


def test_a_cluster_of_one_broker_has_no_loss_to_survive() -> None:
    assert losses(plain_plan(cluster([a_topic("pay", queues("broker-a"))]))) == []
    alone = Policy.model_validate({"thresholds": {"BROKER_LOSS": {"min_brokers": 1}}})
    assert len(losses(plain_plan(cluster([a_topic("pay", queues("broker-a"))]), alone))) == 1


def test_an_unknown_rate_leaves_the_shares_unknown() -> None:
    pay = a_topic("pay", queues("broker-a"), rates={("broker-a", 0): None})
    ship = a_topic("ship", queues("broker-b"))
    told = {name: evidence for name, _, evidence in losses(plain_plan(cluster([pay, ship])))}
    assert (told["broker-a"]["msgs_per_s"], told["broker-a"]["traffic_share"]) == (None, None)
    assert (told["broker-b"]["msgs_per_s"], told["broker-b"]["traffic_share"]) == (40.0, None)


def test_what_is_written_to_a_broker_is_unknown_without_the_rate_of_each_of_its_queues() -> None:
    layout = (queues("broker-a", 2), queues("broker-b", 2), queues("broker-c", 2, write=0))
    pay = a_topic("pay", *layout, rates={("broker-a", 0): 5.0, ("broker-a", 1): 5.0, ("broker-b", 0): 5.0})
    units = plain_plan(cluster([pay])).units
    told = topic_failures(AssessedTopic(units.topics[0], units.cluster, Policy()))
    rates = {one.lost: one.msgs_per_s for one in told}
    assert rates == {"broker-a": 10.0, "broker-b": None, "broker-c": 0.0}


def test_without_response_times_nobody_knows_who_becomes_too_weak() -> None:
    plan = small(clients=members(2, allocate_strategy="AVG"))
    assert {(one.busy_ratio, one.becomes_under) for one in rows(plan, "BROKER")} == {(None, None)}


def test_the_only_client_of_a_group_cannot_be_one_fewer() -> None:
    plan = small(1)
    assert rows(plan, "ONE_FEWER") == rows(plan, "BUSIEST_CLIENT") == []
    assert len(rows(plan, "ONE_MORE")) == 1


def test_under_pop_nothing_moves_with_a_broker_and_every_queue_with_a_client() -> None:
    plan = small(subscriptions=(pops("pay"),))
    assert {one.moved["POP"] for one in rows(plan, "BROKER")} == {0}
    assert [one.moved["POP"] for kind in CLIENTS for one in rows(plan, kind)] == [8, 8, 8]


def test_a_group_without_clients_has_no_failures() -> None:
    pay = a_topic("pay", queues("broker-a"), queues("broker-b"))
    plan = plain_plan(cluster([pay], [a_group("g_pay", [], [pay])]))
    assert plan.assessments[0].failures == []


def test_every_client_of_a_broadcasting_group_reads_on_without_a_broker() -> None:
    pay, refund = a_topic("pay", queues("broker-a"), queues("broker-b")), a_topic("refund", queues("broker-b", 1))
    rates = {"pay": 40.0, "refund": 10.0}
    status = tuple(
        InventoryConsumeStatus(
            topic=name, consume_rt_ms=10.0, consume_ok_msgs_per_s=rate, consume_failed_msgs_per_s=0.0
        )
        for name, rate in rates.items()
    )
    clients = [replace(member(n), status=status, consume_threads=20, consume_batch_size=1) for n in ("c1", "c2")]
    before = cluster([pay, refund], [a_group("g", clients, [pay, refund], message_model="BROADCASTING")])
    (judged,) = plain_plan(before).assessments

    # Producers go elsewhere with pay; refund is on broker-b alone. A client has 20 threads for 10 ms a message.
    assert [(one.failure, one.lost, one.lost_queues) for one in judged.failures] == [
        ("BROKER", "broker-a", 4),
        ("BROKER", "broker-b", 5),
    ]
    assert [one.busy_ratio for one in judged.failures] == pytest.approx([50 * 0.01 / 20, 40 * 0.01 / 20])
    assert [(one.verdict, one.unreadable_topics) for one in judged.failures] == [("UNCHANGED", 0), ("WORSE", 1)]
    for one in judged.failures:
        assert (one.moved_today, one.read_again_s, one.unread_queues, one.waiting_messages) == (0, 0.0, 0, None)
        changed = after(before, {"change": "lose_broker", "broker_name": one.lost})
        (group,) = plain_plan(changed).groups
        use = group.provision.utilisation
        assert use is not None
        assert use.estimate == pytest.approx(one.busy_ratio)


def test_until_every_queue_is_read_again_takes_as_long_as_the_worst_transition_of_the_same_change() -> None:
    plan = small()
    again = {one.failure: one.read_again_s for judged in plan.assessments for one in judged.failures}

    # Of a silent client 183.5 s, of one more client 53.5 s, of a lost route 83.5 s after its 125 s.
    assert again == {"BROKER": 208.5, "BUSIEST_CLIENT": 183.5, "ONE_FEWER": 183.5, "ONE_MORE": 53.5}
    quick = {"poll_nameserver_s": 2.0, "heartbeat_s": 5.0, "rebalance_s": 4.0, "persist_offset_s": 1.0}
    told = small(policy=Policy.model_validate({"thresholds": {"TRANSITION": quick}}))
    assert {one.read_again_s for one in rows(told, "ONE_MORE")} == {12.5}
    assert {one.read_again_s for one in rows(told, "BROKER")} == {139.5}
