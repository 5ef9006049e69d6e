"""The traffic of a group by hour and weekday: a heat map, with a table of the same numbers."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.language.current import words
from rocketmq_capacity.report.figures import UNKNOWN, number
from rocketmq_capacity.report.panels import Drawn
from rocketmq_capacity.report.timeline import image, words_at
from rocketmq_capacity.tables.snapshot.groups import GroupHour

WEEKDAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
HOURS: Final = range(24)
CELL_WIDTH: Final = 10
CELL_HEIGHT: Final = 20
LEFT: Final = 78
"""Pixels for the names of the weekdays."""
TOP: Final = 20
SHADES: Final = 8
"""Cells of one shade are one path: a page has many of these pictures."""
PALEST: Final = 0.1
Week = Mapping[tuple[int, int], float]
"""Messages a second by weekday and hour; what is unknown is missing."""


def week_of(name: str, hours: Sequence[GroupHour], chart_id: str) -> Drawn | None:
    """The week of a group; None if fewer hours than a day has are known. An hour known several times is their mean."""
    known: dict[tuple[int, int], list[float]] = {}
    for figures in hours:
        if figures.msgs_per_s is not None:
            at = datetime.fromisoformat(figures.at)
            known.setdefault((at.weekday(), at.hour), []).append(figures.msgs_per_s)
    if len(known) < len(HOURS):
        return None
    week = {hour: fmean(rates) for hour, rates in known.items()}
    title = f"The week of {name}: messages/s by hour and weekday (UTC)"
    described = (
        "One line for each weekday, one column for each hour; the stronger the colour, the more messages come."
        f" {len(week)} of 168 hours are known. The table below holds the same numbers."
    )
    return Drawn(
        picture=_drawn(week, chart_id, title, described),
        caption=title,
        headers=("Hour (UTC)", *WEEKDAYS),
        rows=tuple(
            (f"{hour:02}:00", *(number(week[day, hour]) if (day, hour) in week else UNKNOWN for day in range(7)))
            for hour in HOURS
        ),
    )


def _drawn(week: Week, chart_id: str, title: str, described: str) -> Markup:
    parts = [
        words_at(LEFT - 8, TOP + CELL_HEIGHT * place + 14, words(day), "end", "var(--text)")
        for place, day in enumerate(WEEKDAYS)
    ]
    parts += [
        words_at(LEFT + CELL_WIDTH * (hour + 0.5), TOP - 6, str(hour), "middle", "var(--muted)") for hour in HOURS[::3]
    ]
    most = max(week.values()) or 1.0
    shades: dict[int, list[str]] = {}
    for (day, hour), rate in sorted(week.items()):
        corner = f"M{LEFT + CELL_WIDTH * hour + 1} {TOP + CELL_HEIGHT * day + 1}"
        cell = f"{corner}h{CELL_WIDTH - 2}v{CELL_HEIGHT - 2}h{2 - CELL_WIDTH}z"
        shades.setdefault(round(rate / most * SHADES), []).append(cell)
    parts += [
        f'<path d="{"".join(cells)}" fill="var(--bar)" fill-opacity="{PALEST + (1 - PALEST) * shade / SHADES:.2f}">'
        "</path>"
        for shade, cells in sorted(shades.items())
    ]
    return image(parts, TOP + CELL_HEIGHT * len(WEEKDAYS) + 2, chart_id, title, described)
