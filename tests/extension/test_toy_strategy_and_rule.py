"""A new strategy, and a new rule, need no more than their function and their place in a registry."""

from collections.abc import Iterator
from typing import Annotated, Final

import numpy as np
import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies, rows_of
from rocketmq_capacity.allocation.registry import STRATEGIES, Strategy
from rocketmq_capacity.assessment.assess import assess_groups
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.rules import group_rules
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.recommendation.groups import group_answers
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue
from tests.fixtures.plain_plan import group_of
from tests.fixtures.units import units_of
from tests.simulation.clusters import pay_cluster

LAST_TAKES_ALL: Final = "LAST_TAKES_ALL"


class TooFew(Evidence, frozen=True, kw_only=True):
    """The evidence of TOO_FEW_CLIENTS."""

    distinct_client_ids: Annotated[int, means("of the group", "client")]


TOO_FEW: Final = Rule(
    name="TOO_FEW_CLIENTS", title="Too few", meaning="A group needs at least four.", place=500, evidence=TooFew
)


def last_takes_all(division: Division, _: Policy) -> Shares:
    return Shares.of_owners(np.full(len(division.queues), len(division.members) - 1))


def refuses_a_single_client(division: Division, _: Policy) -> str | None:
    return "there is nobody before the last" if len(division.members) == 1 else None


def too_few_clients(group: AssessedGroup) -> Iterator[tables.Finding]:
    if len(group.client_ids) < 4:
        yield finding(
            TOO_FEW,
            "INFO",
            consumer_group=group.name,
            subjects=group.client_ids,
            evidence=TooFew(distinct_client_ids=len(group.client_ids)),
            message=f"Start more clients than {len(group.client_ids)}.",
        )


@pytest.fixture
def policy(monkeypatch: pytest.MonkeyPatch) -> Policy:
    """A policy that names the strategy; nothing checks the name, which the vocabulary lacks."""
    monkeypatch.setitem(STRATEGIES, LAST_TAKES_ALL, Strategy(last_takes_all, refuses_a_single_client))
    return Policy().model_copy(update={"strategies": ("AVG", LAST_TAKES_ALL)})


def pay_group(policy: Policy, clients: int = 3) -> AssessedGroup:
    units = units_of(pay_cluster(clients), policy)
    return AssessedGroup(units.group("g_pay"), units.cluster, policy, Strategies(policy))


def test_a_registered_strategy_is_allocated(policy: Policy) -> None:
    division = pay_group(policy).division

    avg, toy = rows_of(division, Strategies(policy))

    assert (avg.strategy, toy.strategy) == ("AVG", LAST_TAKES_ALL)
    assert [(division.members.client_ids[client], queue) for client, queue in toy.named()] == [
        ("10.0.0.3@1#1", Queue("pay", broker, queue_id)) for broker in ("broker-a", "broker-b") for queue_id in range(4)
    ]


def test_a_registered_strategy_is_judged(policy: Policy) -> None:
    avg, toy = assess_groups([pay_group(policy)])[0].loads

    assert avg.idle_clients == ()
    assert (toy.strategy, toy.is_applicable) == (LAST_TAKES_ALL, True)
    assert toy.idle_clients == ("10.0.0.1@1#1", "10.0.0.2@1#1")
    assert toy.count is not None
    assert (toy.count["max"], toy.count["min"]) == (8, 0)


def test_a_registered_strategy_may_refuse(policy: Policy) -> None:
    _, toy = assess_groups([pay_group(policy, clients=1)])[0].loads

    assert (toy.is_applicable, toy.reason) == (False, "there is nobody before the last")


def test_what_a_registered_rule_finds_is_in_the_plan_and_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(group_rules(), "too_few_clients", too_few_clients)
    policy = Policy()
    group = pay_group(policy)

    findings = assess_groups([group])[0].findings
    answers = group_answers(group_of(group, AdvisedCluster(group.cluster, policy, is_suspect=False), findings))

    (found,) = (one for one in findings if one.rule == TOO_FEW.name)
    assert (found.consumer_group, found.subjects) == ("g_pay", tuple(group.client_ids))
    (answer,) = (one for one in answers if TOO_FEW.name in one.rules)
    assert (answer.action, answer.consumer_group) == ("INVESTIGATE", "g_pay")
    assert "Start more clients than 3." in answer.reason


def test_a_registered_rule_finds_nothing_where_all_is_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(group_rules(), "too_few_clients", too_few_clients)

    findings = assess_groups([pay_group(Policy(), clients=4)])[0].findings

    assert TOO_FEW.name not in {one.rule for one in findings}
