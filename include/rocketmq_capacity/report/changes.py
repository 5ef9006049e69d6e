"""What is new, worse and gone since the plan before."""

from collections.abc import Sequence
from typing import Any

from rocketmq_capacity.plan_file.changes import Changes, Figure, Gone, Worse, grown
from rocketmq_capacity.plan_file.finding import Finding
from rocketmq_capacity.plan_file.pairs import paired, place_of
from rocketmq_capacity.report.answering import urgency
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.impact import impact_of


def changes_of(before: Sequence[Finding], now: Sequence[Finding], since: str, worse_factor: float) -> Changes:
    """Compare the findings of two plans.

    A finding is the same if rule, group, topic and broker are. Of several, those with the same subjects are paired
    first.

    Args:
        before: the findings of the plan before.
        now: the findings of this plan.
        since: when the snapshot of the plan before was taken.
        worse_factor: a figure of an impact that is at least this many times what it was is worse.
    """
    pairs, gone, new = paired(before, now, (_with_subjects, place_of))
    found = ((was, is_now, _worse_figures(was, is_now, worse_factor)) for was, is_now in pairs)
    worse = [
        (is_now, Worse(finding=is_now.id, severity_before=was.severity, figures=figures))
        for was, is_now, figures in found
        if figures or SEVERITY_RANK[is_now.severity] < SEVERITY_RANK[was.severity]
    ]
    return Changes(
        since=since,
        new=tuple(one.id for one in sorted(new, key=urgency)),
        worse=tuple(one for _, one in sorted(worse, key=lambda pair: urgency(pair[0]))),
        gone=tuple(_gone(one) for one in sorted(gone, key=urgency)),
    )


def _with_subjects(finding: Finding) -> tuple[Any, ...]:
    return (*place_of(finding), finding.subjects)


def _worse_figures(was: Finding, now: Finding, factor: float) -> tuple[Figure, ...]:
    return tuple(grown(impact_of([was]), impact_of([now]), factor))


def _gone(finding: Finding) -> Gone:
    return Gone(
        id=finding.id,
        rule=finding.rule,
        severity=finding.severity,
        consumer_group=finding.consumer_group,
        topic=finding.topic,
        broker_name=finding.broker_name,
        message=finding.message,
    )
