"""Findings as the page shows them: under their rule, worst first, each with its evidence and what answers it."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.report.limits import ANSWERS, ITEMS, TABLE_ROWS
from rocketmq_capacity.report.plan_file import Finding
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.facts import Fact, facts_of, subject
from rocketmq_capacity.report.view.loads import measured_by
from rocketmq_capacity.vocabulary import RULE_WORDS, SEVERITIES, Wording


@dataclass(frozen=True, slots=True)
class FindingView:
    """One finding."""

    anchor: str
    severity: str
    message: str
    places: tuple[str, ...]
    """Group, topic and broker that it names, for its headline."""
    group: Link | None
    topic: str | None
    broker: str | None
    subjects: tuple[str, ...]
    more_subjects: int
    evidence: tuple[Fact, ...]
    more_evidence: int
    answers: tuple[Link, ...]
    more_answers: int
    is_choice: bool
    """One of the answers is enough."""


@dataclass(frozen=True, slots=True)
class RuleView:
    """All findings of one rule."""

    rule: str
    anchor: str
    title: str
    meaning: str
    severities: tuple[tuple[str, int], ...]
    """Severity and number of findings, worst first; none with 0."""
    findings: tuple[FindingView, ...]
    total: int
    more: int
    """Findings that are left out here and stand in findings.csv."""


def rule_anchor(rule: str) -> str:
    """The id of a rule's part of the page; rule names are ours, or else they are not used as they are."""
    return f"rule-{rule.lower().replace('_', '-')}" if rule in RULE_WORDS else "rule-other"


def places_of(finding: Finding) -> tuple[str, ...]:
    """Group, topic and broker that a finding names; its message need not repeat them."""
    named = (finding.consumer_group, finding.topic, finding.broker_name)
    return tuple(name for name in named if name is not None)


def rules_of(answers: Answers, group_anchors: Mapping[str, str]) -> tuple[RuleView, ...]:
    """The rules that found something, those with the worst finding first."""
    by_rule: dict[str, list[int]] = {}
    for index, finding in enumerate(answers.findings):
        by_rule.setdefault(finding.rule, []).append(index)
    return tuple(_rule(rule, indices, answers, group_anchors) for rule, indices in by_rule.items())


def _rule(rule: str, indices: list[int], answers: Answers, group_anchors: Mapping[str, str]) -> RuleView:
    wording = RULE_WORDS.get(rule, Wording(rule, ""))
    found = [answers.findings[index].severity for index in indices]
    views = tuple(
        _finding(answers.findings[index], anchor, index, answers, group_anchors)
        for index in indices
        if (anchor := answers.finding_anchor(index)) is not None
    )
    return RuleView(
        rule=rule,
        anchor=rule_anchor(rule),
        title=wording.title,
        meaning=wording.meaning,
        severities=tuple((severity, found.count(severity)) for severity in SEVERITIES if severity in found),
        findings=views,
        total=len(indices),
        more=len(indices) - len(views),
    )


def _finding(
    finding: Finding, anchor: str, index: int, answers: Answers, group_anchors: Mapping[str, str]
) -> FindingView:
    group, places = finding.consumer_group, answers.places[index]
    return FindingView(
        anchor=anchor,
        severity=finding.severity,
        message=finding.message,
        places=places_of(finding),
        group=None if group is None else Link(group, group_anchors.get(group)),
        topic=finding.topic,
        broker=finding.broker_name,
        subjects=tuple(map(subject, finding.subjects[:ITEMS])),
        more_subjects=max(0, len(finding.subjects) - ITEMS),
        evidence=facts_of(finding.evidence, dict.fromkeys(("max", "min"), measured_by(finding.rule).column)),
        more_evidence=max(0, len(finding.evidence) - TABLE_ROWS),
        answers=tuple(answers.link(place) for place in places[:ANSWERS]),
        more_answers=max(0, len(places) - ANSWERS),
        is_choice=answers.is_choice(index),
    )
