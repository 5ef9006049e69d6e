"""Why an answer to the question about a plan is refused, and what an answer means.

Airflow's API server asks this before it stores an answer. To read a large plan takes a second, and no other thread runs
meanwhile. So the server has it done by a process of its own: ``python -m …`` with the answer on standard input.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any, Final

import msgspec

from rocketmq_capacity.errors import BadInput, DatasetMissing, StoreUnreachable
from rocketmq_capacity.own_process import answer_of, answer_question
from rocketmq_capacity.plan_file.plan import OLDEST, Plan, read_plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.asked_digest import digest_of
from rocketmq_capacity.report.selection import ONLY, REJECTED, Decision, asked_about, decide, decide_against
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import place_of
from rocketmq_capacity.store.run_lookup import existing_run

APPROVE: Final = "Approve"
REJECT: Final = "Reject"
COMMENT: Final = "why"
"""The field of the answer's form that takes a reason."""
DIGEST: Final = "seen"
"""The field of the answer's form with the digest of the recommendations that the person has seen."""


class OtherRecommendations(BadInput):
    """The answer is to other recommendations than the plan has now; nothing of it is kept."""


def check_digest(plan: Plan, digest: str) -> None:
    """Errors: OtherRecommendations if the plan's recommendations are not those of the question any more."""
    if digest_of(plan, needing_approval(plan)) != digest:
        problem = (
            "its recommendations are not those of this question any more, because it was made again; expected an "
            "answer to the newer question about it"
        )
        raise OtherRecommendations("the plan", "", problem)


def hindrance(plan: Plan, run: Run, lake: Lake, now: datetime) -> str | None:
    """Why the run's plan cannot be approved, or None if it can."""
    if not plan.is_daily:
        return "it is a trial with another policy, and not the day's plan"
    if now - plan.taken_at_utc > OLDEST:
        return f"the snapshot is older than {OLDEST / timedelta(hours=1):g} hours"
    if now > plan.last_moment:
        return f"it was valid until {plan.valid_until}"
    for report in Shelf(lake, "plans").plans(run.folder.parent.name)[:1]:
        if report.summary.fingerprint != plan.fingerprint and report.summary.moment > plan.taken_at_utc:
            return f"the cluster has a later snapshot, of {report.summary.taken_at}"
    return None


def refusal_of(
    option: str, fields: Mapping[str, Any], run_key: str, digest: str, lake: Lake, now: datetime
) -> str | None:
    """Why an answer with these fields would not be kept as it is; None if it would be.

    Args:
        option: Approve or Reject.
        fields: those of the form. An answer that leaves out what it has seen is to the question as it is now.
        run_key: the run's id in the lake.
        digest: of the recommendations in the question.
        lake: the lake.
        now: the moment that decides whether a plan is too old.
    """
    run = existing_run(lake, run_key)
    plan = read_plan(run.report / "plan.json")
    if texts_of(fields).get(DIGEST) not in {None, "", digest}:
        return "The question has been asked again since, about other recommendations. Open it again, and answer that."
    try:
        check_digest(plan, digest)
    except OtherRecommendations as error:
        return f"Nothing is stored. {error}"
    if option == APPROVE and (problem := hindrance(plan, run, lake, now)):
        return f"The plan cannot be approved: {problem}."
    problem, _ = decided(plan, option, texts_of(fields))
    return problem


def texts_of(fields: Mapping[str, Any]) -> dict[str, str]:
    """The fields of an answer as texts."""
    return {name: str(value or "").strip() for name, value in fields.items()}


def decided(plan: Plan, option: str, fields: Mapping[str, str]) -> tuple[str | None, Decision]:
    """What an answer means for each recommendation; with a problem none is approved."""
    asked = asked_about(plan, needing_approval(plan))
    only, reject = fields.get(ONLY, ""), fields.get(REJECTED, "")
    try:
        return None, decide(plan, asked, only, reject) if option == APPROVE else decide_against(asked, reject)
    except BadInput as error:
        return str(error), decide_against(asked, "")


class CheckedAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """An answer to be checked, with the arguments of `refusal_of`."""

    option: str
    fields: dict[str, Any]
    run_key: str
    digest: str
    lake: str
    now: datetime


def refusal_by_own_process(answer: CheckedAnswer, variables: Mapping[str, str]) -> str | None:
    """`refusal_of`, by a process of its own; None as well for a run that is not in the lake.

    Args:
        answer: is checked.
        variables: with which the process opens the lake, beside those of this one.

    Errors: OwnProcessFailed if it takes too much time or memory.
    """
    said: str | None = answer_of(__name__, answer, str | None, variables)
    return said


def _answer(answer: CheckedAnswer) -> str | None:
    """The reason; None as well for a run that is not in the lake."""
    try:
        return refusal_of(
            answer.option, answer.fields, answer.run_key, answer.digest, Lake(place_of(answer.lake)), answer.now
        )
    except DatasetMissing:
        return None  # the task that keeps the answer says it
    except (BadInput, StoreUnreachable) as error:
        return str(error)


if __name__ == "__main__":
    answer_question(CheckedAnswer, _answer)
