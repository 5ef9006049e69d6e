"""How the traffic of a group grows, and how much is too much."""

from dataclasses import dataclass

from rocketmq_capacity.assessment.peak import Peak
from rocketmq_capacity.assessment.provision import Provision
from rocketmq_capacity.model.facts import PastTraffic
from rocketmq_capacity.model.theil_sen import WEEK, trend_of
from rocketmq_capacity.model.trend import Trend
from rocketmq_capacity.vocabulary import UNDECIDED


@dataclass(frozen=True, slots=True)
class TrafficTrend:
    """How the traffic of a group grows.

    Attributes:
        trend: of its messages a second in the busy hours of each day; today's are those of a week's busiest day.
        full_msgs_per_s: messages a second from which on its busiest client is above its bound.
    """

    trend: Trend
    full_msgs_per_s: float


def traffic_trend(past: PastTraffic | None, verdict: Provision, peak: Peak, bound: float) -> TrafficTrend | None:
    """How the traffic of a group grows; None if it does not for certain, or if it is unknown how much is too much.

    Args:
        past: its traffic in the stored days; None without any.
        verdict: on its size.
        peak: the traffic for which the verdict holds.
        bound: busy share of the busiest client that is too much; work grows with traffic.
    """
    if past is None or verdict.status == UNDECIDED or verdict.at_peak is None or not verdict.at_peak.estimate:
        return None
    trend = trend_of([-float(days) for days in past.days_ago], past.daily_msgs_per_s, WEEK)
    if trend is None or not trend.is_rising or not peak.msgs_per_s:
        return None
    return TrafficTrend(trend, peak.msgs_per_s * bound / verdict.at_peak.estimate)
