"""Every recommendation that moves queues says what happens meanwhile, or why that is not known."""

import json
from collections.abc import Sequence
from typing import Final

import pytest
from msgspec.structs import replace

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.model.facts import Consumption
from rocketmq_capacity.recommendation.answer import answer
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.report.transitions import undecided_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.recommended import recommended_transitions
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup
from rocketmq_capacity.tables import Recommendation, RecommendedTransition
from tests.assessment.cases import a_group, a_topic, members
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import broker, client, cluster, group, pay_cluster, queues, reads, topic

POLICY: Final = Policy.model_validate({"strategies": ["AVG", "AVG_BY_CIRCLE", "POP"]})
PAY: Final = topic("pay", queues("broker-a"), queues("broker-b"))


def planned(
    inventory: Inventory, policy: Policy = POLICY
) -> tuple[list[Recommendation], list[RecommendedTransition], dict[str, str]]:
    """Recommendations that may move queues, what is known of that, and what is not."""
    plan = plain_plan(inventory, policy)
    asked = [one for one in plan.recommendations if one.may_move_queues or one.config_assignment]
    facts = AdvisedCluster(plan.units.cluster, policy, is_suspect=False)
    rows: list[RecommendedTransition] = []
    for each in plan.groups:
        names = {one.topic.topic for one in each.facts.business}
        own = [one for one in asked if one.consumer_group == each.name or one.topic in names]
        current = None if each.current is None else each.current.strategy
        seen = Consumption(consumed=each.facts.consumed, lags=each.facts.lags)
        rows += recommended_transitions(facts, each, seen, current, own, Timing.of(plan.units.cluster, policy))
    status = [one.status for one in plan.assessments]
    return asked, rows, undecided_of(asked, rows, status)


def the_one(inventory: Inventory, action: str) -> tuple[RecommendedTransition | None, str | None]:
    """What is known, and what is not, of the only recommendation of an action."""
    asked, rows, undecided = planned(inventory)
    (wanted,) = (one.id for one in asked if one.action == action)
    found = [row for row in rows if row.recommendation_id == wanted]
    return (found[0] if found else None), undecided.get(wanted)


def of_clients(members: Sequence[Client], **facts: object) -> Inventory:
    return cluster([PAY], [group("g_pay", members, [PAY], message_model="CLUSTERING", **facts)])


def test_clients_that_get_ids_of_their_own_take_queues_as_they_start_again() -> None:
    twins = [client("10.0.0.1@1#1", client_addr=f"10.0.0.1:{port}") for port in (40001, 40002)]
    moves, undecided = the_one(of_clients([*twins, client("10.0.0.3@1#1")]), "FIX_CLIENT_ID")

    assert undecided is None
    assert moves is not None
    assert moves.moved_queues > 0
    assert moves.unread_longest_worst_s > 60  # the restart of all clients takes a minute


def test_clients_that_subscribe_like_the_others_take_queues_as_they_start_again() -> None:
    others = topic("ship", queues("broker-a"), queues("broker-b"))
    both = (reads("pay"), reads("ship"))
    members = [client(f"10.0.0.{i}@1#1", subscriptions=both) for i in (1, 2)]
    members.append(client("10.0.0.3@1#1", subscriptions=(reads("pay"),)))
    inventory = cluster([PAY, others], [group("g_pay", members, [PAY, others], message_model="CLUSTERING")])
    moves, undecided = the_one(inventory, "FIX_SUBSCRIPTION")

    assert undecided is None
    assert moves is not None
    # Its share of ship has no reader until it subscribes.
    assert moves.moved_queues > 0
    assert moves.unread_longest_worst_s > 60


def uneven(strategy: str) -> Inventory:
    """AVG gives the first of two clients 100 of 120 messages a second; a list gives each of two queues away."""
    heavy: dict[tuple[str, int], float] = {("broker-a", i): rate for i, rate in enumerate((40.0, 10.0, 40.0, 10.0))}
    rates: dict[tuple[str, int], float | None] = {**heavy, **{("broker-b", i): 5.0 for i in range(4)}}
    pay = a_topic("pay", queues("broker-a"), queues("broker-b"), rates=rates)
    return cluster([pay], [a_group("g_pay", members(2, allocate_strategy=strategy), [pay])])


@pytest.mark.parametrize("strategy", ["AVG", "CONFIG"])
def test_with_fixed_lists_every_client_restarts_in_one_go(strategy: str) -> None:
    """Each of two clients gives one queue to the other: while only one has its list, one is unread and one read twice.

    A client that has a list already restarts as well.
    """
    names = [{"topic": "pay", "broker_name": f"broker-{which}", "queue_id": i} for which in "ab" for i in range(4)]
    told = {"strategies": ["AVG", "CONFIG"], "config_assignments": {"g_pay": {"c01": names[:4], "c02": names[4:]}}}
    asked, rows, undecided = planned(uneven(strategy), Policy.model_validate(told))

    ((wanted, lists),) = ((one.id, one.config_assignment) for one in asked if one.config_assignment is not None)
    (found,) = (row for row in rows if row.is_of_lists)
    assert found.recommendation_id == wanted
    assert lists is not None
    assert found.moved_queues == json.loads(lists)["moved_queues"] == 2
    assert (found.most_unread_at_once, found.most_twice_at_once, found.ownerless_queues) == (1, 1, 0)
    # A restart takes up to 60 s and one request more, the first pull half a second, a refused one 30 s.
    assert found.unread_longest_worst_s == 93.5
    # Two clients that restart at independent moments of a minute are 20 s apart on average, half of it each way.
    assert found.unread_longest_expected_s == pytest.approx(10.25, abs=0.3)
    assert wanted not in undecided


def test_a_change_to_pop_is_undecided() -> None:
    idle = pay_cluster(20)  # more than half of them without a queue
    pops = replace(
        idle, brokers=tuple(replace(broker(name), version="V5_3_3", config={}) for name in ("broker-a", "broker-b"))
    )
    moves, undecided = the_one(pops, "SWITCH_TO_POP")

    assert moves is None
    assert undecided is not None
    assert undecided.startswith("UNDECIDED: with POP no queue has an owner.")


def test_new_brokers_are_undecided_until_a_what_if_says_what_they_get() -> None:
    added = answer(action_of("ADD_BROKER"), target={"brokers": 3}, reason="Add 1 broker.", rules=["BROKER_DISK"])

    assert undecided_of([added], [], []) == {
        added.id: "UNDECIDED: which queues get another owner depends on the topics and queues that new brokers get. A"
        " what-if with add_broker computes it."
    }


def test_groups_whose_owners_are_not_known_are_named() -> None:
    known = pay_cluster(12)
    strange = [client(f"10.1.0.{i}@1#1", allocate_strategy="com.example.Own", owned_queues=None) for i in range(2)]
    both = replace(
        known,
        consumer_groups=(*known.consumer_groups, group("g_own", strange, [PAY], message_model="CLUSTERING")),
    )
    moves, undecided = the_one(both, "EXPAND_QUEUES")

    assert moves is not None
    assert moves.consumer_group == "g_pay"
    assert undecided == "UNDECIDED: who owns the queues of g_own before or afterwards is not known."


def test_nothing_is_silent() -> None:
    twins = [client("10.0.0.1@1#1", client_addr=f"10.0.0.1:{port}") for port in (40001, 40002)]
    many = [client(f"10.0.0.{i}@1#1") for i in range(2, 14)]
    broadcasting = group("g_all", [client("10.0.0.9@1#1")], [PAY], message_model="BROADCASTING")
    offline: InventoryGroup = group("g_off", (), [PAY], message_model="CLUSTERING")
    before = of_clients([*twins, *many])
    asked, rows, undecided = planned(replace(before, consumer_groups=(*before.consumer_groups, broadcasting, offline)))

    assert {"FIX_CLIENT_ID", "EXPAND_QUEUES"} <= {one.action for one in asked}
    assert {one.id for one in asked} == {row.recommendation_id for row in rows} | undecided.keys()
