"""Asks a person about a plan's recommendations, and keeps the answer with the plan.

Only a current plan can be approved: its snapshot is the cluster's latest and at most a day old, and the plan is still
valid. This is checked again when the answer comes. An answer is to the recommendations that the question has shown, and
to no others: question, answer and plan have their digest.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from airflow.sdk import Context, Param
from msgspec import UNSET

from rocketmq_capacity.errors import cut
from rocketmq_capacity.plan_file.order import beside
from rocketmq_capacity.plan_file.plan import OLDEST, Plan, read_plan
from rocketmq_capacity.plan_file.recommendation import Approval
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.provider.form_text import phrase, words
from rocketmq_capacity.provider.report_asset import ask_again, report_address
from rocketmq_capacity.report.approval import keep_answer, needing_approval
from rocketmq_capacity.report.asked_digest import digest_of
from rocketmq_capacity.report.impact_words import impact_words
from rocketmq_capacity.report.refusal import (
    APPROVE,
    COMMENT,
    DIGEST,
    REJECT,
    OtherRecommendations,
    check_digest,
    decided,
    hindrance,
    texts_of,
)
from rocketmq_capacity.report.selection import (
    LONGEST_REASON,
    ONLY,
    REJECTED,
    AskedRecommendation,
    asked_about,
    decide_against,
)
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import existing_run

log: Final = logging.getLogger(__name__)
ENDS_AFTER: Final = OLDEST
"""A question ends when its snapshot is so old, or earlier."""
LONGEST: Final = 30_000
"""Characters of a field that names recommendations, each with its reason."""
LONGEST_LINE: Final = 200
"""Characters of a recommendation's reason in the question."""
LONGEST_HEADING: Final = 80
"""Characters of a cause's title in the question: a heading of two lines in the column of Airflow's page."""
SHOWN: Final = 25
"""The most recommendations that the question names; the report has all of them."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question to a person about one plan.

    Attributes:
        run_key: the run's id in the lake.
        digest: of the recommendations, as the question shows them.
        subject: the question in one line.
        body: what it is about, as Markdown.
        until: the last moment at which the plan can be approved; the question ends then.
    """

    run_key: str
    digest: str
    subject: str
    body: str
    until: datetime


def questions(run_keys: Iterable[str], lake: Lake, now: datetime) -> list[Question]:
    """The questions about these runs' plans; none if no plan needs an approval, or can still have one.

    Errors: DatasetMissing for a run that is not in the lake.
    """
    asked = (question_about(run_key, lake, now) for run_key in sorted(set(run_keys)))
    return [question for question in asked if question is not None]


def question_about(run_key: str, lake: Lake, now: datetime) -> Question | None:
    """The question about a run's plan as it is now; None if it needs no approval, or can have none any more.

    Errors: DatasetMissing for a run that is not in the lake.
    """
    run = existing_run(lake, run_key)
    plan = read_plan(run.report / "plan.json")
    ids = needing_approval(plan)
    if not ids or hindrance(plan, run, lake, now) is not None:
        return None
    return _question(run, plan, ids)


def record_answer(answer: Mapping[str, Any], run_key: str, digest: str, lake: Lake, now: datetime) -> str:
    """Add the person's answer to those in the run's folder; returns APPROVED or REJECTED.

    Args:
        answer: the result of Airflow's operator: ``chosen_options``, ``params_input``, ``responded_at`` and
            ``responded_by_user``, which is null if nobody answered in time.
        run_key: the run's id in the lake.
        digest: of the recommendations in the question.
        lake: the lake.
        now: the moment that decides whether a plan is too old.

    Errors: OtherRecommendations if the plan has other recommendations now; nothing is kept.
    """
    run = existing_run(lake, run_key)
    plan = read_plan(run.report / "plan.json")
    check_digest(plan, digest)
    fields = texts_of(answer.get("params_input") or {})
    user, comment = answer.get("responded_by_user"), fields.get(COMMENT, "")
    option = APPROVE if answer["chosen_options"] == [APPROVE] and user is not None else REJECT
    problem, decision = decided(plan, option, fields)
    why = comment or (None if user else "nobody answered in time")
    if option == APPROVE and (problem := hindrance(plan, run, lake, now) or problem):
        decision = decide_against(asked_about(plan, needing_approval(plan)), "")
        why = f"approved, but {problem}" + (f" ({comment})" if comment else "")
    at = _moment(answer.get("responded_at"), now)
    approval = Approval(
        status="APPROVED" if decision.approved else "REJECTED",
        by=_name_of(user),
        at=at.strftime("%Y-%m-%dT%H:%M:%SZ"),
        why=why,
        recommendations=tuple(needing_approval(plan)),
        approved=decision.approved,
        rejected=decision.rejected,
        reasons=dict(sorted(decision.reasons.items())),
        digest=digest,
    )
    keep_answer(run, approval, at)
    return approval.status


def record_or_ask_again(answer: Mapping[str, Any], run_key: str, lake: Lake, context: Context) -> str:
    """Keep the answer of the task that asks; returns APPROVED, REJECTED, ASKED_AGAIN or NOT_KEPT.

    An answer to other recommendations than the plan has now is not kept, and a new run asks about these, if they can be
    approved at all.
    """
    now = datetime.now(UTC)
    try:
        return record_answer(answer, run_key, str(answer.get("digest") or ""), lake, now)
    except OtherRecommendations as error:
        log.warning("the answer is not kept: %s", error)
    if question_about(run_key, lake, now) is None:
        return "NOT_KEPT"
    ask_again(context, existing_run(lake, run_key))
    return "ASKED_AGAIN"


def answer_fields(digest: str = "") -> dict[str, Param]:
    """The fields of the answer's form, beside Approve and Reject; ``digest`` is of the recommendations it shows."""
    # A field that must be a text has to be filled in before Airflow's form lets anybody answer.
    text: dict[str, Any] = {"type": ["null", "string"]}
    lines = text | {"format": "multiline"}
    only = phrase(
        "Numbers of the list, ids, actions (EXPAND_QUEUES), rules (IDLE_CONSUMERS) or severities (WARNING). Empty: "
        "all. Others stay open. A reason may follow a colon: 1, 4: agreed with the shop"
    )
    rejected = phrase("The same words, each line with its reason after a colon: 2: it costs too much")
    why = phrase("The reason for all that have none of their own.")
    return {
        ONLY: Param(None, **lines, maxLength=LONGEST, title=phrase("Approve only these"), description=only),
        REJECTED: Param(None, **lines, maxLength=LONGEST, title=phrase("Reject these"), description=rejected),
        COMMENT: Param(None, **text, maxLength=LONGEST_REASON, title=phrase("Why"), description=why),
        # The form sends it with the answer. The only choice is what the form shows.
        DIGEST: Param(
            digest or None,
            type=["null", "string"],
            enum=[digest, None] if digest else [None],
            title=phrase("Digest of these recommendations"),
            description=phrase("Leave it as it is: it says which recommendations you have seen."),
        ),
    }


def _question(run: Run, plan: Plan, ids: list[str]) -> Question:
    cluster, many = visible(plan.cluster_name), len(ids)
    asked = asked_about(plan, ids)
    report = report_address("plans", run)
    recorded = "" if plan.recorded_at is UNSET else phrase(", recorded on {at}", at=plan.recorded_at)
    subject = (
        phrase("Approve {count} recommendation for cluster {cluster}?", count=many, cluster=cluster)
        if many == 1
        else phrase("Approve {count} recommendations for cluster {cluster}?", count=many, cluster=cluster)
    )
    return Question(
        run_key=run.folder.name,
        digest=digest_of(plan, ids),
        until=plan.last_moment,
        subject=subject,
        body="\n".join([
            phrase(
                "Snapshot of {at}{recorded}. [The report]({report}) shows reasons, commands and effects.",
                at=plan.taken_at,
                recorded=recorded,
                report=report,
            ),
            *_lines(plan, asked),
            "",
            phrase("### How to answer"),
            "",
            phrase(
                "- **{approve}** approves all, or only those that you name; what you name nowhere stays open for the "
                "next plan. Of alternatives it approves the one that you name, or else the first.",
                approve=APPROVE,
            ),
            phrase("- **{reject}** rejects all. Nothing is carried out either way.", reject=REJECT),
            phrase("- A reason follows a colon, on a line of its own: `2, 5: the disk is full`."),
            phrase("- The question ends at {moment}: that rejects all.", moment=utc_text(plan.last_moment)),
        ]),
    )


def _lines(plan: Plan, asked: list[AskedRecommendation]) -> Iterator[str]:
    """The recommendations under the headings of their causes, numbered; of many the first, and the others by action."""
    number = {one.recommendation.id: one.number for one in asked}
    others = beside(plan.alternatives)
    cause = ""
    impact = {one.id: ", ".join(impact_words(one.impact)) for one in plan.causes}
    for item in asked[:SHOWN]:
        if item.cause != cause:
            cause = item.cause
            # In Markdown a heading right after a list would be a part of its last item.
            title = _plain(words(item.title), LONGEST_HEADING)
            yield from ("", phrase("### {severity}: {title}", severity=item.severity.capitalize(), title=title), "")
            if impact.get(cause):
                yield from (words(f"{impact[cause]}."), "")
        advice = item.recommendation
        instead = sorted(number[other] for other in others.get(advice.id, ()) if other in number)
        choice = phrase(" *Instead of {numbers}.*", numbers=", ".join(map(str, instead))) if instead else ""
        about, reason = _code(advice.consumer_group or advice.topic or ""), _plain(words(item.reason, plan.sentences))
        yield f"- {item.number}: {_code(advice.action)} {about} {reason}{choice}"
    if left := Counter(f"{one.severity} {one.recommendation.action}" for one in asked[SHOWN:]):
        counts = ", ".join(f"{count} {kind}" for kind, count in sorted(left.items()))
        yield from ("", phrase("### More"), "")
        yield phrase(
            "- {first} to {last}: {counts}. Name them by severity, action or rule; the report lists each.",
            first=SHOWN + 1,
            last=len(asked),
            counts=counts,
        )


def _plain(text: str, longest: int = LONGEST_LINE) -> str:
    """A sentence as Markdown that is only text, in one line."""
    short = cut(" ".join(visible(text).split()), longest)
    return re.sub(r"([\\`*_{}\[\]<>#+|!~])", r"\\\1", short)


def _code(text: str) -> str:
    """A name as Markdown's code: no name of a cluster becomes a link, a picture or a heading."""
    return f"`{visible(text).replace('`', chr(39))}`" if text else ""


def _moment(value: object, now: datetime) -> datetime:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return moment.astimezone(UTC) if isinstance(moment, datetime) else now


def _name_of(user: Any) -> str | None:
    """A user as Airflow gives it: an object or a mapping with ``id`` and ``name``."""
    if user is None:
        return None
    held = user if isinstance(user, Mapping) else {name: getattr(user, name, None) for name in ("id", "name")}
    return str(held.get("name") or held.get("id"))
