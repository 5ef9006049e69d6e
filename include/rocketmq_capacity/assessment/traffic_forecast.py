"""CONSUMER_CAPACITY before the traffic of a group has outgrown its clients."""

from collections.abc import Iterator
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.capacity import CONSUMER_CAPACITY, WillBeTooBusy
from rocketmq_capacity.assessment.coming_events import needed_for
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import Group, GroupRule
from rocketmq_capacity.assessment.traffic_trend import TrafficTrend
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import UNDER, WARNING
from rocketmq_capacity.wording import counted, percent, rounded


def outgrown(group: Group) -> TrafficTrend | None:
    """The trend of a group whose clients will be too busy within the policy's days, and are not yet; else None."""
    growth, days = group.traffic_trend, group.policy.thresholds.PROVISION.forecast_days
    if growth is None or group.provision.status == UNDER:
        return None
    return growth if growth.trend.days_until(growth.full_msgs_per_s)[1] <= days else None


def clients_then(group: Group, growth: TrafficTrend) -> int | None:
    """How many clients are enough for the traffic in the policy's days; None if no number is, or if it is unknown."""
    days, group = group.policy.thresholds.PROVISION.forecast_days, group.apart
    if group.planned_work is None or not group.peak.msgs_per_s:
        return None
    factor = max(1.0, (growth.trend.now + growth.trend.per_day * days) / group.peak.msgs_per_s)
    return needed_for(group, np.full(len(group.division.queues.topics), factor))


def traffic_grows(group: Group) -> Iterator[Finding]:
    """CONSUMER_CAPACITY: the clients will be too busy within the policy's days; those that are have their finding."""
    forecast, at_peak, bounds = outgrown(group), group.provision.at_peak, group.policy.thresholds.PROVISION
    if forecast is None or at_peak is None:
        return
    trend = forecast.trend
    earliest, likely, latest = trend.days_until(forecast.full_msgs_per_s)
    needed = clients_then(group, forecast)
    longest = "and perhaps never" if latest is None else f"and at most {rounded(latest, 1)}"
    yield finding(
        CONSUMER_CAPACITY,
        WARNING,
        consumer_group=group.name,
        subjects=[group.provision.busiest_client or ""],
        evidence=WillBeTooBusy(
            known_days=trend.points,
            traffic_msgs_per_s=rounded(trend.now),
            per_day_msgs_per_s=rounded(trend.per_day),
            least_per_day_msgs_per_s=rounded(trend.lower),
            most_per_day_msgs_per_s=rounded(trend.upper),
            full_msgs_per_s=rounded(forecast.full_msgs_per_s),
            earliest_days=rounded(earliest, 1),
            likely_days=rounded(likely, 1),
            latest_days=None if latest is None else rounded(latest, 1),
            peak_utilisation_ratio=rounded(at_peak.estimate),
            clients=group.facts.connections,
            forecast_days=bounds.forecast_days,
            needed_clients=needed,
            needed_busy_ratio=needed and rounded(group.apart.sizes.share(needed)),
            max_useful_clients=group.max_useful_clients,
        ),
        message=f"Its traffic grows by {rounded(trend.per_day, 1)} msg/s a day, as {counted(trend.points, 'day')} show."
        f" The busiest client is above {percent(bounds.under_utilisation)} from"
        f" {rounded(forecast.full_msgs_per_s, 1)} msg/s on: in about {rounded(likely, 1)} days, at least"
        f" {rounded(earliest, 1)} {longest}.",
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (traffic_grows,)
