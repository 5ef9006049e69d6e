"""A person's answer to a plan's recommendations: which of them need one, and the answer as it is saved."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.report.answering import answering
from rocketmq_capacity.report.plan_file.plan import Plan
from rocketmq_capacity.report.plan_file.recommendation import Approval
from rocketmq_capacity.vocabulary import INFO


def needing_approval(plan: Plan) -> list[str]:
    """Ids of the plan's recommendations that answer at least one finding of WARNING or CRITICAL, in the plan's order.

    A recommendation that answers only notes (INFO), or no finding, is for information too.
    """
    topics = {group.consumer_group: group.topics for group in plan.groups}
    answers = answering(plan.findings, plan.recommendations, topics)
    needing = {
        position
        for finding, positions in zip(plan.findings, answers, strict=True)
        if finding.severity != INFO and finding.accepted is None
        for position in positions
    }
    return [one.id for position, one in enumerate(plan.recommendations) if position in needing]


@dataclass(frozen=True, slots=True)
class Said:
    """What was said to one recommendation."""

    is_approved: bool
    why: str | None


def said_to_all(approval: Approval) -> dict[str, Said]:
    """The answer to each recommendation that was asked about, by id."""
    approved = set(approval.approved)
    return {one: Said(one in approved, approval.reasons.get(one, approval.why)) for one in approval.recommendations}


def is_about(approval: Approval, plan: Plan) -> bool:
    """Whether the plan still has every recommendation of the answer: a plan that was made again may lack some."""
    return {recommendation.id for recommendation in plan.recommendations}.issuperset(approval.recommendations)


def read_approval(file: Path) -> Approval | None:
    """The approval in the file, or None if there is no file.

    Errors: BadInput if it is not JSON, or not an approval (:func:`approval_of`).
    """
    try:
        value = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadInput(str(file), "", f"is not JSON: {error}") from None
    return approval_of(value, str(file))


def approval_of(value: Any, source: str = "approval") -> Approval:
    """The plan file's ``approval`` from a JSON value, with its ids sorted.

    Errors: BadInput that names ``source`` and the member that is wrong or unknown.
    """
    members = msgspec.structs.fields(Approval)
    names = {member.name for member in members}
    if isinstance(value, dict) and set(value) == names - {"approved", "rejected", "reasons"}:
        # What an earlier version kept: all were answered alike.
        answered = "approved" if value["status"] == "APPROVED" else "rejected"
        value = value | {"approved": [], "rejected": []} | {answered: value["recommendations"]}
    if isinstance(value, dict) and set(value) == names - {"reasons"}:
        value = value | {"reasons": {}}  # of an earlier version too: one reason was for all
    if not isinstance(value, dict) or set(value) != names:
        raise BadInput(source, "$", f"expected an object of {', '.join(member.name for member in members)}")
    for member in members:
        try:
            msgspec.convert(value[member.name], member.type)
        except msgspec.ValidationError as error:
            raise BadInput(source, f"$.{member.name}", f"is {shown(value[member.name])}: {error}") from None
    if not _is_utc(value["at"]):
        raise BadInput(source, "$.at", f"is {shown(value['at'])}; expected a time such as 2026-11-20T08:00:00Z")
    ids = {name: tuple(sorted(set(value[name]))) for name in ("recommendations", "approved", "rejected")}
    if set(ids["approved"]) & set(ids["rejected"]) or {*ids["approved"], *ids["rejected"]} != set(
        ids["recommendations"]
    ):
        problem = "are not the two parts of $.recommendations; expected each of its ids in one of them"
        raise BadInput(source, "$.approved, $.rejected", problem)
    if unknown := sorted(set(value["reasons"]) - set(ids["recommendations"])):
        problem = f"has {shown(unknown[0])}; expected ids of $.recommendations"
        raise BadInput(source, "$.reasons", problem)
    return Approval(**value | ids | {"reasons": dict(sorted(value["reasons"].items()))})


def _is_utc(value: str) -> bool:
    try:
        return value.endswith("Z") and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
