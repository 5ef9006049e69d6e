"""How a cluster's figures changed from plan to plan, as rows of a table and as pictures."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.language.current import phrase, words
from rocketmq_capacity.report.figures import number, per_cent, when
from rocketmq_capacity.report.panels import WHOLE, Panel, PanelLine, panels
from rocketmq_capacity.report.shelf import Report
from rocketmq_capacity.report.summary_file import PlanSummary
from rocketmq_capacity.report.wording import SEVERITY_WORDS
from rocketmq_capacity.vocabulary import CRITICAL, INFO, SEVERITIES, WARNING, Severity
from rocketmq_capacity.wording import counted

LEAST_SCALE: Final = 4
"""The end of a scale of few causes, so that its half is a whole number too."""
LINE_WIDTH: Final = 2.0
COLOURS: Final[dict[Severity, str]] = {
    CRITICAL: "var(--critical-line)",
    WARNING: "var(--warning-line)",
    INFO: "var(--info-line)",
}
DASHES: Final[dict[Severity, str]] = {CRITICAL: WHOLE, WARNING: "7 3", INFO: "2 3"}
"""Severities differ not only by colour: a solid line, long dashes, dots."""
SMALL_WIDTH: Final = 240
SMALL_HEIGHT: Final = 48
SMALL_MARGIN: Final = 3


@dataclass(frozen=True, slots=True)
class ClusterTrend:
    """The plans of a cluster, oldest first, and their pictures; None and none if all are of one moment."""

    reports: tuple[Report, ...]
    picture: Markup | None
    courses: tuple["FigureCourse", ...] = ()
    score: Markup | None = None
    """None if fewer than two plans have a score."""


def trend_of(cluster: str, reports: Sequence[Report]) -> ClusterTrend:
    """The trend over these reports of the cluster, which may be in any order, in the language of now."""
    ordered = tuple(sorted(reports, key=lambda report: report.order))
    known = [one.summary for one in ordered if one.summary.cause_counts is not None]
    if len({summary.moment for summary in known}) < 2:
        return ClusterTrend(ordered, None)
    return ClusterTrend(ordered, _causes_picture(cluster, known), courses_of(ordered), _score_picture(cluster, ordered))


def _causes_picture(cluster: str, known: Sequence[PlanSummary]) -> Markup:
    """One line for each severity; the plans are sorted, the oldest first, and of at least two moments."""
    points = {
        name: [(one.moment.timestamp(), float((one.cause_counts or {})[name])) for one in known] for name in SEVERITIES
    }
    courses = [(SEVERITY_WORDS[name].lower(), points[name][0][1], points[name][-1][1]) for name in SEVERITIES]
    said = phrase(", ").join(f"{words(word)} {words(f'{start:.0f} to {end:.0f}')}" for word, start, end in courses)
    described = words(
        f"One line for each severity over {counted(len(known), 'plan')}, from {when(known[0].taken_at)} to "
        f"{when(known[-1].taken_at)}: {said}. The table below holds the same numbers."
    )
    most = max(value for line in points.values() for _, value in line)
    first, last = (one.taken_at[:10] for one in (known[0], known[-1]))
    panel = Panel(
        f"Causes, {first} (UTC)" if first == last else f"Causes, {first} to {last} (UTC)",
        # The worst is drawn over the others.
        tuple(
            PanelLine(points[name], COLOURS[name], dashes=DASHES[name], width=LINE_WIDTH) for name in SEVERITIES[::-1]
        ),
        most=None if most > LEAST_SCALE else LEAST_SCALE,
    )
    return panels([panel], "trend", phrase("Causes of {cluster}", cluster=cluster), described)


def _score_picture(cluster: str, reports: Sequence[Report]) -> Markup | None:
    """The score of each plan over time; None if fewer than two have one."""
    known = [(one.summary.moment.timestamp(), one.summary.score) for one in reports if one.summary.score is not None]
    if len({at_s for at_s, _ in known}) < 2:
        return None
    title = phrase("Score of {cluster}", cluster=cluster)
    described = words(f"A line over {counted(len(known), 'plan')}. The table below holds the same numbers.")
    return panels([Panel("Score, of 100", (PanelLine(known, "var(--bar)"),), most=100.0)], "score", title, described)


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
    """A line of points (time, value) from 0 up, without axes: the figures are beside it."""
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
