"""Asks a person about a plan's recommendations, and keeps the answer with the plan.

Only a current plan can be approved: its snapshot is the cluster's latest, and at most a day old. This is checked again
when the answer comes.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rocketmq_capacity.provider.report_asset import report_address
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.plan_file import Approval, Plan, read_plan
from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.report.visible import visible
from rocketmq_capacity.store.lake import Lake, Run, write_whole
from rocketmq_capacity.store.run_lookup import existing_run

OLDEST: Final = timedelta(hours=24)
"""The greatest age of a snapshot whose plan can be approved."""
APPROVE: Final = "Approve"
REJECT: Final = "Reject"
COMMENT: Final = "why"
"""The field of the answer's form."""
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
    user, comment = answer.get("responded_by_user"), str((answer.get("params_input") or {}).get(COMMENT) or "").strip()
    is_approved = answer["chosen_options"] == [APPROVE] and user is not None
    why = comment or (None if user else "nobody answered in time")
    if is_approved and (reason := hindrance(plan, fingerprint, run, lake, now)):
        is_approved, why = False, f"approved, but {reason}" + (f" ({comment})" if comment else "")
    approval = Approval(
        status="APPROVED" if is_approved else "REJECTED",
        by=_name_of(user),
        at=_moment(answer.get("responded_at"), now).strftime("%Y-%m-%dT%H:%M:%SZ"),
        why=why,
        recommendations=tuple(needing_approval(plan)),
    )
    write_whole(run.approval, msgspec.json.format(msgspec.json.encode(approval), indent=2) + b"\n")
    return approval.status


def _question(run: Run, plan: Plan, ids: list[str]) -> Question:
    cluster, many = visible(plan.cluster_name), len(ids)
    asked = set(ids)
    chosen = [recommendation for recommendation in plan.recommendations if recommendation.id in asked]
    lines = [f"- {_code(one.action)} {_code(one.consumer_group or one.topic or '')}" for one in chosen[:SHOWN]]
    more = [f"- and {many - SHOWN} more"] if many > SHOWN else []
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
            *lines,
            *more,
        ]),
    )


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
