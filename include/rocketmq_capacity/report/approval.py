"""What a person says to a plan's recommendations: which of them have to be answered, and the answer as it is kept."""

from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.report.answering import answering
from rocketmq_capacity.report.plan_file import Approval, Plan
from rocketmq_capacity.vocabulary import INFO


def needing_approval(plan: Plan) -> list[str]:
    """Ids of the plan's recommendations that answer at least one finding of WARNING or CRITICAL, in the plan's order.

    A recommendation that answers notes alone, or nothing that was found, is for information as they are.
    """
    topics = {group.consumer_group: group.topics for group in plan.groups}
    places = answering(plan.findings, plan.recommendations, topics)
    needing = {
        place for finding, of in zip(plan.findings, places, strict=True) if finding.severity != INFO for place in of
    }
    return [recommendation.id for place, recommendation in enumerate(plan.recommendations) if place in needing]


def is_about(approval: Approval, plan: Plan) -> bool:
    """Whether the plan still has every recommendation that was answered: a plan made anew may not."""
    return {recommendation.id for recommendation in plan.recommendations}.issuperset(approval.recommendations)


def read_approval(file: Path) -> Approval | None:
    """The approval that the file holds, or None where there is no file.

    Errors: BadInput where it is no JSON, or not what :func:`approval_of` takes.
    """
    try:
        value = msgspec.json.decode(file.read_bytes())
    except FileNotFoundError:
        return None
    except msgspec.DecodeError as error:
        raise BadInput(str(file), "", f"is not JSON: {error}") from None
    return approval_of(value, str(file))


def approval_of(value: Any, source: str = "approval") -> Approval:
    """The plan file's ``approval`` from a JSON value; the ids that were asked about are sorted here.

    Errors: BadInput that names ``source`` and the member that is not what it should be, or not known.
    """
    members = msgspec.structs.fields(Approval)
    names = {member.name for member in members}
    if isinstance(value, dict) and set(value) == names - {"approved", "rejected"}:
        # What an earlier version kept: all were answered alike.
        answered = "approved" if value["status"] == "APPROVED" else "rejected"
        value = value | {"approved": [], "rejected": []} | {answered: value["recommendations"]}
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
        problem = "do not part $.recommendations in two; expected each of these ids in one of them"
        raise BadInput(source, "$.approved, $.rejected", problem)
    return Approval(**value | ids)


def _is_utc(value: str) -> bool:
    try:
        return value.endswith("Z") and datetime.fromisoformat(value).tzinfo is not None
    except ValueError:
        return False
