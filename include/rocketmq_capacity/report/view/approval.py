"""The answers to a plan's recommendations, as the top of the page says them."""

from collections.abc import Iterator
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import Approval
from rocketmq_capacity.report.approval import Said
from rocketmq_capacity.report.figures import when
from rocketmq_capacity.report.limits import ANSWERS, APPROVED_LINKS
from rocketmq_capacity.report.view.answers import Answers, Link


@dataclass(frozen=True, slots=True)
class AnsweredAlike:
    """The recommendations that were answered alike for one reason, those of the worst causes first."""

    is_approved: bool
    why: str | None
    """Their own reason; None where that of the whole answer is theirs."""
    links: tuple[Link, ...]
    more: int

    @property
    def total(self) -> int:
        """How many there are."""
        return len(self.links) + self.more


@dataclass(frozen=True, slots=True)
class Given:
    """Who answered when and why."""

    is_approved: bool
    by: str | None
    at: str
    at_iso: str
    why: str | None


@dataclass(frozen=True, slots=True)
class Other(Given):
    """An answer that does not count."""

    is_replaced: bool
    """Whether a later answer to these recommendations replaced it; else it is to others."""
    approved: int
    total: int


@dataclass(frozen=True, slots=True)
class ApprovalView(Given):
    """The answer that counts."""

    answered: tuple[AnsweredAlike, ...]
    """The approved ones first."""
    open: int
    """Recommendations of the question that the answer left open."""
    more: int
    """Recommendations whose answer the page leaves to the CSV file."""


@dataclass(frozen=True, slots=True)
class OtherAnswers:
    """All answers that do not count, the last first."""

    shown: tuple[Other, ...]
    more: int
    has_one_that_counts: bool


def approval_of(approval: Approval, answers: Answers) -> ApprovalView:
    """The plan's ``approval``."""
    answered = sorted(_alike(approval, answers), key=lambda one: not one.is_approved)
    return ApprovalView(
        is_approved=approval.status == "APPROVED",
        by=approval.by,
        at=when(approval.at),
        at_iso=approval.at,
        why=approval.why,
        answered=tuple(answered[:ANSWERS]),
        open=len(approval.recommendations) - len(approval.approved) - len(approval.rejected),
        more=sum(one.total for one in answered[ANSWERS:]),
    )


def others_of(plan: Plan) -> OtherAnswers | None:
    """The plan's ``other_answers``, the last first; None if there are none."""
    if plan.other_answers is UNSET:
        return None
    shown = [
        Other(
            is_approved=one.status == "APPROVED",
            by=one.by,
            at=when(one.at),
            at_iso=one.at,
            why=one.why,
            is_replaced=plan.approval is not UNSET and one.digest == plan.approval.digest,
            approved=len(one.approved),
            total=len(one.recommendations),
        )
        for one in reversed(plan.other_answers[-ANSWERS:])
    ]
    return OtherAnswers(tuple(shown), len(plan.other_answers) - len(shown), plan.approval is not UNSET)


def _alike(approval: Approval, answers: Answers) -> Iterator[AnsweredAlike]:
    alike: dict[Said, list[str]] = {}
    for name in answers.in_order:
        if name in answers.said:
            alike.setdefault(answers.said[name], []).append(name)
    for said, ids in alike.items():
        links = tuple(answers.link(one) for one in ids[:APPROVED_LINKS])
        why = None if said.why == approval.why else said.why
        yield AnsweredAlike(said.is_approved, why, links, len(ids) - len(links))
