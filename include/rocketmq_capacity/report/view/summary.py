"""The top of the page: one verdict, what was seen, what was found, how much is to be done."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.finding import still_open
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.figures import per_cent, when
from rocketmq_capacity.report.limits import FAILURES, REASONS
from rocketmq_capacity.report.summary_file import differences_in_words
from rocketmq_capacity.report.wording import KIND_WORDS, STATUS_WORDS, kind_of
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.vocabulary import CRITICAL, SEVERITIES, UNDECIDED, WARNING
from rocketmq_capacity.wording import counted


@dataclass(frozen=True, slots=True)
class FailureView:
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
class Summary:
    """What a reader in a hurry reads."""

    cluster_name: str
    taken_at: str
    taken_at_iso: str
    recorded_at: str
    recorded_at_iso: str
    """Both empty where the snapshot has its own date."""
    is_trial: bool
    policy_differences: tuple[str, ...]
    """What the run decides otherwise than the deployment's policy."""
    fingerprint: str
    verdict: str
    completeness: str
    is_complete: bool
    failures: tuple[FailureView, ...]
    failure_count: int
    severities: tuple[tuple[str, int], ...]
    """Of the causes."""
    cause_count: int
    finding_count: int
    accepted_count: int
    """Findings that somebody has accepted; the other figures leave them out."""
    new_count: int | None
    """Causes that the plan before did not have; None where there is none before."""
    statuses: tuple[StatusCount, ...]
    group_count: int
    recommendation_count: int
    kinds: tuple[tuple[str, int], ...]
    """What carrying the recommendations out touches, and how many do."""
    manual_count: int


def summary_of(plan: Plan, rows: Sequence[GroupStatus]) -> Summary:
    """The plan in short; group_status knows the reasons, which the plan does not hold."""
    ratio, failures = plan.completeness.ratio, plan.completeness.failures
    number = Counter(cause.severity for cause in plan.causes)
    severities = tuple((severity, number[severity]) for severity in SEVERITIES)
    statuses = [group.provision_status for group in plan.groups]
    kinds = Counter(kind_of(one.action, changes_cluster=one.changes_cluster) for one in plan.recommendations)
    news = [cause.is_new for cause in plan.causes]
    return Summary(
        cluster_name=plan.cluster_name,
        taken_at=when(plan.taken_at),
        taken_at_iso=plan.taken_at,
        recorded_at="" if plan.recorded_at is UNSET else when(plan.recorded_at),
        recorded_at_iso="" if plan.recorded_at is UNSET else plan.recorded_at,
        is_trial=plan.trial is True,
        policy_differences=differences_in_words(plan),
        fingerprint=plan.fingerprint,
        verdict=_verdict(dict(severities), len(statuses)),
        completeness=per_cent(ratio),
        is_complete=ratio >= 1 and not failures,
        failures=tuple(
            FailureView(failure.broker_addr, failure.request or "not known", failure.error or "not known")
            for failure in failures[:FAILURES]
        ),
        failure_count=len(failures),
        severities=severities,
        cause_count=len(plan.causes),
        finding_count=len(still_open(plan.findings)),
        accepted_count=len(plan.findings) - len(still_open(plan.findings)),
        new_count=None if None in news or not news else sum(map(bool, news)),
        statuses=tuple(
            StatusCount(status, wording.title, wording.meaning, statuses.count(status), _reasons(status, rows))
            for status, wording in STATUS_WORDS.items()
        ),
        group_count=len(statuses),
        recommendation_count=len(plan.recommendations),
        kinds=tuple((kind, kinds[kind]) for kind in KIND_WORDS),
        manual_count=sum(recommendation.manual for recommendation in plan.recommendations),
    )


def _reasons(status: str, rows: Sequence[GroupStatus]) -> tuple[tuple[str, int], ...]:
    if status != UNDECIDED:
        return ()
    reasons = Counter(row.provision_reason for row in rows if row.provision_status == status)
    known = [(reason, groups) for reason, groups in reasons.items() if reason]
    return tuple(sorted(known, key=lambda entry: (-entry[1], entry[0]))[:REASONS])


def _verdict(number: Mapping[str, int], groups: int) -> str:
    of = f"in {counted(groups, 'consumer group')}"
    critical, warning = number[CRITICAL], number[WARNING]
    if critical:
        also = f", {counted(warning, 'more', 'more')} should be looked at soon" if warning else ""
        return f"{counted(critical, 'thing')} {'needs' if critical == 1 else 'need'} attention now{also}, {of}."
    if warning:
        return f"Nothing is critical; {counted(warning, 'thing')} should be looked at soon, {of}."
    return f"Nothing needs to be changed {of}."
