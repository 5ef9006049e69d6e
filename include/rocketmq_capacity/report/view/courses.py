"""A group over the days: its traffic, lag and clients by hour, its week as a heat map, and how its traffic grows."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import groupby
from math import ceil
from typing import Final

from msgspec import UNSET

from rocketmq_capacity.language.current import phrase
from rocketmq_capacity.model.sums import most_of
from rocketmq_capacity.plan_file.group import TrafficForecast
from rocketmq_capacity.plan_file.ledger import LedgerEntry
from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.panels import DASHED, DAY_S, HOUR_S, Drawn, Level, Mark, Panel, PanelLine, panels
from rocketmq_capacity.report.traffic_forecast import traffic_forecast_of
from rocketmq_capacity.report.view.week import week_of
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from rocketmq_capacity.vocabulary import UTILISATION
from rocketmq_capacity.wording import counted

GAP_S: Final = 1.5 * HOUR_S
"""Hours that are further apart are not joined by a line."""
POINTS: Final = 336
"""Of a line: two weeks of hours. A line of more hours has a point for several."""
AHEAD_DAYS: Final = (0, 7, 14, 28)
"""Days of a forecast that its table has."""
DONE: Final = ("CARRIED_OUT", "VERIFIED", "FAILED")
"""States of a recommendation that somebody has carried out, rightly or not."""


@dataclass(frozen=True, slots=True)
class GroupCourse:
    """A group over the days.

    Attributes:
        days: its traffic, lag and clients by hour; the table has a line a day.
        point_hours: hours of each point in the picture.
        changes: what was changed when, by its number in the picture.
        has_most: whether the most between two samples is drawn, too.
        week: its traffic by hour and weekday; None if fewer hours than a day has are known.
        forecast: how its traffic grows; None if it does not for certain.
    """

    days: Drawn
    point_hours: int
    changes: tuple[str, ...]
    has_most: bool
    week: Drawn | None
    forecast: Drawn | None


def course_of(
    status: GroupStatus,
    hours: Sequence[GroupHour],
    days: Sequence[GroupDay],
    done: Iterable[LedgerEntry],
    chart_id: str,
) -> GroupCourse | None:
    """A group over the days; None if fewer than two hours are known.

    Args:
        status: of the group.
        hours: its rows of ``group_hour``.
        days: its rows of ``group_day``.
        done: the ledger's entries of the group.
        chart_id: unique on the page.
    """
    ordered = sorted(hours, key=lambda one: one.at)
    if len(ordered) < 2:
        return None
    name = status.consumer_group
    changes = sorted((one for one in done if one.state in DONE), key=lambda one: (one.at, one.id))
    capacity = _capacity(status)
    forecast = traffic_forecast_of(status)
    return GroupCourse(
        days=_days_drawn(name, ordered, changes, capacity, f"days-{chart_id}"),
        point_hours=_point_hours(ordered),
        changes=tuple(
            phrase("{number}: {action}, found on {day}", number=place, action=one.action, day=one.at[:10])
            for place, one in enumerate(changes, 1)
        ),
        has_most=any(one.most_msgs_per_s is not None for one in ordered),
        week=week_of(name, ordered, f"week-{chart_id}"),
        forecast=None
        if forecast is UNSET
        else _forecast_drawn(name, forecast, sorted(days, key=lambda one: one.day), f"ahead-{chart_id}"),
    )


@dataclass(frozen=True, slots=True)
class _Capacity:
    """How much traffic the clients of today bear: at ``msgs_per_s`` the busiest one is busy for ``bound``."""

    msgs_per_s: float
    bound: float

    def busy(self, msgs_per_s: float) -> float:
        return self.bound * msgs_per_s / self.msgs_per_s


def _capacity(status: GroupStatus) -> _Capacity | None:
    """None if unknown, or if messages wait too long before the busiest client is too busy."""
    peak, factor, use = status.peak_msgs_per_s, status.headroom_factor, status.utilisation
    measured = status.headroom_measured_factor
    if status.headroom_breaks != UTILISATION or not (peak and factor and use and measured):
        return None
    return _Capacity(peak * factor, use * measured)


def _days_drawn(
    name: str, hours: Sequence[GroupHour], changes: Sequence[LedgerEntry], capacity: _Capacity | None, chart_id: str
) -> Drawn:
    title = f"Traffic, lag and clients of {name} over the days"
    drawn = [
        Panel(
            "Messages/s, and how busy today's busiest client is" if capacity else "Messages/s",
            (
                _line(hours, "most_msgs_per_s", "var(--warning-line)", 1.0),
                _line(hours, "msgs_per_s"),
            ),
            levels=(Level(capacity.msgs_per_s, f"The busiest client is busy for {per_cent(capacity.bound)}"),)
            if capacity
            else (),
            whole=None if capacity is None else capacity.msgs_per_s / capacity.bound,
        ),
        Panel("Messages not read, at most", (_line(hours, "most_lag"),)),
        Panel("Clients", (_line(hours, "clients"),)),
    ]
    known = [panel for panel in drawn if any(value is not None for line in panel.lines for _, value in line.points)]
    described = (
        f"Lines over {counted(len(hours), 'hour')}, from {hours[0].at[:10]} to {hours[-1].at[:10]}. The table below"
        " holds the busiest hour of each day, of the last days only if there are many."
    )
    rows = [_day_row(day, list(own), capacity) for day, own in groupby(hours, key=lambda one: one.at[:10])]
    marks = [Mark(_at_s(one.at), place) for place, one in enumerate(changes, 1)]
    return Drawn(
        picture=panels(known, chart_id, title, described, marks),
        caption=title,
        headers=(
            "Day (UTC)",
            "Busiest hour",
            "Messages/s in it",
            "Busiest of today's clients then",
            "Most between two samples",
            "Most not read",
            "Clients",
        ),
        rows=tuple(rows[-TABLE_ROWS:]),
    )


def _point_hours(hours: Sequence[GroupHour]) -> int:
    return ceil(len(hours) / POINTS)


def _line(hours: Sequence[GroupHour], figure: str, colour: str = "var(--bar)", width: float = 1.6) -> PanelLine:
    """A point at the middle of each hour, or of several, which has the highest of their values."""
    shared = _point_hours(hours)
    points = []
    for first in range(0, len(hours), shared):
        of_point = hours[first : first + shared]
        middle_s = (_at_s(of_point[0].at) + _at_s(of_point[-1].at) + HOUR_S) / 2
        points.append((middle_s, most_of(getattr(one, figure) for one in of_point)))
    return PanelLine(points, colour, GAP_S * shared, width=width)


def _day_row(day: str, hours: Sequence[GroupHour], capacity: _Capacity | None) -> tuple[str, ...]:
    rated = [(one.msgs_per_s, one.at) for one in hours if one.msgs_per_s is not None]
    busiest = max(rated, key=lambda one: one[0], default=None)
    clients = [one.clients for one in hours if one.clients is not None]
    few, many = (min(clients), max(clients)) if clients else (None, None)
    return (
        day,
        UNKNOWN if busiest is None else busiest[1][11:16],
        UNKNOWN if busiest is None else number(busiest[0]),
        UNKNOWN if busiest is None or capacity is None else per_cent(capacity.busy(busiest[0])),
        number(most_of(one.most_msgs_per_s for one in hours)),
        number(most_of(one.most_lag for one in hours)),
        number(few) if few == many else f"{number(few)} to {number(many)}",
    )


def _forecast_drawn(name: str, forecast: TrafficForecast, days: Sequence[GroupDay], chart_id: str) -> Drawn:
    """Its past days, and the trend with its interval for as many days ahead as the table has."""
    title = f"How the traffic of {name} grows"
    today_s = _at_s(days[-1].day) + DAY_S / 2 if days else 0.0
    slopes = forecast.least_per_day_msgs_per_s, forecast.per_day_msgs_per_s, forecast.most_per_day_msgs_per_s
    least, likely, most = (
        [(today_s + day * DAY_S, max(forecast.msgs_per_s + slope * day, 0.0)) for day in AHEAD_DAYS] for slope in slopes
    )
    panel = Panel(
        "Messages/s in the busy hour of each day",
        (
            PanelLine([(_at_s(one.day), one.msgs_per_s) for one in days], "var(--bar)", gap_s=1.5 * DAY_S),
            PanelLine(likely, "var(--bar)", dashes=DASHED),
        ),
        levels=(
            Level(forecast.full_msgs_per_s, "Too much for the clients"),
            *([] if forecast.queues is None else [Level(forecast.queues.full_msgs_per_s, "Too much for the queues")]),
        ),
        band=(least, most),
    )
    described = (
        f"A line over {counted(forecast.known_days, 'day')}, and a dashed one with a band for {AHEAD_DAYS[-1]} days to"
        " come. The table below has the numbers of the latter."
    )
    return Drawn(
        picture=panels([panel], chart_id, title, described),
        caption=title,
        headers=("In so many days", "Messages/s at least", "Most likely", "At most"),
        rows=tuple(
            (number(day), *(number(line[place][1]) for line in (least, likely, most)))
            for place, day in enumerate(AHEAD_DAYS)
        ),
    )


def _at_s(text: str) -> float:
    """A moment, or the noon of a day, in seconds since 1970."""
    if len(text) == len("2026-11-20"):
        return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp() + DAY_S / 2
    return datetime.fromisoformat(text).timestamp()
