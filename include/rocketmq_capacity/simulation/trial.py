"""A group on which changes are tried: what it would own while its clients go on running what they run today."""

from collections.abc import Mapping
from functools import partial

from msgspec import structs

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.current import client_runs, owned_today
from rocketmq_capacity.assessment.group import Group as AssessedGroup
from rocketmq_capacity.assessment.loads import Load, Weights
from rocketmq_capacity.contracts.cases import Side
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.facts import GroupFacts
from rocketmq_capacity.recommendation.facts import Cluster, Group, TopicRefusals


def group_on_trial(
    cluster: Cluster,
    facts: GroupFacts,
    current: str | None,
    findings: tuple[contracts.Finding, ...] = (),
    topics: Mapping[str, TopicRefusals] | None = None,
) -> Group:
    """A group as the actions look at it.

    Args:
        cluster: what holds for every recommendation.
        facts: what the snapshot says of the group; its observations are not looked at.
        current: what it runs; None for a group that is not clustering.
        findings: what is wrong with it.
        topics: what the answers for its topics leave to it.
    """
    assessed = AssessedGroup(facts, cluster.facts, cluster.policy, Strategies(cluster.policy))
    simulate = partial(_simulated, assessed, current)
    business = structs.replace(facts, reads=tuple(facts.business))
    strategies = partial(_each_strategy, assessed)
    return Group(facts, cluster, findings, current, simulate(business), strategies, simulate, topics or {})


def _simulated(group: AssessedGroup, current: str | None, changed: GroupFacts) -> Side | None:
    """What the group would own with changed facts; which strategies apply is looked up in the cluster as it is."""
    if current is None:
        return None
    division = Division.of(changed)
    runs = client_runs(division, current, group.policy)
    owners = partial(group.allocator.owners, division=division)
    today = owned_today(division, runs, group.applies, owners, group.policy)
    if today is None or not today.is_predicted:
        return None
    return _side(Load.of(division, Weights.of(division), today.owners))


def _each_strategy(group: AssessedGroup) -> Mapping[str, Side]:
    return {name: _side(load) for name, load in group.loads.items()}


def _side(load: Load) -> Side:
    return Side(
        idle=len(load.idle),
        orphan_queues=len(load.orphans),
        doubly_owned_queues=len(load.doubly_owned),
        count=load.count,
        traffic=load.traffic,
    )
