"""Bounds of a group's number of clients: of the strategy in use and the policy, and never against the verdict."""

import random
from typing import Any, Final

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory
from tests.assessment.cases import a_group, a_topic, member, members, owned, pops, takes
from tests.assessment.judge import Row, judge
from tests.simulation.clusters import cluster, queues, reads

LISTS: Final = {
    "g": {f"c{i:02}": [{"topic": "t", "broker_name": "hz@a", "queue_id": i - 1}] for i in range(1, 4)},
}
TIMED: Final = takes("t", 10.0)
POLICY: Final = Policy.model_validate({"machine_rooms": ["hz"], "config_assignments": LISTS})


def _clients(number: int, strategy: str | None = None, status: Any = TIMED) -> list[Client]:
    about: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1, "status": status}
    return members(number, allocate_strategy=strategy, **about)


def _bounds(clients: list[Client], hz: int = 3, sh: int = 0, rate: float = 1.0, days: int = 14, **facts: Any) -> Row:
    """A group on a topic with queues on a broker of the room hz and one of the room sh."""
    layout = [queues("hz@a", hz), *([queues("sh@b", sh)] if sh else [])]
    rates = {(q.broker_name, i): rate for q in layout for i in range(q.read_queue_nums or 0)}
    topic = a_topic("t", *layout, rates=rates, stored_days=days)
    return judge(cluster([topic], [a_group("g", clients, [topic], **{"lag": 0, **facts})]), POLICY).group("g")


def test_a_group_whose_lists_would_be_orphaned_by_any_loss_keeps_a_client_for_each_list() -> None:
    found = _bounds(_clients(3, "CONFIG"))

    assert found["reading_status"] == "READ"
    assert [found[f"{name}_replicas"] for name in ("min", "target", "max", "max_useful")] == [3, 3, 3, 3]
    own = owned(("t", "hz@a", 0)), owned(("t", "hz@a", 1))
    told = [replace(one, owned_queues=queue) for one, queue in zip(_clients(2, "CONFIG"), own, strict=True)]
    topic = a_topic("t", queues("hz@a", 2))
    untold = judge(cluster([topic], [a_group("g", told, [topic], lag=0)])).group("g")
    assert (untold["min_replicas"], untold["max_replicas"], untold["max_useful_replicas"]) == (2, 2, 2)
    alone = _bounds(_clients(2, "CONFIG"))
    assert (alone["reading_status"], alone["min_replicas"]) == ("UNREAD", 3)


def test_what_machine_room_can_use_is_the_queues_of_its_rooms() -> None:
    found = _bounds(_clients(2, "MACHINE_ROOM"), hz=2, sh=4)

    assert (found["max_useful_clients"], found["max_useful_replicas"]) == (6, 2)
    assert (found["min_replicas"], found["max_replicas"]) == (2, 2)
    assert _bounds(_clients(2, "AVG"), hz=2, sh=4)["max_useful_replicas"] == 6


ROOMS: Final = {
    "brokers": [{"pattern": "^(?P<room>[^@]+)@"}],
    "clients": [{"pattern": "^(?P<room>[a-z]+)-"}],
}


@settings(max_examples=60, deadline=None)
@given(
    in_hz=st.lists(st.integers(0, 6), min_size=1, max_size=3),
    in_sh=st.lists(st.integers(0, 6), min_size=3, max_size=3),
    in_bj=st.lists(st.integers(0, 9), min_size=3, max_size=3),
    strategy=st.sampled_from(["MACHINE_ROOM_NEARBY", "CONSISTENT_HASH", "AVG", "AVG_BY_CIRCLE"]),
)
def test_so_many_clients_can_own_a_queue_as_the_strategy_in_use_lets(
    in_hz: list[int], in_sh: list[int], in_bj: list[int], strategy: str
) -> None:
    numbers = list(zip(in_hz, in_sh, in_bj, strict=False))
    topics = [
        a_topic(f"t{index}", *(queues(name, number) for name, number in zip(("hz@a", "sh@b", "bj@c"), of, strict=True)))
        for index, of in enumerate(numbers)
    ]
    ids = [f"{room}-{index:02}" for room in ("hz", "sh") for index in range(30)]  # none in bj
    group = a_group("g", [member(one, allocate_strategy=strategy) for one in ids], topics, lag=0)
    judged = judge(cluster([*topics], [group]), Policy.model_validate({"rooms": ROOMS}))

    useful = judged.group("g")["max_useful_replicas"]
    name = "MACHINE_ROOM_NEARBY-AVG" if strategy == "MACHINE_ROOM_NEARBY" else strategy
    owners = {row["client_id"] for row in judged.allocation if row["strategy"] == name}
    if strategy == "CONSISTENT_HASH" or (strategy == "MACHINE_ROOM_NEARBY" and any(in_bj)):
        assert len(owners) <= useful
    else:
        assert len(owners) == useful


def test_further_clients_are_tried_in_each_machine_room_in_turn() -> None:
    """Each room reads a topic of its own. Four clients in each are enough, and no topic has eight queues."""
    topics = [
        a_topic(name, queues(broker, 7), rates={(broker, index): 60.0 for index in range(7)})
        for name, broker in (("t", "hz@a"), ("u", "sh@b"))
    ]
    status = *takes("t", 45.0), *takes("u", 45.0)
    about: dict[str, Any] = {"consume_threads": 10, "consume_batch_size": 1, "status": status}
    ids = [f"{room}-{index}" for room in ("hz", "sh") for index in range(3)]
    group = a_group("g", [member(one, allocate_strategy="MACHINE_ROOM_NEARBY", **about) for one in ids], topics, lag=0)
    found = judge(cluster(topics, [group]), Policy.model_validate({"rooms": ROOMS})).group("g")

    assert (found["provision_status"], found["needed_clients_target"]) == ("UNDER_PROVISIONED", 8)
    assert (found["max_useful_clients"], found["max_useful_replicas"]) == (7, 14)


def test_a_group_that_also_pops_can_use_more_clients_than_its_pulled_topics_have_queues() -> None:
    """Each of them reads the popped topic, whose messages are too many for four clients."""
    pulled = a_topic("t", queues("hz@a", 4), rates={("hz@a", index): 1.0 for index in range(4)})
    popped = a_topic("u", queues("hz@a", 4), rates={("hz@a", index): 100.0 for index in range(4)})
    clients = _clients(4, status=(*takes("t", 10.0), *takes("u", 100.0)))
    group = a_group("g", clients, [pulled, popped], subscriptions=(reads("t"), pops("u")), lag=0)
    found = judge(cluster([pulled, popped], [group])).group("g")

    assert (found["message_request_mode"], found["max_useful_clients"]) == ("MIXED", 4)
    assert (found["provision_status"], found["needed_clients_target"]) == ("UNDER_PROVISIONED", 6)
    assert (found["max_useful_replicas"], found["max_replicas"]) == (None, None)


def test_too_few_clients_have_a_target_above_todays_number_or_none() -> None:
    more = _bounds(_clients(2), hz=8, rate=200.0)
    assert (more["provision_status"], more["target_replicas"], more["provision_code"]) == (
        "UNDER_PROVISIONED",
        3,
        "BUSIEST_TOO_BUSY",
    )
    none = _bounds(_clients(2), hz=8, rate=900.0)
    assert (none["provision_status"], none["target_replicas"], none["min_replicas"]) == ("UNDER_PROVISIONED", None, 8)
    assert more["min_safe_clients"] == more["min_replicas"] == 3


def test_the_most_replicas_leave_room_for_the_standbys_of_the_policy() -> None:
    policy = Policy.model_validate({"groups": [{"match": "^g$", "standby": 2}]})
    topic = a_topic("t", queues("hz@a", 3))
    found = judge(cluster([topic], [a_group("g", _clients(5), [topic], lag=0)]), policy).group("g")

    assert (found["max_useful_replicas"], found["max_replicas"]) == (3, 5)


def test_idle_clients_do_not_turn_the_bounds_round() -> None:
    found = _bounds(_clients(6), hz=4, days=0)

    assert (found["min_replicas"], found["max_replicas"], found["max_useful_replicas"]) == (4, 4, 4)


@pytest.mark.parametrize(
    ("facts", "code", "confidence"),
    [
        ({}, "FITS", "HIGH"),
        ({"status": ()}, "FACTS_MISSING", "LOW"),
        ({"number": 0}, "NO_CLIENTS", "LOW"),
    ],
)
def test_the_reason_is_a_code_too(facts: dict[str, Any], code: str, confidence: str) -> None:
    found = _bounds(_clients(facts.pop("number", 3), **facts))

    assert (found["provision_code"], found["bounds_confidence"]) == (code, confidence)


# Whatever the fleet
STRATEGIES: Final = (None, "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "CONFIG", "MACHINE_ROOM", "com.acme.Own")


def _random_fleet(seed: int) -> tuple[Inventory, Policy]:
    """Twelve groups, each with a topic of its own; some are broadcasting, pop, lag, are untimed or have equal ids."""
    chance = random.Random(seed)
    topics, groups, lists = [], [], {}
    for number in range(12):
        name, clients = f"t{number}", chance.choice([0, 1, 2, 3, 4, 6, 9, 14])
        layout = [queues("hz@a", chance.randint(1, 8)), queues("sh@b", chance.randint(1, 6))]
        rates = {
            (q.broker_name, i): chance.choice([0.0, 1.0, 60.0, 250.0])
            for q in layout
            for i in range(q.read_queue_nums or 0)
        }
        topic = a_topic(name, *layout, rates=rates, stored_days=chance.choice([0, 5, 14, 20]))
        factor = chance.choice([1.0, 1.0, 8.0])
        past = tuple(
            replace(one, put_msgs_per_s=one.put_msgs_per_s and one.put_msgs_per_s * factor) for one in topic.rates or ()
        )
        topics.append(replace(topic, rates=past))
        status = takes(name, chance.choice([1.0, 10.0, 40.0])) if chance.random() < 0.85 else ()
        every = _clients(clients, chance.choice(STRATEGIES), status)
        if clients > 2 and chance.random() < 0.15:
            every[1] = every[0]
        facts: dict[str, Any] = {"lag": chance.choice([0, 0, None])}
        if chance.random() < 0.1:
            facts["message_model"] = "BROADCASTING"
        elif chance.random() < 0.1:
            facts["subscriptions"] = (pops(name),)
        if chance.random() < 0.2:
            facts["orderly"] = True
        groups.append(a_group(f"g{number}", every, [topics[-1]], **facts))
        lists[f"g{number}"] = {
            f"c{i:02}": [{"topic": name, "broker_name": "hz@a", "queue_id": i}] for i in range(chance.randint(0, 4))
        }
    told = [{"match": "^g1", "min_clients": chance.randint(1, 8)}]
    policy = {"machine_rooms": ["hz"], "config_assignments": lists, "groups": told}
    return cluster(topics, groups), Policy.model_validate(policy)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_bounds_are_in_order_and_agree_with_the_verdict_whatever_the_fleet(seed: int) -> None:
    inventory, policy = _random_fleet(seed)
    for group in judge(inventory, policy).groups:
        least, target, most = (group[f"{name}_replicas"] for name in ("min", "target", "max"))
        clients, status = group["connections"], group["provision_status"]
        known = [bound for bound in (least, target, most) if bound is not None]
        assert known == sorted(known), group
        assert group["scale_down_allowed"] == (group["scale_down_blocked_by"] == [])
        assert group["scale_down_allowed"] or status != "OVER_PROVISIONED"
        if clients:
            assert least >= policy.min_clients(group["consumer_group"]), group
            assert target is None or target >= policy.min_clients(group["consumer_group"])
            assert group["scale_down_allowed"] or least >= clients, group
        if status == "UNDER_PROVISIONED":
            assert target is None or target > clients, group
        if status == "OVER_PROVISIONED":
            assert least == target < clients, group
        if status == "UNDECIDED":
            assert target is None, group
