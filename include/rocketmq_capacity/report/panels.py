"""Pictures of figures over time: one panel a figure, one above the other, with the same days below.

The SVG is written here and not by the charts' engine: a page has many of these pictures, and they have only lines.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.language.current import words
from rocketmq_capacity.report.figures import number, per_cent
from rocketmq_capacity.report.timeline import WIDTH, cut, image, words_at

HOUR_S: Final = 3_600
DAY_S: Final = 24 * HOUR_S
LEFT: Final = 72
"""Pixels for the numbers of the vertical axes."""
RIGHT: Final = 44
"""Pixels for the percentages on the right."""
HEIGHT: Final = 84
"""Pixels of a panel."""
TITLE: Final = 32
AXIS: Final = 24
MOST_TIMES: Final = 5
"""The most days, or times of day, that are named below."""
HOURS: Final = (1, 2, 3, 6, 12)
MANY: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"))
"""From these numbers on, an axis has them in millions and more."""
WHOLE: Final = "none"
DASHED: Final = "5 4"
STEPS: Final = (1.0, 2.0, 4.0, 6.0, 8.0, 10.0)
"""Ends of a scale, times a power of ten: half of each is a plain number too."""
FAR: Final = 2.0
"""A level this many times above all values is left out: below it, they would be a flat line."""
Points = Sequence[tuple[float, float | None]]
"""Moments in seconds since 1970, ascending, and values; a value that is unknown interrupts the line."""


@dataclass(frozen=True, slots=True)
class Drawn:
    """A picture, and the same numbers as a table."""

    picture: Markup
    caption: str
    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class PanelLine:
    """A line; where two points are more than ``gap_s`` apart it is interrupted, and a single point is a dot."""

    points: Points
    colour: str
    gap_s: float = math.inf
    dashes: str = WHOLE
    width: float = 1.6


@dataclass(frozen=True, slots=True)
class Level:
    """A value that matters, as a line across the panel, with its words if any."""

    value: float
    words: str


@dataclass(frozen=True, slots=True)
class Panel:
    """A figure.

    Attributes:
        title: what it is, with its unit.
        lines: the later ones are drawn over the others.
        levels: values that matter.
        band: the lowest and the highest that it may be, at the same moments.
        whole: the value that is 100 % on the axis on the right; None without such an axis.
        is_share: the values are shares, which are shown as percentages.
        most: the end of the scale; None for what the lines need.
    """

    title: str
    lines: tuple[PanelLine, ...]
    levels: tuple[Level, ...] = ()
    band: tuple[Points, Points] | None = None
    whole: float | None = None
    is_share: bool = False
    most: float | None = None


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment at which something happened, as a line through all panels, with its number."""

    at_s: float
    number: int


@dataclass(frozen=True, slots=True)
class _Scale:
    """From moments and values to pixels."""

    first_s: float
    last_s: float
    top: float
    above: float

    def x(self, at_s: float) -> float:
        return LEFT + (at_s - self.first_s) / max(self.last_s - self.first_s, 1) * (WIDTH - LEFT - RIGHT)

    def y(self, value: float) -> float:
        return self.above + HEIGHT * (1 - min(max(value / self.top, 0.0), 1.0))


def panels(drawn: Sequence[Panel], chart_id: str, title: str, description: str, marks: Sequence[Mark] = ()) -> Markup:
    """The picture as mark-up for a page; ``chart_id`` is unique on it. Some line has a point."""
    moments = [at_s for panel in drawn for line in _all_lines(panel) for at_s, _ in line]
    first_s, last_s = min(moments), max(moments)
    bottom = len(drawn) * (TITLE + HEIGHT)
    parts = [*_times(first_s, last_s, bottom)]
    for place, panel in enumerate(drawn):
        above = place * (TITLE + HEIGHT) + TITLE
        parts += _panel(panel, _Scale(first_s, last_s, _top(panel), above))
    scale = _Scale(first_s, last_s, 1.0, 0.0)
    parts += [part for mark in marks if first_s <= mark.at_s <= last_s for part in _mark(mark, scale, bottom)]
    return image(parts, bottom + AXIS, chart_id, title, description)


def _all_lines(panel: Panel) -> Iterator[Points]:
    yield from (line.points for line in panel.lines)
    yield from panel.band or ()


def _top(panel: Panel) -> float:
    """The end of the scale: a plain number that nothing is above."""
    if panel.most is not None:
        return panel.most
    values = [value for line in _all_lines(panel) for _, value in line if value is not None]
    highest = max(values, default=0.0)
    most = max(highest, *(level.value for level in panel.levels if level.value <= FAR * highest), 0.0)
    if most <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(most))
    return next((step * power for step in STEPS if step * power >= most), 10 * power)


def _times(first_s: float, last_s: float, bottom: float) -> Iterator[str]:
    """Lines at midnights (UTC), or at hours of one or two days, as many as have room, each with its day or time."""
    scale, lasts_s = _Scale(first_s, last_s, 1.0, 0.0), last_s - first_s
    if lasts_s < 2 * DAY_S:
        form = "%H:%M"
        step_s = next(hours * HOUR_S for hours in HOURS if lasts_s < MOST_TIMES * hours * HOUR_S)
    else:
        form, step_s = "%m-%d", math.ceil(lasts_s / DAY_S / MOST_TIMES) * DAY_S
    begins_s = math.ceil(first_s / min(step_s, DAY_S)) * min(step_s, DAY_S)
    for at_s in range(begins_s, int(last_s) + 1, step_s):
        x = scale.x(at_s)
        yield f'<path d="M{x:.1f} {TITLE}V{bottom}" stroke="var(--chart-grid)"></path>'
        yield words_at(x, bottom + 16, f"{datetime.fromtimestamp(at_s, UTC):{form}}", "middle", "var(--muted)")


def _panel(panel: Panel, scale: _Scale) -> Iterator[str]:
    yield words_at(1, scale.above - 15, cut(words(panel.title)), "start", "var(--text)")
    for value in (0.0, scale.top / 2, scale.top):
        y = scale.y(value)
        yield f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="var(--chart-grid)"></path>'
        shown = per_cent(value) if panel.is_share else _short(value)
        yield words_at(LEFT - 6, y + 4, shown, "end", "var(--muted)")
        if panel.whole:
            yield words_at(WIDTH - RIGHT + 6, y + 4, per_cent(value / panel.whole), "start", "var(--muted)")
    if panel.band is not None:
        lower, upper = panel.band
        around = [*upper, *reversed(lower)]
        path = "L".join(f"{scale.x(at_s):.1f} {scale.y(value or 0.0):.1f}" for at_s, value in around)
        yield f'<path d="M{path}Z" fill="var(--bar)" fill-opacity="0.16"></path>'
    for level in (one for one in panel.levels if one.value <= scale.top):
        y = scale.y(level.value)
        yield (
            f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="var(--critical-line)"'
            f' stroke-dasharray="{DASHED}"></path>'
        )
        if level.words:
            yield words_at(LEFT + 6, y - 4, words(level.words), "start", "var(--critical)")
    yield from (_line(line, scale) for line in panel.lines)


def _short(value: float) -> str:
    """A number of an axis, where a long one has no room."""
    return next((f"{value / size:g} {letter}" for size, letter in MANY if value >= size), number(value))


def _line(line: PanelLine, scale: _Scale) -> str:
    return (
        f'<path d="{_path(line, scale)}" fill="none" stroke="{line.colour}" stroke-width="{line.width}"'
        f' stroke-linecap="round" stroke-linejoin="round" stroke-dasharray="{line.dashes}">'
        "</path>"
    )


def _path(line: PanelLine, scale: _Scale) -> str:
    """In tenths of a pixel, each point from the one before; of points at one height the first and the last.

    A page has many thousand points.
    """
    path: list[str] = []
    x, y, flat = 0, 0, 0
    last_s: float | None = None
    for at_s, value in (*line.points, (0.0, None)):
        is_joined = value is not None and last_s is not None and at_s - last_s <= line.gap_s
        last_s = None if value is None else at_s
        to_x, to_y = (x, y) if value is None else (round(10 * scale.x(at_s)), round(10 * scale.y(value)))
        if is_joined and to_y == y:
            flat, x = flat + to_x - x, to_x
            continue
        if flat:
            path.append(f"h{flat / 10:g}")
        flat = 0
        if is_joined:
            path.append(f"l{(to_x - x) / 10:g} {(to_y - y) / 10:g}")
        elif value is not None:
            path.append(f"M{to_x / 10:g} {to_y / 10:g}h0")
        x, y = to_x, to_y
    return "".join(path)


def _mark(mark: Mark, scale: _Scale, bottom: float) -> Iterator[str]:
    x = scale.x(mark.at_s)
    yield f'<path d="M{x:.1f} {TITLE}V{bottom}" stroke="var(--info-line)" stroke-width="1.5"></path>'
    yield words_at(x + 3, TITLE + 10, str(mark.number), "start", "var(--info)")
