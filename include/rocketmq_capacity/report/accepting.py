"""Accepted risks: which findings need nothing, and which entries of the policy no longer hold."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from rocketmq_capacity.plan_file.accepted import Accepted, AcceptedState, PlanAcceptedRisk, PlanFreeze
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.pairs import place_of
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.answering import answering
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.settings.accepted import AcceptedRisk
from rocketmq_capacity.tables.assess.findings import FoundPlace
from rocketmq_capacity.vocabulary import Severity
from rocketmq_capacity.wording import counted


@dataclass(slots=True)
class _Entry:
    """An entry of the policy, and the findings that it is about."""

    risk: AcceptedRisk
    is_over: bool
    accepts: list[str] = field(default_factory=list)
    is_worse: bool = False

    @property
    def state(self) -> AcceptedState:
        if self.is_over:
            return "EXPIRED"
        if self.accepts:
            return "ACCEPTED"
        return "WORSE" if self.is_worse else "UNMATCHED"


def accept(
    findings: Sequence[PlanFinding], risks: Sequence[AcceptedRisk], taken_at: str, least: Mapping[FoundPlace, str]
) -> tuple[tuple[PlanFinding, ...], tuple[PlanAcceptedRisk, ...]]:
    """The findings, those of accepted risks marked, and what became of each entry.

    Args:
        findings: with ids.
        risks: the policy's entries; the first that holds for a finding accepts it.
        taken_at: the moment of the snapshot, which decides what is over.
        least: by place, the lowest severity of the unbroken row of runs that found it.
    """
    entries = [_Entry(risk, risk.is_over(taken_at)) for risk in risks]
    of_rule: dict[str, list[_Entry]] = {}
    for entry in entries:
        of_rule.setdefault(entry.risk.rule, []).append(entry)
    marked = tuple(_marked(finding, of_rule.get(finding.rule, ()), least) for finding in findings)
    return marked, tuple(
        PlanAcceptedRisk(
            rule=entry.risk.rule,
            consumer_group=entry.risk.consumer_group,
            topic=entry.risk.topic,
            broker_name=entry.risk.broker_name,
            by=entry.risk.by,
            why=entry.risk.why,
            until=entry.risk.until.isoformat(),
            state=entry.state,
            findings=tuple(entry.accepts),
        )
        for entry in entries
    )


def is_about(risk: AcceptedRisk, finding: PlanFinding) -> bool:
    """Whether a risk names the rule and the place of a finding, which may name its one broker as its subject."""
    brokers = (finding.broker_name, *(one for one in finding.subjects if len(finding.subjects) == 1))
    names = tuple(one for one in brokers if isinstance(one, str))
    return risk.is_about(finding.rule, finding.consumer_group, finding.topic, names)


def _marked(finding: PlanFinding, entries: Sequence[_Entry], least: Mapping[FoundPlace, str]) -> PlanFinding:
    for entry in entries:
        risk = entry.risk
        if entry.is_over or not is_about(risk, finding):
            continue
        worst = risk.severity or _severity(least.get(place_of(finding)), finding)
        if SEVERITY_RANK[finding.severity] < SEVERITY_RANK[worst]:
            entry.is_worse = True
            continue
        entry.accepts.append(finding.id)
        return replace(finding, accepted=Accepted(by=risk.by, why=risk.why, until=risk.until.isoformat()))
    return finding


def _severity(least: str | None, finding: PlanFinding) -> Severity:
    """The severity in words of the vocabulary; the finding's own if nothing is known of earlier runs."""
    return next((one for one in SEVERITY_RANK if one == least), finding.severity)


def still_needed(
    recommendations: Sequence[PlanRecommendation],
    findings: Sequence[PlanFinding],
    topics: Mapping[str, Collection[str]],
) -> tuple[PlanRecommendation, ...]:
    """Those that answer another finding than accepted ones, or none at all."""
    if all(finding.accepted is None for finding in findings):
        return tuple(recommendations)
    answers = answering(findings, recommendations, {group: tuple(names) for group, names in topics.items()})
    accepted: set[int] = set()
    needed: set[int] = set()
    for finding, positions in zip(findings, answers, strict=True):
        (needed if finding.accepted is None else accepted).update(positions)
    return tuple(one for index, one in enumerate(recommendations) if index in needed or index not in accepted)


def notes_of(
    risks: Sequence[PlanAcceptedRisk], freeze: PlanFreeze | None, coming: PlanFreeze | None
) -> tuple[str, ...]:
    """One line for the freeze, or the next one while the plan is valid, and one for all entries that do not hold."""
    notes = []
    if freeze is not None:
        own_words = freeze.why
        notes.append(
            f"Nothing may be changed until {freeze.ends} ({own_words}):"
            " commands that may change the cluster are comments."
        )
    if coming is not None:
        own_words = coming.why
        notes.append(
            f"Nothing may be changed from {coming.begins} until {coming.ends} ({own_words}):"
            " do not act on this plan after it has begun."
        )
    others = [risk for risk in risks if risk.state != "ACCEPTED"]
    if others:
        notes.append(
            f"{counted(len(others), 'accepted risk')} of the policy {'does' if len(others) == 1 else 'do'} not hold: "
            f"{'; '.join(map(_in_words, others))}."
        )
    return tuple(notes)


def _in_words(risk: PlanAcceptedRisk) -> str:
    """Why an accepted risk does not hold."""
    places = " and ".join(name for name in (risk.consumer_group, risk.topic, risk.broker_name) if name is not None)
    if risk.state == "WORSE":
        return f"{risk.rule} of {places} is worse than it was accepted"
    if risk.state == "EXPIRED":
        return f"{risk.rule} of {places} was accepted until {risk.until}"
    return f"{risk.rule} of {places} is not found"
