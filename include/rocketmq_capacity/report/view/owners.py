"""What the policy tells, as the page shows it: causes by owner, and accepted risks."""

from collections import Counter
from dataclasses import dataclass

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.limits import ACCEPTED, OWNER_CAUSES, OWNERS
from rocketmq_capacity.report.tables import owner_files
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.findings import places_of
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.vocabulary import SEVERITIES


@dataclass(frozen=True, slots=True)
class OwnerView:
    """What one owner has to do."""

    name: str
    number: int
    """From 1 on; the page's filter and the marks of causes and groups have it."""
    anchor: str
    file: str
    """The CSV of its findings, beside the page."""
    groups: int
    severities: tuple[tuple[str, int], ...]
    """Of its causes."""
    causes: First[tuple[str, Link, tuple[str, ...]]]
    """Severity, title and places, the worst first."""


@dataclass(frozen=True, slots=True)
class OwnerList:
    """All owners, those with the worst causes first."""

    owners: First[OwnerView]
    nobodys: int
    """Causes without an owner."""


@dataclass(frozen=True, slots=True)
class AcceptedView:
    """An accepted finding."""

    severity: str
    title: str
    places: tuple[str, ...]
    message: str
    by: str
    why: str
    until: str


@dataclass(frozen=True, slots=True)
class AcceptedList:
    """The accepted findings, the worst first."""

    findings: First[AcceptedView]
    severities: tuple[tuple[str, int], ...]
    total: int


def owners_of(plan: Plan, answers: Answers) -> OwnerList | None:
    """The causes by owner; None if the policy tells no owner."""
    groups = Counter(group.owner for group in plan.groups if group.owner is not None)
    if not groups:
        return None
    causes: dict[str, list[Cause]] = {name: [] for name in groups}
    nobodys = 0
    for cause in plan.causes:
        if cause.owner is None:
            nobodys += 1
        else:
            causes[cause.owner].append(cause)
    place = {cause.id: number for number, cause in enumerate(plan.causes)}
    last = len(place)
    ordered = sorted(causes, key=lambda name: (place[causes[name][0].id] if causes[name] else last, name))
    files = owner_files(groups)
    owners = (
        _owner(name, number, files[name], groups[name], causes[name], answers)
        for number, name in enumerate(ordered[:OWNERS], 1)
    )
    return OwnerList(First(owners, len(ordered)), nobodys)


def _owner(name: str, number: int, file: str, groups: int, causes: list[Cause], answers: Answers) -> OwnerView:
    numbers = Counter(cause.severity for cause in causes)
    return OwnerView(
        name=name,
        number=number,
        anchor=f"owner-{number}",
        file=file,
        groups=groups,
        severities=tuple((severity, numbers[severity]) for severity in SEVERITIES if numbers[severity]),
        causes=First(
            (
                (
                    cause.severity,
                    Link(cause.title, answers.anchor(cause)),
                    tuple(place for place in (cause.consumer_group, cause.topic) if place is not None),
                )
                for cause in causes[:OWNER_CAUSES]
            ),
            len(causes),
        ),
    )


def accepted_of(plan: Plan) -> AcceptedList | None:
    """The findings that somebody has accepted; None if there are none."""
    accepted = [finding for finding in plan.findings if finding.accepted is not None]
    if not accepted:
        return None
    accepted.sort(key=lambda finding: SEVERITIES.index(finding.severity))
    number = Counter(finding.severity for finding in accepted)
    return AcceptedList(
        findings=First(map(_accepted, accepted[:ACCEPTED]), len(accepted)),
        severities=tuple((severity, number[severity]) for severity in SEVERITIES if number[severity]),
        total=len(accepted),
    )


def _accepted(finding: PlanFinding) -> AcceptedView:
    acceptance = finding.accepted
    return AcceptedView(
        severity=finding.severity,
        title=rule_of(finding.rule).title,
        places=places_of(finding),
        message=finding.message,
        by="" if acceptance is None else acceptance.by,
        why="" if acceptance is None else acceptance.why,
        until="" if acceptance is None else acceptance.until,
    )
