"""A picture of shares over time: a lane for each kind of producers shows the share of the brokers in trouble."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.report.timeline import AXIS, LABELS, TEXTS, WIDTH, axis, image, words_at

HEIGHT: Final = 34
"""Pixels of a share of 1."""
GAP: Final = 12


@dataclass(frozen=True, slots=True)
class Step:
    """Some seconds: the share of the messages that end at brokers in trouble, and the part of it that fails."""

    begin_s: int
    length_s: int
    share: float
    failed: float


@dataclass(frozen=True, slots=True)
class Lane:
    """A kind of producers: its name and setting (two lines), its shares over time, and two lines about the outcome."""

    name: str
    setting: str
    steps: tuple[Step, ...]
    words: tuple[str, str]


def lanes(found: Sequence[Lane], chart_id: str, title: str, description: str) -> Markup:
    """The picture as mark-up for the page; ``chart_id`` is unique on it."""
    longest = max((one.begin_s + one.length_s for lane in found for one in lane.steps), default=0) or 1
    scale = (WIDTH - LABELS - TEXTS) / longest
    bottom = len(found) * (HEIGHT + GAP)
    parts = [*axis(longest, scale, bottom)]
    for place, lane in enumerate(found):
        parts += _lane(lane, place * (HEIGHT + GAP), scale)
    return image(parts, bottom + AXIS, chart_id, title, description)


def _lane(lane: Lane, top: float, scale: float) -> Iterator[str]:
    base = top + HEIGHT
    yield _area([(one, one.share) for one in lane.steps], base, scale, "var(--info-line)")
    yield _area([(one, one.failed) for one in lane.steps], base, scale, "var(--under)")
    ends = f'x1="{LABELS}" x2="{WIDTH - TEXTS}" y1="{base:.0f}" y2="{base:.0f}"'
    yield f'<line {ends} stroke="var(--chart-grid)" stroke-width="1"></line>'
    for line, (name, words) in enumerate(zip((lane.name, lane.setting), lane.words, strict=True)):
        y = top + 13 + 16 * line
        yield words_at(LABELS - 10, y, name, "end", "var(--muted)" if line else "var(--text)")
        yield words_at(WIDTH - TEXTS + 8, y, words, "start", "var(--text)")


def _area(heights: Sequence[tuple[Step, float]], base: float, scale: float, colour: str) -> str:
    """Steps as high as their shares; neighbours of one height are drawn together."""
    points = [f"M{LABELS:.1f},{base:.1f}"]
    last = 0.0
    for step, share in heights:
        y = base - share * HEIGHT
        if share != last:
            x = LABELS + step.begin_s * scale
            points.append(f"H{x:.1f}V{y:.1f}")
            last = share
    end = max((step.begin_s + step.length_s for step, _ in heights), default=0)
    points.append(f"H{LABELS + end * scale:.1f}V{base:.1f}Z")
    return f'<path d="{"".join(points)}" fill="{colour}" fill-opacity="0.75"></path>'
