"""People's answers to a plan's recommendations: which of them need one, how answers are kept, and which one counts.

Every answer is a file of its own, which nothing replaces: ``<run>/answers/<moment>-<digits>.json``. An answer counts
only for the recommendations that the person has seen: its digest must be the plan's.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import msgspec
from msgspec import UNSET, UnsetType

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import Approval
from rocketmq_capacity.report.answering import answering
from rocketmq_capacity.report.looks import only_looks
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.writing import add_whole, sync
from rocketmq_capacity.vocabulary import INFO

DIGITS: Final = 12
"""Hexadecimal digits of a file's name, which tell answers of the same moment apart."""
FILE: Final = re.compile(r"[0-9]{4}-[0-9T.:-]{1,40}Z-[0-9a-f]{12}\.json")
"""Names of answers; a hidden part of a file that is being written is none."""
NO_MORE: Final = "unknown"
"""The digest of an answer of an earlier version, to recommendations that have been made again since."""


def needing_approval(plan: Plan) -> list[str]:
    """Ids of the plan's recommendations that answer at least one finding of WARNING or CRITICAL, in the plan's order.

    A recommendation that answers only notes (INFO), or no finding, is for information too. To look needs no approval,
    and what is PENDING asks for none yet.
    """
    topics = {group.consumer_group: group.topics for group in plan.groups}
    answers = answering(plan.findings, plan.recommendations, topics)
    needing = {
        position
        for finding, positions in zip(plan.findings, answers, strict=True)
        if finding.severity != INFO and finding.alarms
        for position in positions
    }
    return [one.id for position, one in enumerate(plan.recommendations) if position in needing and not only_looks(one)]


@dataclass(frozen=True, slots=True)
class Said:
    """What was said to one recommendation."""

    is_approved: bool
    why: str | None


def answer_of_each(approval: Approval) -> dict[str, Said]:
    """The answer to each recommendation that was approved or rejected, by id; the others are open."""
    approved = set(approval.approved)
    answered = approved | set(approval.rejected)
    return {
        one: Said(one in approved, approval.reasons.get(one, approval.why))
        for one in approval.recommendations
        if one in answered
    }


def divided(
    answers: Sequence[Approval], plan: Plan, digest: str | UnsetType
) -> tuple[Approval | None, tuple[Approval, ...]]:
    """The answer that counts for the plan, or None, and all others in their order.

    It is the last of those to these recommendations. An answer goes before the end of a question that nobody answered.

    Args:
        answers: in the order in which they were given.
        plan: the plan.
        digest: of the recommendations that need an answer.
    """
    to_these = [place for place, one in enumerate(answers) if _is_to(one, plan, digest)]
    counts = max(to_these, key=lambda place: (answers[place].by is not None, place), default=None)
    others = tuple(one for place, one in enumerate(answers) if place != counts)
    return None if counts is None else answers[counts], others


def _is_to(answer: Approval, plan: Plan, digest: str | UnsetType) -> bool:
    """Whether it is an answer to these recommendations; one of an earlier version has only their ids."""
    if answer.digest is not None:
        return digest is not UNSET and answer.digest == digest
    return {recommendation.id for recommendation in plan.recommendations}.issuperset(answer.recommendations)


def keep_answer(run: Run, answer: Approval, at: datetime) -> Path:
    """Add an answer to those of a run; ``at`` is in UTC. The same one again changes nothing."""
    content = json_file(answer)
    file = run.answers / f"{at:%Y-%m-%dT%H.%M.%S.%fZ}-{sha256(content).hexdigest()[:DIGITS]}.json"
    add_whole(file, content)
    return file


def answers_of(run: Run) -> tuple[Approval, ...]:
    """Every answer of a run, in the order in which they were given. Errors: BadInput for a damaged file."""
    files = sorted(file for file in run.answers.glob("*.json") if FILE.fullmatch(file.name))
    earlier = [run.approval] if run.approval.exists() else []
    return tuple(_read(file) for file in [*earlier, *files])


def set_aside(run: Run) -> None:
    """Recommendations are made again: what an earlier version kept as the answer to them is not one to the new ones.

    Newer answers need nothing: they have the digest of what was answered. Errors: BadInput for a damaged file.
    """
    if run.approval.exists():
        answer = _read(run.approval)
        at = datetime.fromisoformat(answer.at)
        keep_answer(run, msgspec.structs.replace(answer, digest=NO_MORE), at)
        run.approval.unlink()
        sync(run.folder, deep=False)


def _read(file: Path) -> Approval:
    try:
        value = msgspec.json.decode(file.read_bytes())
    except (OSError, ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise BadInput(str(file), "", f"is not JSON: {error}") from None
    return approval_of(value, str(file))


def approval_of(value: Any, source: str = "approval") -> Approval:
    """The plan file's ``approval`` from a JSON value, with its ids sorted.

    Errors: BadInput that names ``source`` and the member that is wrong or unknown.
    """
    members = msgspec.structs.fields(Approval)
    names = {member.name for member in members}
    if isinstance(value, dict):
        value = {"digest": None} | value  # what an earlier version kept
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
    if set(ids["approved"]) & set(ids["rejected"]) or not {*ids["approved"], *ids["rejected"]} <= set(
        ids["recommendations"]
    ):
        problem = "are not parts of $.recommendations; expected each of its ids in one of them at most"
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
