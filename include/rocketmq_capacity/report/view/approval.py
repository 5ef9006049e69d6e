"""The answer to a plan's recommendations, as the top of the page says it."""

from dataclasses import dataclass

from rocketmq_capacity.report.figures import when
from rocketmq_capacity.report.limits import APPROVED_LINKS
from rocketmq_capacity.report.plan_file import Approval
from rocketmq_capacity.report.view.answers import Answers, Link


@dataclass(frozen=True, slots=True)
class ApprovalView:
    """Who answered what, when and why."""

    is_approved: bool
    by: str | None
    at: str
    at_iso: str
    why: str | None
    approved: "Answered"
    rejected: "Answered"


@dataclass(frozen=True, slots=True)
class Answered:
    """The recommendations that were answered alike, those of the worst causes first."""

    links: tuple[Link, ...]
    more: int

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.links) + self.more


def approval_of(approval: Approval, answers: Answers) -> ApprovalView:
    """The plan's ``approval``."""
    return ApprovalView(
        is_approved=approval.status == "APPROVED",
        by=approval.by,
        at=when(approval.at),
        at_iso=approval.at,
        why=approval.why,
        approved=_answered(approval.approved, answers),
        rejected=_answered(approval.rejected, answers),
    )


def _answered(ids: tuple[str, ...], answers: Answers) -> Answered:
    named = set(ids)
    alike = [one for one in answers.in_order if one in named]
    return Answered(tuple(answers.link(one) for one in alike[:APPROVED_LINKS]), max(0, len(alike) - APPROVED_LINKS))
