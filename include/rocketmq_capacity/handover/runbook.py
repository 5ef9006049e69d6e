"""The runbook of a plan: what was approved, step by step, for a person at a terminal."""

from typing import Final, Literal

from msgspec import UNSET, Struct
from msgspec.structs import replace

from rocketmq_capacity.handover.moments import seconds_of
from rocketmq_capacity.language.current import phrase, words
from rocketmq_capacity.plan_file.acts import acts_of, is_complete, is_plain
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.steps import RecommendationStep, StepCheck

FORMAT: Final = "rocketmq-capacity/runbook/1"
Status = Literal["APPROVED", "NOTHING_APPROVED", "TOO_OLD", "FROZEN"]


class Order(Struct, frozen=True, kw_only=True):
    """A command; ``paste`` is null for what a person must decide, fill in or read first."""

    command: str
    kind: Literal["LOOK", "CHANGE", "BY_HAND", "NOTE"]
    paste: str | None


class RunbookStep(Struct, frozen=True, kw_only=True):
    """One step; the next one begins only when its checks show what they should."""

    title: str
    expect: str
    blocks: tuple[str, ...]
    orders: tuple[Order, ...]
    checks: tuple[StepCheck, ...]
    way_back: str | None


class Task(Struct, frozen=True, kw_only=True):
    """An approved recommendation."""

    recommendation: str
    action: str
    consumer_group: str | None
    topic: str | None
    who: str | None
    reason: str
    steps: tuple[RunbookStep, ...]
    checks: tuple[StepCheck, ...]
    way_back: str | None


class Approved(Struct, frozen=True, kw_only=True):
    """Who approved, when, why, and the digest of what was seen."""

    by: str | None
    at: str
    why: str | None
    digest: str | None


class Runbook(Struct, frozen=True, kw_only=True):
    """What may be carried out; no task unless ``status`` is APPROVED."""

    format: Literal["rocketmq-capacity/runbook/1"] = FORMAT
    cluster_name: str
    taken_at: str
    valid_until: str | None
    fingerprint: str
    status: Status
    why: str
    approval: Approved | None
    tasks: tuple[Task, ...]


def runbook_of(plan: Plan) -> Runbook:
    """The runbook of a plan of a real cluster, in the language of now."""
    status, why = _status(plan)
    approval = None if plan.approval is UNSET else plan.approval
    until_s = seconds_of(plan.valid_until)
    approved = () if approval is None or status != "APPROVED" else approval.approved
    by_id = {one.id: one for one in plan.recommendations if one.id in approved}
    worst_first = [one for cause in plan.causes for one in cause.recommendations if one in by_id]
    return Runbook(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        valid_until=plan.valid_until,
        fingerprint=plan.fingerprint,
        status=status,
        why=why,
        approval=None
        if approval is None
        else Approved(by=approval.by, at=approval.at, why=approval.why, digest=approval.digest),
        tasks=tuple(_task(by_id[one], int(until_s or 0)) for one in worst_first),
    )


def _status(plan: Plan) -> tuple[Status, str]:
    if plan.approval is UNSET or not plan.approval.approved:
        return "NOTHING_APPROVED", phrase("Nobody has approved a recommendation of this plan.")
    if plan.freeze is not None:
        said = phrase("Nothing may be changed until {ends}: {why}", ends=plan.freeze.ends, why=plan.freeze.why)
        return "FROZEN", said
    until_s, approved_s = seconds_of(plan.valid_until), seconds_of(plan.approval.at)
    if until_s is None or approved_s is None or approved_s >= until_s:
        return "TOO_OLD", phrase("The plan was no longer valid when it was approved. Plan the cluster again.")
    return "APPROVED", phrase("Carry out the tasks one after the other.")


def _task(recommendation: PlanRecommendation, until_s: int) -> Task:
    steps = recommendation.steps
    if steps is UNSET or not steps:
        steps = (
            RecommendationStep(
                title=phrase("Carry it out"), expect=recommendation.reason, commands=recommendation.commands
            ),
        )
    return Task(
        recommendation=recommendation.id,
        action=recommendation.action,
        consumer_group=recommendation.consumer_group,
        topic=recommendation.topic,
        who=recommendation.owner,
        reason=words(recommendation.reason),
        steps=tuple(_step(step, until_s, is_manual=recommendation.manual) for step in steps),
        checks=() if recommendation.check is None else (_check(recommendation.check),),
        way_back=None if recommendation.way_back is None else words(recommendation.way_back),
    )


def _step(step: RecommendationStep, until_s: int, *, is_manual: bool) -> RunbookStep:
    return RunbookStep(
        title=words(step.title),
        expect=words(step.expect),
        blocks=tuple(words(block) for block in step.blocks),
        orders=tuple(
            Order(command=act.command, kind=act.kind, paste=_pasted(act.command, act.kind, until_s))
            for act in acts_of(step.commands, is_manual=is_manual)
        ),
        checks=tuple(map(_check, step.checks)),
        way_back=None if step.way_back is None else words(step.way_back),
    )


def _check(check: StepCheck) -> StepCheck:
    return replace(check, shows=words(check.shows))


def _pasted(command: str, kind: str, until_s: int) -> str | None:
    """What may be pasted into a shell; a command that changes something does nothing once the plan is too old."""
    if kind not in ("LOOK", "CHANGE") or not pastes(command):
        return None
    return command if kind == "LOOK" else f'[ "$(date -u +%s)" -lt {until_s} ] && {command}'


def pastes(command: str) -> bool:
    """Whether a command may be pasted as it is: complete, quoted, and without a character that a terminal obeys."""
    return is_complete(command) and is_plain(command)
