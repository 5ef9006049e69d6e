"""Asks a person about a plan's recommendations, and keeps the answer with the plan.

Only a current plan can be approved: its snapshot is the cluster's latest, and at most a day old. This is checked again
when the answer comes.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from airflow.sdk import Param
from msgspec import UNSET

from rocketmq_capacity.errors import BadInput, cut
from rocketmq_capacity.provider.report_asset import report_address
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.order import beside
from rocketmq_capacity.report.plan_file.plan import Plan, read_plan
from rocketmq_capacity.report.plan_file.recommendation import Approval
from rocketmq_capacity.report.selection import (
    LONGEST_REASON,
    ONLY,
    REJECTED,
    Asked,
    Decision,
    asked_about,
    decide,
    decide_against,
)
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.report.view.causes import impact_of
from rocketmq_capacity.report.visible import visible
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import existing_run
from rocketmq_capacity.store.writing import write_whole

OLDEST: Final = timedelta(hours=24)
"""The greatest age of a snapshot whose plan can be approved."""
APPROVE: Final = "Approve"
REJECT: Final = "Reject"
COMMENT: Final = "why"
"""The field of the answer's form that takes a reason."""
LONGEST: Final = 30_000
"""Characters of a field that names recommendations, each with its reason."""
LONGEST_LINE: Final = 200
"""Characters of a recommendation's reason in the question."""
SHOWN: Final = 25
"""The most recommendations that the question names; the report has all of them."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a person about one plan; JSON values, because it is stored in Airflow's database.

    Attributes:
        run_key: the run's id in the lake.
        fingerprint: of the snapshot that the plan was made from.
        subject: the question in one line.
        body: what it is about, as Markdown.
    """

    run_key: str
    fingerprint: str
    subject: str
    body: str

    def task_arguments(self) -> dict[str, str]:
        """The input of the tasks that ask and record."""
        return {name: getattr(self, name) for name in ("run_key", "fingerprint", "subject", "body")}


def questions(run_keys: Iterable[str], lake: Lake, now: datetime) -> list[Question]:
    """The questions about these runs' plans; none if no plan needs an approval, or can still have one.

    Errors: DatasetMissing for a run that is not in the lake.
    """
    asked = []
    for run_key in sorted(set(run_keys)):
        run = existing_run(lake, run_key)
        plan = read_plan(run.report / "plan.json")
        ids = needing_approval(plan)
        if ids and hindrance(plan, plan.fingerprint, run, lake, now) is None:
            asked.append(_question(run, plan, ids))
    return asked


def hindrance(plan: Plan, fingerprint: str, run: Run, lake: Lake, now: datetime) -> str | None:
    """Why the run's plan cannot be approved, or None if it can; the fingerprint is of the snapshot in the question."""
    if plan.fingerprint != fingerprint:
        return "the plan was made anew from another snapshot"
    if now - _taken_at(plan) > OLDEST:
        return f"the snapshot is older than {OLDEST / timedelta(hours=1):g} hours"
    for report in Shelf(lake, "plans").reports(run.folder.parent.name)[:1]:
        if report.summary.fingerprint != fingerprint and report.summary.moment > _taken_at(plan):
            return f"the cluster has a later snapshot, of {report.summary.taken_at}"
    return None


def refusal_of(option: str, fields: Mapping[str, Any], run_key: str, lake: Lake, now: datetime) -> str | None:
    """Why an answer with these fields would not be kept as it is; None if it would be."""
    run = existing_run(lake, run_key)
    plan = read_plan(run.report / "plan.json")
    if option == APPROVE and (problem := hindrance(plan, plan.fingerprint, run, lake, now)):
        return f"The plan cannot be approved: {problem}."
    problem, _ = _decided(plan, option, _told(fields))
    return problem


def _told(fields: Mapping[str, Any]) -> dict[str, str]:
    """The fields of an answer as texts."""
    return {name: str(value or "").strip() for name, value in fields.items()}


def _decided(plan: Plan, option: str, told: Mapping[str, str]) -> tuple[str | None, Decision]:
    """What an answer means for each recommendation; with a problem none is approved."""
    asked = asked_about(plan, needing_approval(plan))
    only, reject = told.get(ONLY, ""), told.get(REJECTED, "")
    try:
        return None, decide(plan, asked, only, reject) if option == APPROVE else decide_against(asked, reject)
    except BadInput as error:
        return str(error), decide_against(asked, "")


def record_answer(answer: Mapping[str, Any], run_key: str, fingerprint: str, lake: Lake, now: datetime) -> str:
    """Keep the person's answer in the run's folder; returns APPROVED or REJECTED.

    Args:
        answer: the result of Airflow's operator: ``chosen_options``, ``params_input``, ``responded_at`` and
            ``responded_by_user``, which is null if nobody answered in time.
        run_key: the run's id in the lake.
        fingerprint: of the snapshot in the question.
        lake: the lake.
        now: the moment that decides whether a plan is too old.
    """
    run = existing_run(lake, run_key)
    plan = read_plan(run.report / "plan.json")
    told = _told(answer.get("params_input") or {})
    user, comment = answer.get("responded_by_user"), told.get(COMMENT, "")
    option = APPROVE if answer["chosen_options"] == [APPROVE] and user is not None else REJECT
    problem, decision = _decided(plan, option, told)
    why = comment or (None if user else "nobody answered in time")
    if option == APPROVE and (problem := hindrance(plan, fingerprint, run, lake, now) or problem):
        decision = decide_against(asked_about(plan, needing_approval(plan)), "")
        why = f"approved, but {problem}" + (f" ({comment})" if comment else "")
    approval = Approval(
        status="APPROVED" if decision.approved else "REJECTED",
        by=_name_of(user),
        at=_moment(answer.get("responded_at"), now).strftime("%Y-%m-%dT%H:%M:%SZ"),
        why=why,
        recommendations=tuple(needing_approval(plan)),
        approved=decision.approved,
        rejected=decision.rejected,
        reasons=dict(sorted(decision.reasons.items())),
    )
    write_whole(run.approval, msgspec.json.format(msgspec.json.encode(approval), indent=2) + b"\n")
    return approval.status


def answer_fields() -> dict[str, Param]:
    """The fields of the answer's form, beside Approve and Reject."""
    named = "Numbers of the list, ids, actions (EXPAND_QUEUES), rules (IDLE_CONSUMERS) or severities (WARNING)"
    # A field that must be a text has to be filled in before Airflow's form lets anybody answer.
    text: dict[str, Any] = {"type": ["null", "string"]}
    lines = text | {"format": "multiline"}
    only = f"{named}. Empty: all. A reason may follow a colon, on a line of its own: 1, 4: agreed with the shop"
    rejected = "The same words, each line with its reason after a colon: 2: it costs too much"
    why = "The reason for all that have none of their own."
    return {
        ONLY: Param(None, **lines, maxLength=LONGEST, title="Approve only these", description=only),
        REJECTED: Param(None, **lines, maxLength=LONGEST, title="Reject these", description=rejected),
        COMMENT: Param(None, **text, maxLength=LONGEST_REASON, title="Why", description=why),
    }


def _question(run: Run, plan: Plan, ids: list[str]) -> Question:
    cluster, many = visible(plan.cluster_name), len(ids)
    asked = asked_about(plan, ids)
    report = report_address("plans", run)
    recorded = "" if plan.recorded_at is UNSET else f", recorded on {plan.recorded_at}"
    return Question(
        run_key=run.folder.name,
        fingerprint=plan.fingerprint,
        subject=f"Approve {many} recommendation{'s' * (many != 1)} for cluster {cluster}?",
        body="\n".join([
            f"Snapshot of {plan.taken_at}{recorded}.",
            f"[The report]({report}) shows reasons, commands and what each changes.",
            "",
            f"**{APPROVE}** records that the recommendations may be carried out: all of them, or those that you name, "
            "without those that you reject by name. Of alternatives it takes the one that you name, or else the first.",
            f"**{REJECT}** rejects all. Nothing is carried out either way. The question waits until the snapshot is "
            f"{OLDEST / timedelta(hours=1):g} hours old; no answer rejects all.",
            "",
            "To give some a reason of their own, put it after a colon, with a line for each reason: "
            "`2, 5: the disk is full`. *Why* is for all the others. If the answer is refused, Airflow says why. Then "
            "nothing is stored, and the question stays open.",
            "",
            *_lines(plan, asked),
        ]),
    )


def _lines(plan: Plan, asked: list[Asked]) -> Iterator[str]:
    """The recommendations by cause, numbered; of many the first, and the others by action."""
    number = {one.recommendation.id: one.number for one in asked}
    others = beside(plan.alternatives)
    cause = ""
    impact = {one.id: ", ".join(impact_of(one.impact)) for one in plan.causes}
    for one in asked[:SHOWN]:
        if one.cause != cause:
            cause = one.cause
            at_risk = f" ({impact[cause]})" if impact.get(cause) else ""
            yield f"**{one.severity}** {_plain(one.title)}{at_risk}"
        about = one.recommendation.consumer_group or one.recommendation.topic or ""
        instead = sorted(number[other] for other in others.get(one.recommendation.id, ()) if other in number)
        choice = f" *Instead of {', '.join(map(str, instead))}.*" if instead else ""
        yield f"- {one.number}: {_code(one.recommendation.action)} {_code(about)} {_plain(one.reason)}{choice}"
    if left := Counter(f"{one.severity} {one.recommendation.action}" for one in asked[SHOWN:]):
        counts = ", ".join(f"{count} {words}" for words, count in sorted(left.items()))
        yield f"- {SHOWN + 1} to {len(asked)}: {counts}. Name them by severity, action or rule; the report lists each."


def _plain(text: str) -> str:
    """A sentence as Markdown that is only text, in one line."""
    short = cut(" ".join(visible(text).split()), LONGEST_LINE)
    return re.sub(r"([\\`*_{}\[\]<>#+|!~])", r"\\\1", short)


def _code(text: str) -> str:
    """A name as Markdown's code: no name of a cluster becomes a link, a picture or a heading."""
    return f"`{visible(text).replace('`', chr(39))}`" if text else ""


def _taken_at(plan: Plan) -> datetime:
    return datetime.fromisoformat(plan.taken_at)


def _moment(value: object, now: datetime) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.astimezone(UTC) if isinstance(moment, datetime) else now


def _name_of(user: Any) -> str | None:
    """A user as Airflow gives it: an object or a mapping with ``id`` and ``name``."""
    if user is None:
        return None
    held = user if isinstance(user, Mapping) else {name: getattr(user, name, None) for name in ("id", "name")}
    return str(held.get("name") or held.get("id"))
