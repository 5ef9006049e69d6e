"""A picture of what happens while a change spreads: for each group how long queues are unread, read twice or locked.

The SVG is written here and not by the charts' engine, because it has only bars and texts.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup, escape

from rocketmq_capacity.language.current import words
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.figures import number

WIDTH: Final = 320
"""As wide as a phone has room for. Names and words stand above what they belong to."""
EDGE: Final = 12
"""Pixels on both sides, for half of the numbers on the axis."""
BAR: Final = 8
TEXT: Final = 18
"""Pixels of a line of text."""
GAP: Final = 6
"""Pixels between groups."""
AXIS: Final = 42
CHARACTERS: Final = 54
STEPS_S: Final = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1_200, 3_600)
TICKS: Final = 5
"""The most marks on the axis."""


@dataclass(frozen=True, slots=True)
class Stretch:
    """Seconds from the change on: ``worst_s`` at worst, ``expected_s`` on average if known."""

    words: str
    colour: str
    worst_s: float
    expected_s: float | None = None


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A group and what happens in it."""

    name: str
    stretches: tuple[Stretch, ...]


def timeline(courses: Sequence[TimelineRow], chart_id: str, title: str, description: str) -> Markup:
    """The picture as mark-up for the page; ``chart_id`` is unique on it."""
    longest = max((one.worst_s for course in courses for one in course.stretches), default=0.0) or 1.0
    scale = (WIDTH - 2 * EDGE) / longest
    height = AXIS + sum(TEXT + (TEXT + BAR) * len(course.stretches) + GAP for course in courses)
    parts = [*axis(longest, scale, height - AXIS)]
    top = 0
    for course in courses:
        parts.append(words_at(1, top + TEXT - 5, cut(course.name), "start", "var(--text)"))
        top += TEXT
        for stretch in course.stretches:
            parts += _bar(stretch, top, scale)
            top += TEXT + BAR
        top += GAP
    return image(parts, height, chart_id, title, description)


def image(parts: Iterable[str], height: float, chart_id: str, title: str, description: str) -> Markup:
    """The mark-up of a picture with a name and a description."""
    head = (
        f'<svg class="chart time" role="img" aria-labelledby="{chart_id}-title {chart_id}-text" '
        f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">'
        f'<title id="{chart_id}-title">{escape(visible(words(title)))}</title>'
        f'<desc id="{chart_id}-text">{escape(visible(words(description)))}</desc>'
    )
    return Markup(head + "".join(parts) + "</svg>")  # noqa: S704  # numbers, and texts that are escaped


def _bar(stretch: Stretch, top: float, scale: float) -> Iterator[str]:
    """A bar as long as the worst case, its darker part as long as the average, and above it both as text."""
    worst, label = stretch.worst_s * scale, f"{stretch.words} at most {number(stretch.worst_s)} s"
    yield _rect(EDGE, top + TEXT, worst, stretch.colour, 0.45 if stretch.expected_s is not None else 1)
    if stretch.expected_s is not None:
        yield _rect(EDGE, top + TEXT, stretch.expected_s * scale, stretch.colour, 1)
        label = f"{stretch.words} {number(stretch.expected_s)} s, at most {number(stretch.worst_s)} s"
    yield words_at(EDGE, top + TEXT - 5, words(label), "start", "var(--text)")


def axis(longest: float, scale: float, bottom: float) -> Iterator[str]:
    """Lines at whole seconds down to ``bottom``, each with its number; ``scale`` is pixels a second."""
    step = next((one for one in STEPS_S if longest / one <= TICKS), STEPS_S[-1])
    for tick in range(0, int(longest) + 1, step):
        x = EDGE + tick * scale
        ends = f'x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{bottom:.0f}"'
        yield f'<line {ends} stroke="var(--chart-grid)" stroke-width="1"></line>'
        yield words_at(x, bottom + 14, f"{tick:,}", "middle", "var(--muted)")
    yield words_at(EDGE, bottom + 34, words("Seconds after the change"), "start", "var(--muted)")


def _rect(x: float, y: float, width: float, colour: str, opacity: float) -> str:
    return (
        f'<rect x="{x:.1f}" y="{y:.1f}" width="{max(width, 1):.1f}" height="{BAR}" fill="{colour}" '
        f'fill-opacity="{opacity}"></rect>'
    )


def words_at(x: float, y: float, text: str, anchor: str, colour: str) -> str:
    """A text of the picture."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12" fill="{colour}">'
        f"{escape(visible(text))}</text>"
    )


def cut(name: str) -> str:
    """A name as the picture shows it: visible characters, and not too many."""
    text = visible(name)
    return text if len(text) <= CHARACTERS else f"{text[: CHARACTERS - 1]}…"
