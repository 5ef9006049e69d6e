"""A broker whose disk fills for certain, and a group whose traffic grows."""

from typing import Any, Final

from msgspec.structs import fields

from rocketmq_capacity.plan_file.broker import BrokerPlan, DiskForecast, DiskLevel
from rocketmq_capacity.plan_file.group import TrafficForecast

LEVELS: Final = (
    DiskLevel(used_ratio=0.75, earliest_days=0.0, likely_days=0.0, latest_days=0.0),
    DiskLevel(used_ratio=0.85, earliest_days=1.5, likely_days=2.0, latest_days=4.0),
)


GROWING: Final = TrafficForecast(
    known_days=28,
    msgs_per_s=90.0,
    per_day_msgs_per_s=5.0,
    least_per_day_msgs_per_s=0.0,
    most_per_day_msgs_per_s=10.0,
    full_msgs_per_s=100.0,
    earliest_days=1.0,
    likely_days=2.0,
)


def a_filling_broker(name: str = "broker-a", latest_days: float | None = 9.0) -> BrokerPlan:
    """A broker of which nothing else is known; it refuses messages after ``latest_days`` at the latest."""
    last = DiskLevel(used_ratio=0.9, earliest_days=3.0, likely_days=4.5, latest_days=latest_days)
    unknown: dict[str, Any] = {field.name: None for field in fields(BrokerPlan) if field.required}
    return BrokerPlan(
        **(unknown | {"broker_name": name, "topics": 1}),
        disk_forecast=DiskForecast(
            known_days=9,
            per_day_ratio=0.02,
            least_per_day_ratio=0.0,
            most_per_day_ratio=0.04,
            levels=(*LEVELS, last),
        ),
    )
