"""A strategy of the deployment's own, with answers as the class would give them; the class is in tests/plan."""

import pickle

import pytest

from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.own_class import NOT_ASKED, asked_with
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Verdict
from rocketmq_capacity.settings.own_strategy import OwnAnswers
from rocketmq_capacity.settings.policy import Policy, PolicyChanges, read_policy
from rocketmq_capacity.tables.dataset import Queue
from tests.fixtures.units import units_of
from tests.simulation.clusters import client, cluster, group, queues, topic

OWN = "com.acme.Own"
POLICY = Policy.model_validate({
    "strategies": ["AVG"],
    "current_strategies": {"g_pay": {"class": OWN, "jar": "own.jar"}},
})
A0, A1, A2 = (("pay", "broker-a", queue_id) for queue_id in range(3))


def division(number: int, *client_ids: str) -> Division:
    pay = topic("pay", queues("broker-a", number))
    (facts,) = units_of(cluster([pay], [group("g_pay", map(client, client_ids), [pay])])).business_groups
    return Division.of(facts)


def told(asked: Division, given: dict[str, tuple[tuple[str, str, int], ...]], **thrown: str) -> Policy:
    """The policy after the class was asked."""
    answers = OwnAnswers(*asked_with(asked), {"pay": given}, thrown)
    return POLICY.with_own_answers({"g_pay": (answers,)})


def owned(asked: Division, policy: Policy) -> list[tuple[str, Queue]]:
    ids = asked.members.client_ids
    (rows,) = (rows for rows in rows_of(asked, Strategies(policy)) if rows.strategy == OWN)
    return sorted((ids[place], queue) for place, queue in rows.named())


def test_what_the_class_gave_is_owned_once_whether_the_queue_exists_or_not() -> None:
    asked = division(3, "c1", "c2")
    missing = ("pay", "broker-z", 7)
    policy = told(asked, {"c1": (A0, A0, missing), "c2": (A1,)})
    assert owned(asked, policy) == [("c1", Queue(*A0)), ("c1", Queue(*missing)), ("c2", Queue(*A1))]
    owners = Strategies(policy).owners(OWN, asked)
    assert (owners.queue.tolist(), owners.client.tolist()) == ([0, 1], [0, 1])
    assert owners.strangers == ((0, Queue(*missing)),)


def test_consumers_of_one_id_each_own_what_it_was_given() -> None:
    asked = division(2, "c1", "c1")
    assert owned(asked, told(asked, {"c1": (A1,)})) == [("c1", Queue(*A1))] * 2


@pytest.mark.parametrize("other", [division(2, "c1", "c2"), division(3, "c1"), division(3, "c1", "c2", "c2")])
def test_of_clients_or_queues_that_the_class_was_not_asked_with_nothing_is_known(other: Division) -> None:
    policy = told(division(3, "c1", "c2"), {"c1": (A0,)})
    assert Strategies(policy).verdict(OWN, other) == Verdict(is_applicable=False, reason=NOT_ASKED)
    assert Strategies(policy).owners(OWN, other).unknown == {0}


def test_a_topic_for_which_the_class_throws_is_not_allocated() -> None:
    asked = division(3, "c1")
    verdict = Strategies(told(asked, {}, pay="java.lang.Error: no")).verdict(OWN, asked)
    assert verdict == Verdict(is_applicable=False, reason="java.lang.Error: no (throws for pay)")


def test_the_answers_go_with_the_policy_to_other_processes() -> None:
    asked = division(3, "c1")
    policy = told(asked, {"c1": (A0, A1, A2)})
    sent = pickle.loads(pickle.dumps(policy))
    assert owned(asked, sent) == owned(asked, policy) != []
    assert POLICY.own_answers("g_pay") == ()


def test_only_the_groups_that_are_named_run_the_class() -> None:
    assert POLICY.strategies_of("g_pay") == ("AVG", OWN)
    assert POLICY.strategies_of("g_other") == ("AVG",)


def test_changes_of_a_policy_may_name_no_code() -> None:
    changes = PolicyChanges(text="current_strategies: {g_pay: {class: com.acme.Own, jar: own.jar}}")
    with pytest.raises(
        BadInput, match=r"^policy changes: current_strategies\.g_pay: names a class and a jar; expected"
    ):
        read_policy(None, changes)
