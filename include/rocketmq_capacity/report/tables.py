"""findings.csv and recommendations.csv: the plan's two lists for a spreadsheet (RFC 4180, UTF-8).

They are sorted as the page is: by cause, the worst first.
"""

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rocketmq_capacity.report.approval import said_to_all
from rocketmq_capacity.report.order import beside
from rocketmq_capacity.report.plan_file.finding import Finding
from rocketmq_capacity.report.plan_file.plan import Plan
from rocketmq_capacity.report.plan_file.recommendation import Recommendation
from rocketmq_capacity.report.view.facts import subject

FINDING_COLUMNS: Final = (
    "rule",
    "severity",
    "consumer_group",
    "topic",
    "broker_name",
    "message",
    "subjects",
    "evidence",
    "id",
    "cause",
    "cluster_name",
    "taken_at",
)
RECOMMENDATION_COLUMNS: Final = (
    "id",
    "action",
    "consumer_group",
    "topic",
    "manual",
    "reason",
    "rules",
    "commands",
    "before",
    "after",
    "steps",
    "transition",
    "transition_undecided",
    "config_assignment",
    "cause",
    "alternative",
    "cluster_name",
    "taken_at",
    "answer",
    "answered_by",
    "answered_at",
    "answer_why",
)
MAYBE: Final = ("steps", "transition", "transition_undecided", "config_assignment")
"""Members that not every recommendation has."""
NOT_ASKED: Final = dict.fromkeys(("answer", "answered_by", "answered_at", "answer_why"))

FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet may run a cell that starts like this as a formula; the last four are full-width forms of the first.

Source: OWASP, CSV Injection."""


def findings_csv(plan: Plan) -> bytes:
    """The plan's findings, one record each. A cell of several subjects has one in each line; objects are JSON."""
    by_id = {finding.id: finding for finding in plan.findings}
    return _csv(
        FINDING_COLUMNS,
        ((by_id[one], {"cause": cause.id, **_of(plan)}) for cause in plan.causes for one in cause.findings),
    )


def recommendations_csv(plan: Plan) -> bytes:
    """The plan's recommendations, one record each. A cell of several commands has one in each line.

    These are JSON: ``steps`` of a change that takes several, ``transition`` (what happens meanwhile), and
    ``config_assignment`` (fixed lists for CONFIG). ``transition_undecided`` says why the transition is not known.
    ``alternative`` has the ids of the recommendations that are not carried out if this one is, one in each line.
    ``answer`` is APPROVED or REJECTED; empty if nobody was asked.
    """
    by_id = {recommendation.id: recommendation for recommendation in plan.recommendations}
    others, answers = beside(plan.alternatives), _answers(plan)
    return _csv(
        RECOMMENDATION_COLUMNS,
        (
            (
                by_id[one],
                {
                    **{name: _told(getattr(by_id[one], name)) for name in MAYBE},
                    "cause": cause.id,
                    "alternative": tuple(others.get(one, ())),
                    **_of(plan),
                    **answers.get(one, NOT_ASKED),
                },
            )
            for cause in plan.causes
            for one in cause.recommendations
        ),
    )


def _told(member: Any) -> str | None:
    """A member that not every recommendation has: its text, or its JSON."""
    if member is UNSET:
        return None
    return member if isinstance(member, str) else msgspec.json.encode(member).decode()


def _answers(plan: Plan) -> dict[str, dict[str, str | None]]:
    """What a person said to each recommendation, who, when and why; by id."""
    if plan.approval is UNSET:
        return {}
    who, when = plan.approval.by, plan.approval.at
    return {
        one: {
            "answer": "APPROVED" if said.is_approved else "REJECTED",
            "answered_by": who,
            "answered_at": when,
            "answer_why": said.why,
        }
        for one, said in said_to_all(plan.approval).items()
    }


def _of(plan: Plan) -> dict[str, str]:
    return {"cluster_name": plan.cluster_name, "taken_at": plan.taken_at}


def _csv(columns: Sequence[str], records: Iterable[tuple[Finding | Recommendation, Mapping[str, Any]]]) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_MINIMAL, lineterminator="\r\n")
    writer.writerow(columns)
    for record, more in records:
        writer.writerow(_cell(more[column] if column in more else getattr(record, column)) for column in columns)
    return out.getvalue().encode("utf-8", "surrogatepass")


def _cell(value: Any) -> str:
    if isinstance(value, str):  # first, because most are
        return defused(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        return msgspec.json.encode(value).decode()
    if isinstance(value, list | tuple):
        return defused("\n".join(map(subject, value)))
    return defused(str(value))


def defused(text: str) -> str:
    """The text; with an apostrophe before it if a spreadsheet would take it for a formula."""
    return "'" + text if text.startswith(FORMULA_STARTS) else text
