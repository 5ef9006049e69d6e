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
    links: tuple[Link, ...]
    """The recommendations that were asked about, those of the worst causes first."""
    more: int


def approval_of(approval: Approval, answers: Answers) -> ApprovalView:
    """The plan's ``approval``."""
    named = set(approval.recommendations)
    asked = [one for one in answers.in_order if one in named]
    return ApprovalView(
        is_approved=approval.status == "APPROVED",
        by=approval.by,
        at=when(approval.at),
        at_iso=approval.at,
        why=approval.why,
        links=tuple(answers.link(one) for one in asked[:APPROVED_LINKS]),
        more=max(0, len(asked) - APPROVED_LINKS),
    )
