"""How much more traffic a group bears before it breaks."""

from dataclasses import dataclass

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.lateness import longest_wait_s
from rocketmq_capacity.vocabulary import MAX_LAG, UTILISATION, Breaks


@dataclass(frozen=True, slots=True)
class GroupHeadroom:
    """So many times the traffic at the peak, and the measured traffic, until something breaks, and what breaks."""

    factor: float
    measured_factor: float | None
    breaks: Breaks


def group_headroom(group: AssessedGroup) -> GroupHeadroom | None:
    """The headroom of a group as its clients are, outliers included; None if unknown, or without traffic."""
    known = [one for one in (_of_clients(group), _of_waits(group)) if one is not None]
    return min(known, key=lambda one: one.factor, default=None)


def _of_waits(group: AssessedGroup) -> GroupHeadroom | None:
    """Until messages wait longer than ``max_lag_s`` of the group's entry in the policy.

    Messages that wait grow with traffic, and their wait with them. Up to what comes between two commits
    (``LOW_UTILISATION.min_growth_s``) a wait says nothing.
    """
    allowed_s, wait_s = group.entry.max_lag_s, longest_wait_s(group)
    if not allowed_s or wait_s is None or wait_s <= group.policy.thresholds.LOW_UTILISATION.min_growth_s:
        return None
    return GroupHeadroom(allowed_s / wait_s / group.peak.scale, allowed_s / wait_s, MAX_LAG)


def _of_clients(group: AssessedGroup) -> GroupHeadroom | None:
    """Until the busiest client goes above its bound.

    Work grows with traffic, so the factor is the policy's bound / the busy share of the busiest client.
    """
    bound = group.policy.thresholds.PROVISION.under_utilisation
    use, at_peak = group.provision.utilisation, group.provision.at_peak
    if use is None or at_peak is None or not at_peak.estimate:
        return None
    measured = bound / use.estimate if use.estimate else None
    return GroupHeadroom(bound / at_peak.estimate, measured, UTILISATION)
