"""The top of the page: one verdict, what was seen, what was found, what to do first."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.contracts.group_status import GroupStatus
from rocketmq_capacity.report.figures import counted, per_cent, when
from rocketmq_capacity.report.limits import FAILURES, FIRST_STEPS, LINKS, REASONS
from rocketmq_capacity.report.plan_file import Plan
from rocketmq_capacity.report.view.answers import Answers, Link
from rocketmq_capacity.report.view.findings import places_of, rule_anchor
from rocketmq_capacity.report.wording import STATUS_WORDS
from rocketmq_capacity.vocabulary import CRITICAL, INFO, RULE_WORDS, SEVERITIES, UNDECIDED, WARNING, Wording


@dataclass(frozen=True, slots=True)
class Failure:
    """A request that was not answered."""

    broker_addr: str
    request: str
    error: str


@dataclass(frozen=True, slots=True)
class StatusCount:
    """Groups of one provision status."""

    status: str
    title: str
    meaning: str
    groups: int
    reasons: tuple[tuple[str, int], ...]
    """For UNDECIDED: the commonest reasons, and in how many groups."""


@dataclass(frozen=True, slots=True)
class FirstStep:
    """One of the things to do first: a rule's findings and what answers them."""

    severities: tuple[tuple[str, int], ...]
    title: str
    anchor: str
    example: str
    """The message of the worst of them."""
    places: tuple[str, ...]
    """Group, topic and broker of that one."""
    links: tuple[Link, ...]
    """What answers that one."""
    more_links: int
    """Recommendations that answer the others."""
    is_choice: bool
    """One of the links is enough."""
    also: tuple[Link, ...]
    """Other rules whose findings the same recommendations answer."""


@dataclass(frozen=True, slots=True)
class Summary:
    """What a reader in a hurry reads."""

    cluster_name: str
    taken_at: str
    taken_at_iso: str
    recorded_at: str
    recorded_at_iso: str
    """Both empty where the snapshot has its own date."""
    fingerprint: str
    verdict: str
    completeness: str
    is_complete: bool
    failures: tuple[Failure, ...]
    failure_count: int
    severities: tuple[tuple[str, int], ...]
    finding_count: int
    statuses: tuple[StatusCount, ...]
    group_count: int
    ready_count: int
    manual_count: int
    first_steps: tuple[FirstStep, ...]
    later: str
    """What is found beside the first steps, in words; empty where nothing is."""


def summary_of(plan: Plan, answers: Answers, rows: Sequence[GroupStatus]) -> Summary:
    """The plan in short; group_status knows the reasons, which the plan does not hold."""
    ratio, failures = plan.completeness.ratio, plan.completeness.failures
    found = [finding.severity for finding in answers.findings]
    severities = tuple((severity, found.count(severity)) for severity in SEVERITIES)
    statuses = [group.provision_status for group in plan.groups]
    manual = sum(recommendation.manual for recommendation in plan.recommendations)
    steps, later = _first_steps(answers)
    return Summary(
        cluster_name=plan.cluster_name,
        taken_at=when(plan.taken_at),
        taken_at_iso=plan.taken_at,
        recorded_at="" if plan.recorded_at is UNSET else when(plan.recorded_at),
        recorded_at_iso="" if plan.recorded_at is UNSET else plan.recorded_at,
        fingerprint=plan.fingerprint,
        verdict=_verdict(dict(severities), len(statuses)),
        completeness=per_cent(ratio),
        is_complete=ratio >= 1 and not failures,
        failures=tuple(
            Failure(failure.broker_addr, failure.request or "not known", failure.error or "not known")
            for failure in failures[:FAILURES]
        ),
        failure_count=len(failures),
        severities=severities,
        finding_count=len(found),
        statuses=tuple(
            StatusCount(status, wording.title, wording.meaning, statuses.count(status), _reasons(status, rows))
            for status, wording in STATUS_WORDS.items()
        ),
        group_count=len(statuses),
        ready_count=len(plan.recommendations) - manual,
        manual_count=manual,
        first_steps=steps,
        later=later,
    )


def _reasons(status: str, rows: Sequence[GroupStatus]) -> tuple[tuple[str, int], ...]:
    if status != UNDECIDED:
        return ()
    reasons = Counter(row.provision_reason for row in rows if row.provision_status == status)
    known = [(reason, groups) for reason, groups in reasons.items() if reason]
    return tuple(sorted(known, key=lambda entry: (-entry[1], entry[0]))[:REASONS])


def _verdict(found: Mapping[str, int], groups: int) -> str:
    of = f"in {counted(groups, 'consumer group')}"
    critical, warning = found[CRITICAL], found[WARNING]
    if critical:
        also = f", {counted(warning, 'thing')} should be looked at soon" if warning else ""
        return f"{counted(critical, 'thing')} {'needs' if critical == 1 else 'need'} attention now{also}, {of}."
    if warning:
        return f"Nothing is critical; {counted(warning, 'thing')} should be looked at soon, {of}."
    return f"Nothing needs to be changed {of}."


def _first_steps(answers: Answers) -> tuple[tuple[FirstStep, ...], str]:
    by_rule: dict[str, list[int]] = {}
    for index, finding in enumerate(answers.findings):
        if finding.severity != INFO:
            by_rule.setdefault(finding.rule, []).append(index)
    leading, also = _gathered(by_rule, answers)
    first = list(leading)[:FIRST_STEPS]
    steps = tuple(_step(rule, by_rule[rule], also.get(rule, ()), answers) for rule in first)
    named = {*first, *(rule for leader in first for rule in also.get(leader, ()))}
    rest = sum(len(found) for rule, found in by_rule.items() if rule not in named)
    hints = sum(1 for finding in answers.findings if finding.severity == INFO)
    words = [counted(rest, "further finding")] if rest else []
    words += [counted(hints, "finding") + " for information"] if hints else []
    return steps, " and ".join(words)


def _gathered(
    by_rule: Mapping[str, Sequence[int]], answers: Answers
) -> tuple[dict[str, set[int]], dict[str, list[str]]]:
    """Rules that lead a step with their recommendations, and under each the later rules that it settles as well."""
    leading: dict[str, set[int]] = {}
    also: dict[str, list[str]] = {}
    for rule, found in by_rule.items():
        places = {place for index in found for place in answers.places[index]}
        leader = next((other for other, covered in leading.items() if places and places <= covered), None)
        if leader is None:
            leading[rule] = places
        else:
            also.setdefault(leader, []).append(rule)
    return leading, also


def _step(rule: str, found: Sequence[int], also: Sequence[str], answers: Answers) -> FirstStep:
    worst = found[0]
    places = dict.fromkeys(place for index in found for place in answers.places[index])
    severities = [answers.findings[index].severity for index in found]
    return FirstStep(
        severities=tuple((severity, severities.count(severity)) for severity in SEVERITIES if severity in severities),
        title=_title(rule),
        anchor=rule_anchor(rule),
        example=answers.findings[worst].message,
        places=places_of(answers.findings[worst]),
        links=tuple(answers.link(place) for place in answers.places[worst][:LINKS]),
        more_links=len(places) - len(answers.places[worst][:LINKS]),
        is_choice=answers.is_choice(worst),
        also=tuple(Link(_title(other), rule_anchor(other)) for other in also),
    )


def _title(rule: str) -> str:
    return RULE_WORDS.get(rule, Wording(rule, "")).title
