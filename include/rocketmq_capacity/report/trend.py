"""How a cluster's counts went from plan to plan: rows for a table, and the same as a picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC
from typing import Final

from markupsafe import Markup

from rocketmq_capacity.report.charts import AXIS_ROOM, CONFIG, MARGIN, SCHEMA, Drawing, Spec
from rocketmq_capacity.report.figures import counted, when
from rocketmq_capacity.report.shelf import Report
from rocketmq_capacity.report.svg import inline_svg
from rocketmq_capacity.report.wording import SEVERITY_WORDS
from rocketmq_capacity.vocabulary import CRITICAL, INFO, SEVERITIES, WARNING, Severity

WIDTH: Final = 720
HEIGHT: Final = 220
TOP: Final = 16
LEFT: Final = 56
"""Room for the figures of the upright axis."""
ROOM_ABOVE: Final = 1.1
"""The scale ends this much above the highest point."""
COLOURS: Final[dict[Severity, str]] = {
    CRITICAL: "var(--critical-line)",
    WARNING: "var(--warning-line)",
    INFO: "var(--info-line)",
}
DASHES: Final[dict[Severity, list[int]]] = {CRITICAL: [1, 0], WARNING: [7, 3], INFO: [2, 3]}
"""Not by colour alone: whole, long dashes, dots."""
SHAPES: Final[dict[Severity, str]] = {CRITICAL: "square", WARNING: "triangle-up", INFO: "circle"}
MARKED: Final = 60
"""Up to so many plans each has a mark on its line; more would only be a thick line."""


@dataclass(frozen=True, slots=True)
class Trend:
    """The plans of a cluster, oldest first, and their picture; None where one plan says nothing about a course."""

    reports: tuple[Report, ...]
    picture: Markup | None


def trend_of(cluster: str, reports: Sequence[Report]) -> Trend:
    """The course of the counts of findings over these reports of the cluster."""
    ordered = tuple(sorted(reports, key=lambda report: report.order))
    if len({report.summary.moment for report in ordered}) < 2:
        return Trend(ordered, None)
    first, last = ordered[0].summary, ordered[-1].summary
    courses = [(SEVERITY_WORDS[name].lower(), first.findings[name], last.findings[name]) for name in SEVERITIES]
    said = ", ".join(f"{word} {start} to {end}" for word, start, end in courses)
    described = (
        f"One line for each severity over {counted(len(ordered), 'plan')}, from {when(first.taken_at)} to "
        f"{when(last.taken_at)}: {said}. The table below holds the same numbers."
    )
    return Trend(ordered, inline_svg(findings_chart(ordered), "trend", f"Findings of {cluster}", described))


def findings_chart(reports: Sequence[Report]) -> Drawing:
    """One line a severity; the reports stand oldest first and are of at least two moments."""
    values = [
        {"at": report.summary.moment.astimezone(UTC).isoformat(), **report.summary.findings} for report in reports
    ]
    most = max(max(report.summary.findings.values()) for report in reports)
    y = {"type": "quantitative", "scale": {"domain": [0, max(4, most * ROOM_ABOVE)], "nice": False}}
    axis = {"title": "Findings", "tickMinStep": 1, "format": ",d"}
    x = {
        "field": "at",
        "type": "temporal",
        "scale": {"type": "utc"},
        "axis": {"title": "Snapshot (UTC)", "grid": False, "domain": True, "domainColor": "var(--chart-grid)"},
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
                if len(reports) <= MARKED
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
