"""The whole page as one value."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rocketmq_capacity.report.detail import detailed_groups
from rocketmq_capacity.report.glossary import GLOSSARY, Term
from rocketmq_capacity.report.limits import CHARTS
from rocketmq_capacity.report.rows import Rows, by_group
from rocketmq_capacity.report.view.answers import Answers
from rocketmq_capacity.report.view.approval import ApprovalView, approval_of
from rocketmq_capacity.report.view.findings import RuleView, rules_of
from rocketmq_capacity.report.view.groups import (
    GroupLine,
    GroupSection,
    anchors_of,
    current_strategy,
    line_of,
    section_of,
)
from rocketmq_capacity.report.view.loads import COUNT, best_alternative, measure_of
from rocketmq_capacity.report.view.pictures import Chart, load_picture, overview_picture, telling_loads
from rocketmq_capacity.report.view.recommendations import RecommendationList, recommendations_of
from rocketmq_capacity.report.view.scenario import ScenarioView, scenario_of
from rocketmq_capacity.report.view.summary import Summary, summary_of


@dataclass(frozen=True, slots=True)
class DetailedGroup:
    """A group's section and its chart, if it has one."""

    section: GroupSection
    chart: Chart | None


@dataclass(frozen=True, slots=True)
class Page:
    """What the template writes."""

    summary: Summary
    approval: ApprovalView | None
    scenario: ScenarioView | None
    overview: Chart | None
    rules: tuple[RuleView, ...]
    recommendations: RecommendationList
    lines: tuple[GroupLine, ...]
    groups: tuple[DetailedGroup, ...]
    charts_left_out: int
    glossary: tuple[Term, ...]


def page_of(document: Mapping[str, Any], rows: Rows) -> Page:
    """The plan and the rows that it does not hold (client_load, group_status) -> the page."""
    groups, detailed = document["groups"], detailed_groups(document)
    anchors = anchors_of(groups, detailed)
    answers = Answers(document)
    lines = _lines(groups, anchors, set(detailed), answers)
    sections, left_out = _sections(document, detailed, lines, answers, rows)
    current = {group["consumer_group"]: group["current_strategy"] for group in groups}
    return Page(
        summary=summary_of(document, answers, rows.get("group_status", ())),
        approval=approval_of(document["approval"], answers) if "approval" in document else None,
        scenario=scenario_of(document["scenario"], current) if "scenario" in document else None,
        overview=overview_picture(groups),
        rules=rules_of(answers, anchors),
        recommendations=recommendations_of(answers, anchors),
        lines=tuple(lines.values()),
        groups=sections,
        charts_left_out=left_out,
        glossary=GLOSSARY,
    )


def _lines(
    groups: Sequence[Mapping[str, Any]], anchors: Mapping[str, str], detailed: set[str], answers: Answers
) -> dict[str, GroupLine]:
    found: dict[str, dict[str, int]] = {}
    for finding in answers.findings:
        counts = found.setdefault(finding["consumer_group"], {})
        counts[finding["severity"]] = counts.get(finding["severity"], 0) + 1
    lines = {}
    for place, group in enumerate(groups):
        name = group["consumer_group"]
        section = anchors[name] if name in detailed else None
        lines[name] = line_of(group, place, section, found.get(name, {}))
    return lines


def _sections(
    document: Mapping[str, Any],
    detailed: Sequence[str],
    lines: Mapping[str, GroupLine],
    answers: Answers,
    rows: Rows,
) -> tuple[tuple[DetailedGroup, ...], int]:
    by_name = {group["consumer_group"]: group for group in document["groups"]}
    status = {row["consumer_group"]: row for row in rows.get("group_status", ())}
    wanted = set(detailed)
    loads = by_group(row for row in rows.get("client_load", ()) if row["consumer_group"] in wanted)
    sections, drawn, left_out = [], 0, 0
    for name in detailed:
        group, current = by_name[name], current_strategy(by_name[name])
        rules = [answers.findings[index]["rule"] for index in answers.of_group(name)]
        measure = COUNT if current is None else measure_of(rules, current)
        best = best_alternative(group["strategies"], group["current_strategy"], measure)
        alternative = None if best is None else str(best["strategy"])
        section = section_of(group, lines[name], status.get(name, {}), answers, alternative)
        telling = telling_loads(group, loads.get(name, ()), measure, alternative)
        chart = None
        if telling is not None and drawn < CHARTS:
            drawn += 1
            chart = load_picture(telling, name, f"chart-{drawn}")
        elif telling is not None:
            left_out += 1
        sections.append(DetailedGroup(section, chart))
    return tuple(sections), left_out
