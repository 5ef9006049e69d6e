"""How much more traffic a group bears before it breaks."""

from dataclasses import dataclass

from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.vocabulary import UTILISATION, Breaks


@dataclass(frozen=True, slots=True)
class GroupHeadroom:
    """So many times the traffic at the peak, and the measured traffic, until something breaks, and what breaks."""

    factor: float
    measured_factor: float | None
    breaks: Breaks


def group_headroom(group: Group) -> GroupHeadroom | None:
    """The headroom of a group as its clients are, outliers included; None if unknown, or without traffic.

    Work grows with traffic, so the factor is the policy's bound / the busy share of the busiest client.
    """
    bound = group.policy.thresholds.PROVISION.under_utilisation
    use, at_peak = group.provision.utilisation, group.provision.at_peak
    if use is None or at_peak is None or not at_peak.estimate:
        return None
    measured = bound / use.estimate if use.estimate else None
    return GroupHeadroom(bound / at_peak.estimate, measured, UTILISATION)
