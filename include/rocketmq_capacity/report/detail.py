"""Which groups the page shows in detail."""

from typing import Final

from rocketmq_capacity.plan_file.group import GroupPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.limits import GROUPS_IN_DETAIL
from rocketmq_capacity.report.wording import STATUS_WORDS
from rocketmq_capacity.vocabulary import INFO, OVER, SEVERITIES, UNDER, Severity

SEVERITY_RANK: Final[dict[Severity, int]] = {severity: rank for rank, severity in enumerate(SEVERITIES)}
STATUS_RANK: Final = {status: rank for rank, status in enumerate((UNDER, OVER))}
NOT_FLAGGED: Final = len(SEVERITIES)


def detailed_groups(plan: Plan) -> tuple[str, ...]:
    """Names of the groups with a section of their own, worst first; the page needs ``client_load`` only of these.

    They are the worst groups that need a change. The others are only in the table of groups.
    """
    flagged = flagged_groups(plan)
    return tuple(name for name in worst_groups(plan) if name in flagged)[:GROUPS_IN_DETAIL]


def flagged_groups(plan: Plan) -> frozenset[str]:
    """Names of the groups that a finding of WARNING or CRITICAL is about."""
    names = {group.consumer_group for group in plan.groups}
    flagged = {
        finding.consumer_group for finding in plan.findings if finding.severity != INFO and finding.accepted is None
    }
    return frozenset(name for name in flagged if name in names)


def worst_groups(plan: Plan) -> tuple[str, ...]:
    """Names of all groups, worst first: by severity, provision status and number of findings."""
    worst: dict[str, int] = {}
    count: dict[str, int] = {}
    for finding in plan.findings:
        group = finding.consumer_group
        if group is not None and finding.accepted is None:
            rank = SEVERITY_RANK[finding.severity]
            worst[group] = min(worst.get(group, NOT_FLAGGED), rank)
            count[group] = count.get(group, 0) + 1

    def key(group: GroupPlan) -> tuple[int, int, int, str]:
        name = group.consumer_group
        status = STATUS_RANK.get(group.provision_status, len(STATUS_WORDS))
        return worst.get(name, NOT_FLAGGED), status, -count.get(name, 0), name

    return tuple(group.consumer_group for group in sorted(plan.groups, key=key))
