"""Differences of two plans of one cluster: findings, recommendations, loads."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any, Final, Generic, Literal, TypeVar

from msgspec import UNSET

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.group import GroupPlan, StrategyPlan
from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.plan_file.order import nulls_first
from rocketmq_capacity.plan_file.pairs import paired, place_of, place_with_subjects
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.answering import urgency
from rocketmq_capacity.report.matters import figures_matter, load_matters
from rocketmq_capacity.report.what_if_lines import first_lines

Item = TypeVar("Item", PlanFinding, PlanRecommendation)
ID: Final = attrgetter("id")
ADVICE: Final = attrgetter("action", "consumer_group", "topic")
"""What a recommendation does to which group or topic, whatever its figures."""


@dataclass(frozen=True, slots=True)
class ListDifference(Generic[Item]):
    """Findings or recommendations of two plans, compared; each list is in the order of the page."""

    new: tuple[Item, ...]
    """Only in the later plan."""
    gone: tuple[Item, ...]
    """Only in the earlier plan."""
    still: tuple[tuple[Item, Item], ...]
    """In both, as the earlier and as the later plan have it."""

    @property
    def changed(self) -> tuple[tuple[Item, Item], ...]:
        """What is in both, and differs by so much that it matters."""
        return tuple(pair for pair in self.still if _matters(*pair))

    @property
    def same(self) -> tuple[tuple[Item, Item], ...]:
        """What is in both, and equal, or nearly so."""
        return tuple(pair for pair in self.still if not _matters(*pair))


def _matters(before: PlanFinding | PlanRecommendation, after: PlanFinding | PlanRecommendation) -> bool:
    """Whether what is in both plans is worth a line: it says something else, or its figures change by much."""
    words, _, figures = _told(before)
    words_after, rule, figures_after = _told(after)
    return words != words_after or figures_matter(figures, figures_after, rule)


def _told(item: PlanFinding | PlanRecommendation) -> tuple[tuple[Any, ...], str, Any]:
    """What has to be equal, the rule whose figures it has (empty: none), and these figures."""
    if isinstance(item, PlanFinding):
        return (item.severity, item.accepted, item.owner, frozenset(item.subjects)), item.rule, item.evidence
    state = None if item.standing is UNSET else (item.standing.state, item.standing.done)
    return (item.id, item.manual, item.owner, state), "", (item.before, item.after)


@dataclass(frozen=True, slots=True)
class StrategyInPlan:
    """What a strategy means for a group in one plan; None is unknown."""

    idle: int | None
    orphans: int | None
    count_peak: float | None
    traffic_peak: float | None

    def figures(self) -> dict[str, float | None]:
        """By name; ``asdict`` takes ten times as long, for each strategy of each group of a fleet."""
        return {name: getattr(self, name) for name in self.__slots__}


@dataclass(frozen=True, slots=True)
class LoadChange:
    """A group under a strategy that applies to it in at least one of the plans."""

    consumer_group: str
    strategy: str
    in_use: tuple[bool, bool]
    """Whether the group runs the strategy, before and after."""
    before: StrategyInPlan | None
    after: StrategyInPlan | None
    """None if the plan does not have the group, or the strategy does not apply to it."""

    @property
    def matters(self) -> bool:
        """Whether the use differs, or the load by so much that it matters."""
        if self.in_use[0] != self.in_use[1]:
            return True
        if self.before == self.after:
            return False
        if self.before is None or self.after is None:
            return True
        return load_matters(self.before.figures(), self.after.figures())


@dataclass(frozen=True, slots=True)
class PlanDifference:
    """All differences of two plans, and what they have in common."""

    relation: Literal["same facts", "other facts"]
    """Whether both were made from the same inventory."""
    what_if: tuple[str, ...]
    """The first lines of the later plan, if it is a what-if."""
    findings: ListDifference[PlanFinding]
    undecided: tuple[PlanFinding, ...]
    """Findings of the earlier plan that the later one, a what-if, can no longer judge; they are not gone."""
    recommendations: ListDifference[PlanRecommendation]
    groups_new: tuple[str, ...]
    groups_gone: tuple[str, ...]
    loads: tuple[LoadChange, ...]
    """Strategies in use first, those whose change matters before the others."""


def difference(before: Plan, after: Plan) -> PlanDifference:
    """Compare two plans of two days, or a plan with a what-if of it (``after``).

    A finding is still there if the later plan has one of the same rule about the same group, topic and broker. Of
    several, those with the same subjects are paired first. A recommendation is still there if the later plan has its
    id, which depends on what is to be done, or the same action for the same group and topic.
    Errors: BadInput if they are of two clusters.
    """
    if before.cluster_name != after.cluster_name:
        names = f"{before.cluster_name} and {after.cluster_name}"
        raise BadInput("the two plans", "$.cluster_name", f"are of two clusters, {names}; expected one")
    groups_before, groups_after = _groups(before), _groups(after)
    findings, undecided = _without_undecided(
        _changes(before.findings, after.findings, (place_with_subjects, place_of), urgency), after
    )
    return PlanDifference(
        relation="same facts" if before.fingerprint == after.fingerprint else "other facts",
        what_if=() if after.scenario is UNSET else tuple(first_lines(after.scenario)),
        findings=findings,
        undecided=undecided,
        recommendations=_changes(before.recommendations, after.recommendations, (ID, ADVICE), _advice_order),
        groups_new=tuple(sorted(groups_after.keys() - groups_before.keys())),
        groups_gone=tuple(sorted(groups_before.keys() - groups_after.keys())),
        loads=_loads(groups_before, groups_after),
    )


def _without_undecided(
    findings: ListDifference[PlanFinding], after: Plan
) -> tuple[ListDifference[PlanFinding], tuple[PlanFinding, ...]]:
    """The changes without the findings that a what-if can no longer judge, and these findings."""
    in_doubt = () if after.scenario is UNSET else after.scenario.findings_undecided
    named = {place_of(one) for one in in_doubt}
    undecided = tuple(one for one in findings.gone if place_of(one) in named)
    gone = tuple(one for one in findings.gone if place_of(one) not in named)
    return replace(findings, gone=gone), undecided


def _changes(
    before: Sequence[Item],
    after: Sequence[Item],
    identities: Sequence[Callable[[Item], Any]],
    order: Callable[[Item], Any],
) -> ListDifference[Item]:
    still, old, new = paired(before, after, identities)
    return ListDifference(
        tuple(sorted(new, key=order)),
        tuple(sorted(old, key=order)),
        tuple(sorted(still, key=lambda pair: order(pair[1]))),
    )


def _advice_order(recommendation: PlanRecommendation) -> tuple[Any, ...]:
    return (*nulls_first(*ADVICE(recommendation)), recommendation.id)


def _groups(plan: Plan) -> dict[str, GroupPlan]:
    return {group.consumer_group: group for group in plan.groups}


def _loads(before: Mapping[str, GroupPlan], after: Mapping[str, GroupPlan]) -> tuple[LoadChange, ...]:
    changes = []
    for name in before.keys() | after.keys():
        old, new = _strategies(before.get(name)), _strategies(after.get(name))
        old_in_use, new_in_use = _in_use(before.get(name)), _in_use(after.get(name))
        for strategy in old.keys() | new.keys():
            is_used = (strategy == old_in_use, strategy == new_in_use)
            changes.append(LoadChange(name, strategy, is_used, old.get(strategy), new.get(strategy)))
    return tuple(sorted(changes, key=lambda c: (not any(c.in_use), not c.matters, c.consumer_group, c.strategy)))


def _in_use(group: GroupPlan | None) -> str | None:
    now = None if group is None else in_use(group)
    return None if now is None else now.strategy


def _strategies(group: GroupPlan | None) -> dict[str, StrategyInPlan]:
    held = () if group is None else group.strategies
    return {strategy.strategy: _load(strategy) for strategy in held if strategy.applicable}


def _load(strategy: StrategyPlan) -> StrategyInPlan:
    return StrategyInPlan(
        idle=len(strategy.idle_clients) if strategy.is_known else None,
        orphans=len(strategy.orphan_queues) if strategy.is_known else None,
        count_peak=None if strategy.count is None else strategy.count.peak,
        traffic_peak=None if strategy.traffic is None else strategy.traffic.peak,
    )
