"""Which groups and topics come first where not all have a place: the worst findings first, then the busiest."""

from collections.abc import Iterable
from typing import Final

from rocketmq_capacity.plan_file.finding import PlanFinding, still_open
from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.vocabulary import SEVERITIES, java_order

WITHOUT_FINDING: Final = len(SEVERITIES)
WITHOUT_TIER: Final = 2**31


def groups_worst_first(plan: Plan) -> list[GroupPlan]:
    """All groups by their worst open finding, then tier, then how busy they are; unknown comes last."""
    ranks = _ranks((finding.consumer_group, finding) for finding in still_open(plan.findings))

    def place(group: GroupPlan) -> tuple[int, int, float, bytes]:
        busy = -1.0 if group.utilisation is None else group.utilisation.estimate
        tier = WITHOUT_TIER if group.tier is None else group.tier
        return ranks.get(group.consumer_group, WITHOUT_FINDING), tier, -busy, java_order(group.consumer_group)

    return sorted(plan.groups, key=place)


def topics_worst_first(plan: Plan) -> list[str]:
    """Every topic that a group reads or a finding names, by its worst open finding, then by name."""
    ranks = _ranks((finding.topic, finding) for finding in still_open(plan.findings))
    names = {topic for group in plan.groups for topic in group.topics} | set(ranks)
    return sorted(names, key=lambda name: (ranks.get(name, WITHOUT_FINDING), java_order(name)))


def _ranks(named: Iterable[tuple[str | None, PlanFinding]]) -> dict[str, int]:
    """By name, how bad its worst finding is: 0 is CRITICAL."""
    ranks: dict[str, int] = {}
    for name, finding in named:
        if name is not None:
            ranks[name] = min(ranks.get(name, WITHOUT_FINDING), SEVERITIES.index(finding.severity))
    return ranks
