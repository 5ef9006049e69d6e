"""When the traffic of a group outgrows its clients, as plan.json gives it."""

from msgspec import UNSET, UnsetType

from rocketmq_capacity.model.trend import Trend
from rocketmq_capacity.plan_file.group import NoQueues, QueuesForecast, TrafficForecast
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.tables import GroupStatus


def traffic_forecast_of(row: GroupStatus) -> TrafficForecast | UnsetType:
    """The forecast of a group; unset if its traffic does not grow for certain."""
    now, per_day, full = row.traffic_msgs_per_s, row.traffic_per_day_msgs_per_s, row.full_msgs_per_s
    least, most = row.traffic_least_per_day_msgs_per_s, row.traffic_most_per_day_msgs_per_s
    if now is None or per_day is None or full is None or least is None or most is None:
        return UNSET
    trend = Trend(now, per_day, least, most, row.traffic_known_days or 0)
    earliest, likely, latest = trend.days_until(full)
    queues_full = row.queues_full_msgs_per_s
    forecast: TrafficForecast = steady(
        TrafficForecast(
            known_days=trend.points,
            msgs_per_s=now,
            per_day_msgs_per_s=per_day,
            least_per_day_msgs_per_s=least,
            most_per_day_msgs_per_s=most,
            full_msgs_per_s=full,
            earliest_days=earliest,
            likely_days=likely,
            latest_days=latest,
            queues=None if queues_full is None else _queues(trend, queues_full),
            no_queues=None if queues_full is not None else _no_queues(row),
        )
    )
    return forecast


def _queues(trend: Trend, full: float) -> QueuesForecast:
    earliest, likely, latest = trend.days_until(full)
    return QueuesForecast(full_msgs_per_s=full, earliest_days=earliest, likely_days=likely, latest_days=latest)


def _no_queues(row: GroupStatus) -> NoQueues:
    return "NO_LIMIT" if row.max_useful_clients is None else "UNKNOWN"
