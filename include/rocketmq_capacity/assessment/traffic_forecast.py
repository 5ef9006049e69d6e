"""CONSUMER_CAPACITY before the traffic of a group has outgrown its clients."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.capacity import CONSUMER_CAPACITY, TrafficGrowsEvidence, needed_queues_of, rooms_of
from rocketmq_capacity.assessment.coming_events import needed_for
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.more_queues import MoreQueues, more_queues, queues_and_clients
from rocketmq_capacity.assessment.traffic_trend import TrafficTrend
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import UNDER, WARNING
from rocketmq_capacity.wording import counted, percent, rounded


def outgrown(group: AssessedGroup) -> TrafficTrend | None:
    """The trend of a group whose clients will be too busy within the policy's days, and are not yet; else None."""
    growth, days = group.traffic_trend, group.policy.thresholds.PROVISION.forecast_days
    if growth is None or group.provision.status == UNDER:
        return None
    return growth if growth.trend.days_until(growth.full_msgs_per_s)[1] <= days else None


def clients_then(group: AssessedGroup, growth: TrafficTrend) -> int | None:
    """How many clients are enough for the traffic in the policy's days; None if no number is, or if it is unknown."""
    factor, group = factor_then(group, growth), group.apart
    if group.planned_work is None or not group.peak.msgs_per_s:
        return None
    return needed_for(group, np.full(len(group.division.queues.topics), factor))


def factor_then(group: AssessedGroup, growth: TrafficTrend) -> float:
    """How many times the traffic of the peak comes in the policy's days, at least once."""
    days, peak = group.policy.thresholds.PROVISION.forecast_days, group.peak.msgs_per_s
    return max(1.0, (growth.trend.now + growth.trend.per_day * days) / peak) if peak else 1.0


def full_of_queues(group: AssessedGroup) -> float | None:
    """Messages a second from which on queues are too few: the busiest of as many clients as can own one is too busy.

    None if clients can always be added, as under POP, or if it is unknown how busy so many would be. Work grows with
    traffic.
    """
    most, bound, peak = group.useful_clients, group.policy.thresholds.PROVISION.under_utilisation, group.peak
    share = group.apart.sizes.share(most) if most else None
    return peak.msgs_per_s * bound / share if share and peak.msgs_per_s else None


def queues_then(group: AssessedGroup, growth: TrafficTrend) -> MoreQueues | None:
    """The fewest queues of a topic that are enough for the traffic in the policy's days; None if no number is."""
    factor, group = factor_then(group, growth), group.apart
    staff, work, bound = group.staff, group.planned_work, group.policy.thresholds.PROVISION.under_utilisation
    if work is None or staff.mends_first is not None:
        return None
    then, msgs_per_s = replace(work, incoming_msgs_per_s=work.incoming_msgs_per_s * factor), staff.planned_msgs_per_s
    peak = replace(staff.peak, of_queues=msgs_per_s * factor)
    staff = replace(staff, planned_msgs_per_s=msgs_per_s * factor, planned_work=then, peak=peak)
    return more_queues(staff, then, bound, is_harmed=group.is_harmed) or queues_and_clients(staff, then, bound)


def traffic_grows(group: AssessedGroup) -> Iterator[Finding]:
    """CONSUMER_CAPACITY: the clients will be too busy within the policy's days; those that are have their finding."""
    forecast, at_peak, bounds = outgrown(group), group.provision.at_peak, group.policy.thresholds.PROVISION
    if forecast is None or at_peak is None:
        return
    trend = forecast.trend
    earliest, likely, latest = trend.days_until(forecast.full_msgs_per_s)
    needed, full_of_all = clients_then(group, forecast), full_of_queues(group)
    queues = queues_then(group, forecast) if needed is None else None
    longest = "and perhaps never" if latest is None else f"and at most {rounded(latest, 1)}"
    yield finding(
        CONSUMER_CAPACITY,
        WARNING,
        consumer_group=group.name,
        subjects=[group.provision.busiest_client or ""],
        evidence=TrafficGrowsEvidence(
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
            needed_rooms=rooms_of(group.apart, needed),
            max_useful_clients=group.useful_clients,
            queues_full_msgs_per_s=rounded(full_of_all),
            queues_likely_days=None if full_of_all is None else rounded(trend.days_until(full_of_all)[1], 1),
            then_busy_ratio=rounded(at_peak.estimate * factor_then(group, forecast)),
            needed_queues=None if queues is None else needed_queues_of(queues),
            queues_busy_ratio=None if queues is None else rounded(queues.busy_ratio),
        ),
        message=f"Its traffic grows by {rounded(trend.per_day, 1)} msg/s a day, as {counted(trend.points, 'day')} show."
        f" The busiest client is above {percent(bounds.under_utilisation)} from"
        f" {rounded(forecast.full_msgs_per_s, 1)} msg/s on: in about {rounded(likely, 1)} days, at least"
        f" {rounded(earliest, 1)} {longest}.",
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (traffic_grows,)
