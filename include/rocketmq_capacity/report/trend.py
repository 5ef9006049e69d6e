"""How a cluster's figures changed from plan to plan, as rows of a table and as pictures."""

import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Final, NamedTuple

import msgspec
from markupsafe import Markup

from rocketmq_capacity.language.current import phrase, words
from rocketmq_capacity.own_process import in_own_process, within_limits
from rocketmq_capacity.report.charts import AXIS_ROOM, CONFIG, MARGIN, SCHEMA, Drawing, Spec
from rocketmq_capacity.report.figures import number, per_cent, when
from rocketmq_capacity.report.panels import Panel, PanelLine, panels
from rocketmq_capacity.report.shelf import Report
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.report.wording import SEVERITY_WORDS
from rocketmq_capacity.vocabulary import CRITICAL, INFO, SEVERITIES, WARNING, Severity
from rocketmq_capacity.wording import counted

WIDTH: Final = 720
HEIGHT: Final = 220
TOP: Final = 16
LABEL_SEPARATION: Final = 16
"""Pixels between two dates of the axis; the charts' engine takes letters for narrower than a browser draws them."""
LEFT: Final = 56
"""Pixels for the figures of the vertical axis."""
ROOM_ABOVE: Final = 1.1
"""End of the scale / highest point."""
COLOURS: Final[dict[Severity, str]] = {
    CRITICAL: "var(--critical-line)",
    WARNING: "var(--warning-line)",
    INFO: "var(--info-line)",
}
DASHES: Final[dict[Severity, list[int]]] = {CRITICAL: [1, 0], WARNING: [7, 3], INFO: [2, 3]}
"""Severities differ not only by colour: a solid line, long dashes, dots."""
SHAPES: Final[dict[Severity, str]] = {CRITICAL: "square", WARNING: "triangle-up", INFO: "circle"}
MARKED: Final = 60
"""Up to this number of plans, each has a mark on its line; more marks would only make a thick line."""


@dataclass(frozen=True, slots=True)
class ClusterTrend:
    """The plans of a cluster, oldest first, and their pictures; None and none if all are of one moment."""

    reports: tuple[Report, ...]
    picture: Markup | None
    courses: tuple["FigureCourse", ...] = ()
    score: Markup | None = None
    """None if fewer than two plans have a score."""


def trend_of(cluster: str, reports: Sequence[Report]) -> ClusterTrend:
    """The trend over these reports of the cluster, which may be in any order, in the language of now.

    Errors: OwnProcessFailed.
    """
    ordered = tuple(sorted(reports, key=lambda report: report.order))
    known = [_Point(one.summary, counts) for one in ordered if (counts := one.summary.cause_counts) is not None]
    if len({point.summary.moment for point in known}) < 2:
        return ClusterTrend(ordered, None)
    first, last = known[0], known[-1]
    courses = [(SEVERITY_WORDS[name].lower(), first.counts[name], last.counts[name]) for name in SEVERITIES]
    said = phrase(", ").join(f"{words(word)} {words(f'{start} to {end}')}" for word, start, end in courses)
    described = words(
        f"One line for each severity over {counted(len(known), 'plan')}, from {when(first.summary.taken_at)} to "
        f"{when(last.summary.taken_at)}: {said}. The table below holds the same numbers."
    )
    drawing, title = causes_chart(known), phrase("Causes of {cluster}", cluster=cluster)
    picture = _picture(msgspec.json.encode(drawing.spec), drawing.width, drawing.height, title, described)
    return ClusterTrend(ordered, picture, courses_of(ordered), _score_picture(cluster, ordered))


def _score_picture(cluster: str, reports: Sequence[Report]) -> Markup | None:
    """The score of each plan over time; None if fewer than two have one."""
    known = [(one.summary.moment.timestamp(), one.summary.score) for one in reports if one.summary.score is not None]
    if len({at_s for at_s, _ in known}) < 2:
        return None
    title = phrase("Score of {cluster}", cluster=cluster)
    described = words(f"A line over {counted(len(known), 'plan')}. The table below holds the same numbers.")
    return panels([Panel("Score, of 100", (PanelLine(known, "var(--bar)"),), most=100.0)], "score", title, described)


@lru_cache(maxsize=32)
def _picture(spec: bytes, width: int, height: int, title: str, described: str) -> Markup:
    """The picture, saved as long as the reports stay the same: to draw it takes longer than the rest of the page.

    Errors: OwnProcessFailed.
    """
    request = msgspec.json.encode((spec.decode(), width, height, title, described))
    return Markup(in_own_process(__name__, request).decode())  # noqa: S704  # what main has just written


class _Point(NamedTuple):
    """A plan on the picture, with its causes by severity."""

    summary: PlanSummary
    counts: Mapping[Severity, int]

    @property
    def at(self) -> datetime:
        return self.summary.moment.astimezone(UTC)


def causes_chart(points: Sequence[_Point]) -> Drawing:
    """One line for each severity; the plans are sorted, the oldest first, and of at least two moments."""
    values = [{"at": point.at.isoformat(), **point.counts} for point in points]
    most = max(max(point.counts.values()) for point in points)
    y = {"type": "quantitative", "scale": {"domain": [0, max(4, most * ROOM_ABOVE)], "nice": False}}
    title, moments = _axis_words([point.at for point in points])
    axis = {"title": words("Causes"), "tickMinStep": 1, "format": ",d"}
    x = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {
            "title": words(title),
            "grid": False,
            "domain": True,
            "domainColor": "var(--chart-grid)",
            "format": moments,
            "labelOverlap": True,
            "labelSeparation": LABEL_SEPARATION,
            "tickCount": TICKS,
        },
    }
    layers: list[Spec] = [
        {
            "mark": {
                "type": "line",
                "color": COLOURS[severity],
                "strokeWidth": 2,
                "strokeJoin": "round",  # a sharp turn would point below 0
                "strokeDash": DASHES[severity],
                "point": {"shape": SHAPES[severity], "color": COLOURS[severity], "size": 34, "filled": True}
                if len(points) <= MARKED
                else False,
            },
            "encoding": {"x": x, "y": {"field": severity, **y, "axis": axis}},
        }
        for severity in reversed(SEVERITIES)  # the worst is drawn over the others
    ]
    spec: Spec = {
        "$schema": SCHEMA,
        "config": CONFIG,
        "autosize": "none",
        "padding": {"left": LEFT, "top": TOP, "right": 4 * MARGIN, "bottom": AXIS_ROOM},
        "data": {"values": values},
        "width": WIDTH,
        "height": HEIGHT,
        "layer": layers,
    }
    return Drawing(spec, WIDTH + LEFT + 4 * MARGIN, HEIGHT + TOP + AXIS_ROOM)


def _axis_words(moments: Sequence[datetime]) -> tuple[str, str]:
    """The title of the axis, and the format of its marks: where plans share a day, with the time of day."""
    days = {moment.date() for moment in moments}
    if len(days) == 1:
        return f"Snapshot on {moments[0]:%Y-%m-%d} (UTC)", "%H:%M"
    return "Snapshot (UTC)", "%m-%d %H:%M" if len(days) < len(moments) else "%Y-%m-%d"


@dataclass(frozen=True, slots=True)
class FigureCourse:
    """How one figure changed: its first and last, least and highest value as texts, and a small picture."""

    title: str
    first: str
    last: str
    least: str
    most: str
    picture: Markup


def courses_of(reports: Sequence[Report]) -> tuple[FigureCourse, ...]:
    """Causes, busiest client, score and groups over these reports, oldest first; each needs values at two moments."""
    figures: tuple[tuple[str, Callable[[PlanSummary], float | None], Callable[[float], str]], ...] = (
        ("Causes", _causes, lambda value: f"{value:,.0f}"),
        ("Busiest client", lambda one: one.utilisation, per_cent),
        ("Score", lambda one: one.score, number),
        ("Predictions that came", _came, per_cent),
        ("Consumer groups", lambda one: one.groups, lambda value: f"{value:,.0f}"),
    )
    courses = []
    for title, figure, shown in figures:
        known = [
            (one.summary.moment.timestamp(), value) for one in reports if (value := figure(one.summary)) is not None
        ]
        if len({at for at, _ in known}) > 1:
            values = [value for _, value in known]
            first, last, least, most = map(shown, (values[0], values[-1], min(values), max(values)))
            courses.append(FigureCourse(title, first, last, least, most, _small_line(known)))
    return tuple(courses)


def _came(summary: PlanSummary) -> float | None:
    """The share of the predictions of earlier plans that came; None if none could be judged."""
    came, judged = summary.predictions or (0, 0)
    return came / judged if judged else None


def _causes(summary: PlanSummary) -> int | None:
    return None if summary.cause_counts is None else sum(summary.cause_counts.values())


def _small_line(points: Sequence[tuple[float, float]]) -> Markup:
    """A line of points (time, value) from 0 up, without axes: the figures are beside it.

    The SVG is written here, because the charts' engine takes longer than the whole page.
    """
    start, span = points[0][0], points[-1][0] - points[0][0]
    most = max(value for _, value in points) or 1.0
    drawn = " ".join(
        f"{SMALL_MARGIN + (at - start) / span * (SMALL_WIDTH - 2 * SMALL_MARGIN):.1f},"
        f"{SMALL_HEIGHT - SMALL_MARGIN - value / most * (SMALL_HEIGHT - 2 * SMALL_MARGIN):.1f}"
        for at, value in points
    )
    return Markup(
        '<svg class="small-line" aria-hidden="true" focusable="false" viewBox="0 0 {width} {height}" '
        'width="{width}" height="{height}"><polyline fill="none" stroke="var(--info-line)" '
        'stroke-width="2" stroke-linejoin="round" points="{points}"></polyline></svg>'
    ).format(width=SMALL_WIDTH, height=SMALL_HEIGHT, points=drawn)


SMALL_WIDTH: Final = 240
SMALL_HEIGHT: Final = 48
SMALL_MARGIN: Final = 3
TICKS: Final = 6
"""About how many dates are on the axis; each has its year."""


def main() -> int:
    """Draw what standard input has, and write the mark-up to standard output."""
    from rocketmq_capacity.report.svg import inline_svg  # imported here, because it loads a JavaScript engine

    within_limits(resource.RLIM_INFINITY)
    spec, width, height, title, described = msgspec.json.decode(
        sys.stdin.buffer.read(), type=tuple[str, int, int, str, str]
    )
    drawing = Drawing(msgspec.json.decode(spec), width, height)
    sys.stdout.buffer.write(inline_svg(drawing, "trend", title, described).encode())
    return 0


if __name__ == "__main__":
    sys.exit(main())
