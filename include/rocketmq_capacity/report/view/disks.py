"""The disks that fill: how full they were on each day, and when they are full by their trend."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.plan_file.broker import BrokerPlan, DiskForecast, DiskLevel
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.limits import DISKS
from rocketmq_capacity.report.panels import DASHED, DAY_S, Drawn, Level, Panel, PanelLine, panels
from rocketmq_capacity.report.rows import DiskDays
from rocketmq_capacity.wording import counted

AHEAD_DAYS: Final = 28.0
"""Days of the trend that are drawn."""
FAR_DAYS: Final = 3_650.0
"""A date that is further away is not told: the trend is of some weeks."""


def disks_of(brokers: Sequence[BrokerPlan], days: Sequence[DiskDays], taken_at: str) -> Drawn | None:
    """The picture, those that are full first on top; None if no disk fills for certain.

    Args:
        brokers: the masters.
        days: how full the disks of masters were.
        taken_at: when the snapshot was taken.
    """
    filling = [(one.broker_name, forecast) for one in brokers if (forecast := one.disk_forecast) is not UNSET]
    shown = sorted(filling, key=lambda one: (one[1].levels[-1].likely_days, one[0]))[:DISKS]
    if not shown:
        return None
    now, known = datetime.fromisoformat(taken_at), {one.broker_name: one for one in days if one.broker_id == 0}
    title = "Disks that fill"
    described = (
        f"A panel for each of {counted(len(shown), 'disk')}: how full it was, and by its trend will be for"
        f" {number(AHEAD_DAYS)} days. The table below has the dates."
    )
    levels = shown[0][1].levels
    return Drawn(
        picture=panels(
            [_panel(name, forecast, known.get(name), now) for name, forecast in shown], "disks", title, described
        ),
        caption=title,
        headers=("Broker", "A day more", *(f"Above {per_cent(level.used_ratio)} from" for level in levels)),
        rows=tuple(
            (name, per_cent(forecast.per_day_ratio), *(_date(level, now) for level in forecast.levels))
            for name, forecast in shown
        ),
    )


def _panel(name: str, forecast: DiskForecast, days: DiskDays | None, now: datetime) -> Panel:
    now_s, today = now.timestamp(), _today(forecast)
    past = (
        []
        if days is None
        else [
            (now_s - ago * DAY_S, ratio) for ago, ratio in zip(days.disk_days_ago, days.disk_used_ratios, strict=True)
        ]
    )
    slopes = forecast.least_per_day_ratio, forecast.per_day_ratio, forecast.most_per_day_ratio
    least, likely, most = (
        [(now_s, today), (now_s + AHEAD_DAYS * DAY_S, min(today + slope * AHEAD_DAYS, 1.0))] for slope in slopes
    )
    return Panel(
        name,
        (PanelLine(past, "var(--bar)", gap_s=1.5 * DAY_S), PanelLine(likely, "var(--bar)", dashes=DASHED)),
        levels=tuple(Level(level.used_ratio, "") for level in forecast.levels),
        band=(least, most),
        is_share=True,
        most=1.0,
    )


def _today(forecast: DiskForecast) -> float:
    """The used share of today by the trend; a level that is reached says no more than that."""
    left = next((level for level in forecast.levels if level.likely_days), None)
    if left is None:
        return forecast.levels[-1].used_ratio
    return left.used_ratio - forecast.per_day_ratio * left.likely_days


def _date(level: DiskLevel, now: datetime) -> str:
    """The most likely day, and the earliest and the latest."""
    if not level.likely_days:
        return "reached"
    likely, earliest = _day(level.likely_days, now), _day(level.earliest_days, now)
    latest = "never" if level.latest_days is None else _day(level.latest_days, now)
    return f"{likely} ({earliest} to {latest})"


def _day(days: float, now: datetime) -> str:
    return "never" if days > FAR_DAYS else str((now.astimezone(UTC) + timedelta(days=days)).date())
