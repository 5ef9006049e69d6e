"""CROSS_ROOM and ROOM_STARVATION: what the policy's rooms make of who owns what."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import pytest
from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, Inventory, TopicQueues
from tests.assessment.cases import a_group, a_topic, member, pops
from tests.fixtures.plain_plan import PlainPlan, plain_plan
from tests.simulation.clusters import broker, cluster, queues

ROOMS: dict[str, Any] = {
    "brokers": [{"pattern": "^(?P<room>[^@]+)@"}],
    "clients": [{"pattern": "^(?P<room>[a-z]+)-"}],
}
TWO_ROOMS = (queues("hz@broker-a", 4), queues("sh@broker-b", 4))


def policy(**more: Any) -> Policy:
    return Policy.model_validate({"rooms": ROOMS, "report_cross_room": True, **more})


def clients(*client_ids: str, strategy: str = "AVG") -> list[Client]:
    return [member(client_id, allocate_strategy=strategy) for client_id in client_ids]


def planned(
    members: Iterable[Client], *layout: TopicQueues, policy: Policy, rates: Any = None, **facts: Any
) -> PlainPlan:
    pay = a_topic("pay", *layout, rates=rates, order=False, message_type="NORMAL")
    return plain_plan(cluster([pay], [a_group("g_pay", members, [pay], **facts)]), policy)


def room_cluster() -> Inventory:
    """A group that crosses rooms, and one of which a room starves."""
    pay, ship = a_topic("pay", *TWO_ROOMS), a_topic("ship", queues("hz@broker-a", 4))
    crossing = a_group("g_pay", clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), [pay])
    starving = a_group("g_ship", clients("hz-1", "sh-1", strategy="MACHINE_ROOM_NEARBY"), [ship])
    return cluster([pay, ship], [crossing, starving])


def of(rule: str, plan: PlainPlan) -> list[Any]:
    return [one for one in plan.findings if one.rule == rule]


def told(rule: str, plan: PlainPlan) -> dict[str, Any]:
    (found,) = of(rule, plan)
    evidence: dict[str, Any] = json.loads(found.evidence)
    return evidence


def share_of(evidence: Mapping[str, Any], strategy: str) -> float | None:
    return next((one["cross_room_share"] for one in evidence["strategies"] if one["strategy"] == strategy), None)


def test_queues_of_another_room_are_counted_and_named() -> None:
    """AVG gives c1 of hz the first half, which is hz's, and c2 of hz the half of sh."""
    plan = planned(clients("hz-1", "hz-2", "sh-1", "sh-2"), *TWO_ROOMS, policy=policy())
    assert of("CROSS_ROOM", plan) == []
    plan = planned(clients("a-1", "hz-2", "sh-1", "sh-2"), *TWO_ROOMS, policy=policy())
    (found,) = of("CROSS_ROOM", plan)
    evidence = told("CROSS_ROOM", plan)
    assert [(one.broker_name, one.queue_id) for one in found.queues] == [("hz@broker-a", 0), ("hz@broker-a", 1)]
    assert (evidence["queues"], evidence["cross_room_share"], evidence["cross_room_msgs_per_s"]) == (8, 0.25, 20.0)
    assert evidence["matrix"] == [
        {"client_room": "a", "broker_room": "hz", "queues": 2},
        {"client_room": "hz", "broker_room": "hz", "queues": 2},
        {"client_room": "sh", "broker_room": "sh", "queues": 4},
    ]
    assert (evidence["rooms_without_clients"], evidence["rooms_without_queues"]) == ([], ["a"])


def test_each_strategy_has_its_share() -> None:
    plan = planned(clients("hz-1", "sh-1"), *TWO_ROOMS, policy=policy(current_strategies={"default": "AVG"}))
    assert of("CROSS_ROOM", plan) == []
    plan = planned(clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=policy())
    evidence = told("CROSS_ROOM", plan)
    assert evidence["cross_room_share"] == share_of(evidence, "AVG_BY_CIRCLE") == 0.5
    assert share_of(evidence, "MACHINE_ROOM") is None
    assert share_of(evidence, "AVG") == share_of(evidence, "MACHINE_ROOM_NEARBY-AVG") == 0.0
    assert share_of(evidence, "POP") == 0.5  # every client pops every queue
    assert evidence["nearby"] == {
        "strategy": "MACHINE_ROOM_NEARBY-AVG",
        "cross_room_share": 0.0,
        "idle": 0,
        "excess": 1.0,
        "starving_rooms": [],
    }


def test_it_is_silent_unless_the_policy_asks_for_it() -> None:
    plan = planned(
        clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=Policy.model_validate({"rooms": ROOMS})
    )
    assert of("CROSS_ROOM", plan) == []


def test_a_strategy_that_crosses_less_is_recommended_with_the_share_before_and_after() -> None:
    plan = planned(clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=policy())
    (found,) = of("CROSS_ROOM", plan)
    assert found.severity == "INFO"
    assert found.message == (
        "50.0 % of the queues whose rooms are known are read from another machine room: hz reads from sh (2 queues,"
        " 20.0 messages a second); sh reads from hz (2 queues, 20.0 messages a second). Under MACHINE_ROOM_NEARBY-AVG"
        " it would be 0.0 %."
    )
    (answer,) = [one for one in plan.recommendations if "CROSS_ROOM" in one.rules]
    before, after = json.loads(answer.before), json.loads(answer.after)
    assert (answer.action, after["strategy"]) == ("CHANGE_STRATEGY", "MACHINE_ROOM_NEARBY-AVG")
    assert (before["cross_room_share"], after["cross_room_share"]) == (0.5, 0.0)
    assert "0.0 % of the queues are read from another machine room instead of 50.0 %" in answer.reason


@pytest.mark.parametrize(
    ("members", "strategies", "advice"),
    [
        (
            ("hz-1", "sh-1"),
            ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"],
            "Run clients in the machine rooms whose queues",
        ),
        (("hz-1", "sh-1", "9"), ["AVG_BY_CIRCLE", "AVG", "MACHINE_ROOM_NEARBY-AVG"], "Add the rooms of all brokers"),
    ],
    ids=["no strategy knows rooms", "a room is unknown"],
)
def test_a_share_that_falls_by_coincidence_is_no_answer(
    members: tuple[str, ...], strategies: list[str], advice: str
) -> None:
    """AVG would cross less, as the names of clients and brokers happen to be sorted."""
    rules = policy(strategies=strategies)
    plan = planned(clients(*members, strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=rules)
    evidence = told("CROSS_ROOM", plan)
    (answer,) = [one for one in plan.recommendations if "CROSS_ROOM" in one.rules]

    assert (share_of(evidence, "AVG") or 0.0) < 0.7 * evidence["cross_room_share"]
    assert (answer.action, answer.reason.startswith(advice)) == ("INVESTIGATE", True)
    assert " it would be " not in of("CROSS_ROOM", plan)[0].message


def test_a_strategy_that_leaves_queues_unread_is_not_compared() -> None:
    """MACHINE_ROOM would leave sh's queues without a reader, and cross nothing."""
    inventory = policy(machine_rooms=["hz"])
    plan = planned(clients("hz-1", "hz-2", strategy="AVG"), *TWO_ROOMS, policy=inventory)
    (load,) = [one for one in plan.assessments[0].loads if one.strategy == "MACHINE_ROOM"]
    evidence = told("CROSS_ROOM", plan)

    assert load.orphan_queues, "the case is to have a strategy that leaves queues unread"
    assert share_of(evidence, "MACHINE_ROOM") is None
    assert share_of(evidence, "AVG") == 0.5


def test_pairs_of_rooms_have_megabytes_by_the_average_message_of_the_broker() -> None:
    """Clients of hz read 20 messages a second of 1.5 MB from sh, and those of sh 20 of 0.5 MB from hz."""
    pay = a_topic("pay", *TWO_ROOMS)
    group = a_group("g_pay", clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), [pay])
    sized = [
        replace(broker(name), runtime={"putMessageAverageSize": size})
        for name, size in (("hz@broker-a", "500000.0"), ("sh@broker-b", "1500000.0"))
    ]
    evidence = told("CROSS_ROOM", plain_plan(cluster([pay], [group], sized), policy()))

    assert evidence["pairs"] == [
        {"client_room": "hz", "broker_room": "sh", "queues": 2, "msgs_per_s": 20.0, "mb_per_s": 30.0},
        {"client_room": "sh", "broker_room": "hz", "queues": 2, "msgs_per_s": 20.0, "mb_per_s": 10.0},
    ]
    assert evidence["cross_room_mb_per_s"] == 40.0


def test_rooms_without_clients_are_read_from_elsewhere_in_any_case() -> None:
    plan = planned(clients("hz-1", "hz-2"), *TWO_ROOMS, policy=policy())
    (found,) = of("CROSS_ROOM", plan)
    evidence = told("CROSS_ROOM", plan)
    assert (found.severity, evidence["cross_room_share"], evidence["rooms_without_clients"]) == ("INFO", 0.5, ["sh"])
    assert [one.action for one in plan.recommendations if "CROSS_ROOM" in one.rules] == ["INVESTIGATE"]


@pytest.mark.parametrize(("share", "fires"), [(0.25, False), (0.2499, True)])
def test_up_to_its_threshold_crossing_is_no_finding(share: float, fires: bool) -> None:
    plan = planned(
        clients("a-1", "hz-2", "sh-1", "sh-2"), *TWO_ROOMS, policy=policy(thresholds={"CROSS_ROOM": {"share": share}})
    )
    assert bool(of("CROSS_ROOM", plan)) == fires


def test_queues_without_a_room_in_the_policy_are_not_known_to_cross() -> None:
    plan = planned(clients("1", "2", "3", "4"), *TWO_ROOMS, policy=policy())
    assert of("CROSS_ROOM", plan) == []
    layout = (queues("hz@broker-a", 4), queues("lone", 4))
    evidence = told("CROSS_ROOM", planned(clients("sh-1", "sh-2", "9"), *layout, policy=policy()))
    # Of the queues and readers whose rooms are both known there is one: the fourth of hz, which sh-1 reads.
    assert (evidence["cross_room_share"], evidence["unknown_room_queues"], evidence["unknown_room_clients"]) == (
        1.0,
        4,
        1,
    )
    assert {"client_room": "sh", "broker_room": None, "queues": 4} in evidence["matrix"]


def test_without_rooms_in_the_policy_nothing_is_said_of_rooms() -> None:
    plan = planned(clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=Policy())
    assert of("CROSS_ROOM", plan) == of("ROOM_STARVATION", plan) == []


@pytest.mark.parametrize("facts", [{"message_model": "BROADCASTING"}, {"message_model": "LITE_SELECTIVE"}])
def test_groups_that_do_not_share_queues_out_are_left_alone(facts: Mapping[str, Any]) -> None:
    plan = planned(clients("hz-1", "sh-1", strategy="AVG_BY_CIRCLE"), *TWO_ROOMS, policy=policy(), **facts)
    assert of("CROSS_ROOM", plan) == []


def test_a_group_without_clients_or_queues_crosses_nothing() -> None:
    assert of("CROSS_ROOM", planned([], *TWO_ROOMS, policy=policy())) == []
    assert of("CROSS_ROOM", planned(clients("hz-1"), queues("sh@broker-b", 4, perm=2), policy=policy())) == []


def test_an_unknown_rate_of_a_crossing_queue_makes_the_traffic_unknown() -> None:
    rates: dict[tuple[str, int], float | None] = {("sh@broker-b", 0): None, ("sh@broker-b", 1): 1.0}
    evidence = told("CROSS_ROOM", planned(clients("hz-1"), queues("sh@broker-b", 2), policy=policy(), rates=rates))
    assert (evidence["cross_room_share"], evidence["cross_room_msgs_per_s"]) == (1.0, None)


def test_popped_queues_cross_by_the_part_of_their_readers() -> None:
    plan = planned(clients("hz-1", "hz-2", "sh-1", "sh-2"), *TWO_ROOMS, policy=policy(), subscriptions=(pops("pay"),))
    evidence = told("CROSS_ROOM", plan)
    assert (evidence["cross_room_share"], evidence["matrix"][0]["queues"]) == (0.5, 8)


def test_clients_of_a_room_without_queues_starve_under_nearby() -> None:
    members = clients("hz-1", "sh-1", "sh-2", strategy="MACHINE_ROOM_NEARBY")
    plan = planned(members, queues("hz@broker-a", 4), policy=policy())
    (found,) = of("ROOM_STARVATION", plan)
    evidence = told("ROOM_STARVATION", plan)
    assert found.subjects == ("sh-1", "sh-2")
    assert evidence["rooms"] == [{"room": "sh", "clients": 2, "queues": 0}]
    assert (evidence["clients"], evidence["queues"], evidence["rooms_without_queues"]) == (2, 4, ["sh"])
    assert "0 queues for 2 clients" in found.message
    assert any("ROOM_STARVATION" in one.rules for one in plan.recommendations)


def test_a_room_that_gets_its_part_does_not_starve() -> None:
    members = clients("hz-1", "sh-1", "sh-2", strategy="MACHINE_ROOM_NEARBY")
    assert of("ROOM_STARVATION", planned(members, *TWO_ROOMS, policy=policy())) == []


@pytest.mark.parametrize(("share", "fires"), [(0.5, True), (0.49, False)])
def test_next_to_nothing_is_a_share_of_the_mean(share: float, fires: bool) -> None:
    """4 clients have 8 queues, 2 each; the two of sh have 2, 1 each."""
    members = clients("hz-1", "hz-2", "sh-1", "sh-2", strategy="MACHINE_ROOM_NEARBY")
    layout = (queues("hz@broker-a", 6), queues("sh@broker-b", 2))
    plan = planned(members, *layout, policy=policy(thresholds={"ROOM_STARVATION": {"share": share}}))
    assert bool(of("ROOM_STARVATION", plan)) == fires


def test_a_strategy_that_does_not_look_at_rooms_starves_none() -> None:
    plan = planned(clients("hz-1", "sh-1", "sh-2", "sh-3"), queues("hz@broker-a", 1), policy=policy())
    assert of("ROOM_STARVATION", plan) == []


def test_a_room_whose_brokers_the_strategy_does_not_see_is_no_matter_of_its_clients() -> None:
    """MACHINE_ROOM shares the queues of its rooms out among all clients; where it keeps none nobody starves more."""
    members = clients("hz-1", "sh-1", strategy="MACHINE_ROOM")
    plan = planned(members, queues("hz@broker-a", 4), policy=policy(machine_rooms=["bj"]))
    assert of("ROOM_STARVATION", plan) == []


@pytest.mark.parametrize(("report_cross_room", "leaves"), [(True, False), (False, True)])
def test_where_the_policy_asks_for_what_crosses_rooms_no_idle_client_is_a_reason_to_cross_them(
    report_cross_room: bool, leaves: bool
) -> None:
    nearby = clients(*(f"hz-{i}" for i in range(7)), "sh-1", strategy="MACHINE_ROOM_NEARBY-AVG")
    plan = planned(nearby, *TWO_ROOMS, policy=policy(report_cross_room=report_cross_room))

    assert of("IDLE_CONSUMERS", plan)
    actions = {one.action for one in plan.recommendations}
    assert "SCALE_CONSUMERS" in actions
    assert ("CHANGE_STRATEGY" in actions) is leaves


@pytest.mark.parametrize(("report_cross_room", "pops"), [(True, False), (False, True)])
def test_who_reads_in_its_own_room_is_not_told_to_pop_where_the_policy_asks_for_what_crosses_rooms(
    report_cross_room: bool, pops: bool
) -> None:
    known = {"language": "JAVA", "version": "V5_3_3"}
    nearby = [replace(one, **known) for one in clients("hz-1", "hz-2", "sh-1", "sh-2", strategy="MACHINE_ROOM_NEARBY")]
    brokers = [replace(broker(f"hz@broker-{name}"), version="V5_3_3") for name in "ab"]
    pay = a_topic("pay", *(queues(one.broker_name, 4) for one in brokers), order=False, message_type="NORMAL")
    inventory = cluster([pay], [a_group("g_pay", nearby, [pay])], brokers)

    plan = plain_plan(inventory, policy(report_cross_room=report_cross_room))

    assert ("SWITCH_TO_POP" in {one.action for one in plan.recommendations}) is pops
