"""summary.json: the few figures of a plan that a list of plans shows, so that the list need not read whole plans."""

from collections import Counter
from datetime import date, datetime
from pathlib import Path
from typing import Final, Literal

import msgspec
from msgspec import UNSET

from rocketmq_capacity.plan_file.finding import still_open
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.scenario import Verdict
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.vocabulary import INFO, SEVERITIES, Severity
from rocketmq_capacity.wording import counted

FORMAT: Final = "rocketmq-capacity/summary/1"
MOST_DIFFERENCES: Final = 5
"""The most differences from the deployment's policy that a list shows; plan.json has all."""
MOST_CAUSES: Final = 500
"""With more causes than this, the list of reports does not show how many came and went."""


class PlanSummary(msgspec.Struct, frozen=True, kw_only=True):
    """A plan in short.

    Attributes:
        format: of this file.
        cluster_name: whose plan it is.
        taken_at: when the snapshot was taken, as in the plan.
        fingerprint: of the inventory.
        completeness: the plan's ``completeness.ratio``.
        groups: number of consumer groups.
        findings: number of findings of each severity, worst first; 0 if there are none.
        cause_counts: number of causes of each severity, as the report counts them; null in files of earlier versions.
        accepted: number of findings that somebody has accepted; ``findings`` leaves them out.
        recommendations: number of recommendations.
        needing_approval: how many of them answer a finding of WARNING or CRITICAL.
        scenario: the name of a what-if, null for a plan of the cluster as it is.
        approval: APPROVED or REJECTED; null while nobody has answered, or if no answer is needed.
        causes: ids of the causes of WARNING or CRITICAL, the worst first; null in files of earlier versions, and if
            there are more than `MOST_CAUSES`.
        utilisation: busy share of the busiest client of all groups, 1 is always busy; null if all are unknown.
        score: the plan's ``score.before``, from 0 to 100; null if too little can be judged, and in earlier versions.
        predictions: how many predictions of earlier plans came, and of how many that could be judged; null without a
            plan before, and in earlier versions.
        verdict: of a what-if, null for a plan of the cluster as it is.
        approved: how many recommendations were approved; null while nobody has answered.
        answered_by: who answered; null while nobody has, or if nobody did in time.
        answered_at: when; null while nobody has answered.
        answer_why: the reason for all that have none of their own, if one was given.
        trial: whether the plan is a trial with another policy, which is not the day's plan.
        policy_differences: what differs from the deployment's policy, in words; the last may count more.
        other_answers: how many answers there are that do not count: replaced ones, and those to other recommendations.
    """

    format: Literal["rocketmq-capacity/summary/1"] = FORMAT
    cluster_name: str
    taken_at: str
    fingerprint: str
    completeness: float
    groups: int
    findings: dict[Severity, int]
    recommendations: int
    needing_approval: int
    accepted: int = 0
    scenario: str | None
    approval: Literal["APPROVED", "REJECTED"] | None
    cause_counts: dict[Severity, int] | None = None
    causes: tuple[str, ...] | None = None
    utilisation: float | None = None
    score: float | None = None
    predictions: tuple[int, int] | None = None
    verdict: Verdict | None = None
    approved: int | None = None
    answered_by: str | None = None
    answered_at: str | None = None
    answer_why: str | None = None
    other_answers: int = 0
    trial: bool = False
    policy_differences: tuple[str, ...] = ()

    @property
    def moment(self) -> datetime:
        """When the snapshot was taken. Errors: ValueError if the text is not a time."""
        return datetime.fromisoformat(self.taken_at)

    @property
    def day(self) -> date:
        """The UTC day of the snapshot."""
        return self.moment.date()

    @property
    def is_waiting(self) -> bool:
        """Whether recommendations need an answer and have none; a what-if and a trial need no answer."""
        return self.scenario is None and not self.trial and self.needing_approval > 0 and self.approval is None


def summary_of_plan(plan: Plan) -> PlanSummary:
    """The summary of a plan."""
    approval = None if plan.approval is UNSET else plan.approval
    number = Counter(finding.severity for finding in still_open(plan.findings))
    counts = Counter(cause.severity for cause in plan.causes)
    causes = tuple(cause.id for cause in plan.causes if cause.severity != INFO)
    return PlanSummary(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        fingerprint=plan.fingerprint,
        completeness=plan.completeness.ratio,
        groups=len(plan.groups),
        findings={severity: number[severity] for severity in SEVERITIES},
        recommendations=len(plan.recommendations),
        accepted=len(plan.findings) - len(still_open(plan.findings)),
        needing_approval=len(needing_approval(plan)),
        scenario=None if plan.scenario is UNSET else plan.scenario.name,
        approval=None if approval is None else approval.status,
        cause_counts={severity: counts[severity] for severity in SEVERITIES},
        causes=causes if len(causes) <= MOST_CAUSES else None,
        utilisation=max((one.utilisation.estimate for one in plan.groups if one.utilisation is not None), default=None),
        score=None if plan.score is None else plan.score.before,
        predictions=None if plan.ledger is UNSET else plan.ledger.came,
        verdict=None if plan.scenario is UNSET else plan.scenario.verdict,
        approved=None if approval is None else len(approval.approved),
        answered_by=None if approval is None else approval.by,
        answered_at=None if approval is None else approval.at,
        answer_why=None if approval is None else approval.why,
        other_answers=0 if plan.other_answers is UNSET else len(plan.other_answers),
        trial=plan.trial is True,
        policy_differences=differences_in_words(plan),
    )


def differences_in_words(plan: Plan) -> tuple[str, ...]:
    """What differs from the deployment's policy, in words; if it is much, the last one counts the rest."""
    every = () if plan.policy_differences is UNSET else plan.policy_differences
    left = len(every) - MOST_DIFFERENCES
    more = (f"{counted(left, 'more value')} in plan.json",) if left > 0 else ()
    return (*(visible(one.in_words()) for one in every[:MOST_DIFFERENCES]), *more)


def read_summary(file: Path) -> PlanSummary:
    """The summary in the file.

    Errors: OSError; msgspec.DecodeError if it is not such a summary; ValueError if a time is none or has no zone, or a
    severity is missing.
    """
    summary = msgspec.json.decode(file.read_bytes(), type=PlanSummary)
    if summary.answered_at is not None:
        datetime.fromisoformat(summary.answered_at)
    counts = (summary.findings, summary.cause_counts or summary.findings)
    if summary.moment.tzinfo is None or any(set(each) != set(SEVERITIES) for each in counts):
        raise ValueError(f"{file}: a time without its zone, or a severity that is missing")
    return summary
