"""findings.csv and recommendations.csv: the plan's two lists for a spreadsheet (RFC 4180, UTF-8).

They are sorted as the page is: by cause, the worst first.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Final

import msgspec
from msgspec import UNSET

from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.order import beside, identity
from rocketmq_capacity.plan_file.owners import PeopleOfPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.approval import answer_of_each
from rocketmq_capacity.report.facts import subject

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
    "owner",
    "tier",
    "accepted_by",
    "accepted_until",
    "accepted_why",
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
    "owner",
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

BY_OWNER: Final = "by-owner"
"""The folder of the findings of each owner."""
UNSAFE: Final = re.compile(r"[^A-Za-z0-9.-]")
LONGEST_FILE_NAME: Final = 100
FORMULA_STARTS: Final = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""A spreadsheet may run a cell that starts like this as a formula; the last four are full-width forms of the first.

Source: OWASP, CSV Injection."""
NEW_CELL: Final = re.compile(r"[;\t\r\n]")
BEGINS_INSIDE: Final = re.compile(r"(?<=[;\t\r\n])([=+\-@\uff1d\uff0b\uff0d\uff20])")
"""Where a formula would begin after a separator of cells or lines."""


def findings_csv(plan: Plan) -> bytes:
    """The plan's findings, one record each. A cell of several subjects has one in each line; objects are JSON.

    Findings that somebody has accepted belong to no cause, and come last.
    """
    return _csv(FINDING_COLUMNS, _findings(plan))


def findings_by_owner(plan: Plan) -> dict[str, bytes]:
    """By name of the file: the findings of each owner, in the form and the order of findings.csv.

    A finding about a topic is in the files of all owners whose groups read the topic.
    """
    records: dict[str, list[tuple[PlanFinding | PlanRecommendation, Mapping[str, Any]]]] = {
        group.owner: [] for group in plan.groups if group.owner is not None
    }
    if not records:
        return {}
    owners = PeopleOfPlan.of_groups(plan.groups)
    for finding, more in _findings(plan):
        for owner in owners.of(finding.consumer_group, finding.topic):
            records[owner].append((finding, more))
    files = owner_files(records)
    return {files[owner]: _csv(FINDING_COLUMNS, found) for owner, found in sorted(records.items())}


def owner_files(owners: Iterable[str]) -> dict[str, str]:
    """By owner the name of its file: safe for every file system, and different for different owners.

    What is not a letter or a digit of ASCII, a point or a hyphen is an underscore. A name that this changes gets a few
    digits of its hash, and so does one that differs from another only in capitals.
    """
    plain = {owner: UNSAFE.sub("_", owner).strip(".")[:LONGEST_FILE_NAME] for owner in owners}
    alike = Counter(name.lower() for name in plain.values())
    return {
        owner: f"{BY_OWNER}/{name if name == owner and alike[name.lower()] == 1 else f'{name}-{identity(owner)}'}.csv"
        for owner, name in plain.items()
    }


def _findings(plan: Plan) -> Iterator[tuple[PlanFinding, dict[str, Any]]]:
    """The findings with what is beside them in a record."""
    by_id = {finding.id: finding for finding in plan.findings}
    tiers = {group.consumer_group: group.tier for group in plan.groups}
    open_ones = ((by_id[one], cause.id) for cause in plan.causes for one in cause.findings)
    accepted = ((finding, None) for finding in plan.findings if finding.accepted is not None)
    for finding, cause in chain(open_ones, accepted):
        acceptance = finding.accepted
        yield (
            finding,
            {
                "cause": cause,
                "tier": tiers.get(finding.consumer_group or ""),
                "accepted_by": None if acceptance is None else acceptance.by,
                "accepted_until": None if acceptance is None else acceptance.until,
                "accepted_why": None if acceptance is None else acceptance.why,
                **_of(plan),
            },
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
    return member if isinstance(member, str) else _json(member)


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
        for one, said in answer_of_each(plan.approval).items()
    }


def _of(plan: Plan) -> dict[str, str]:
    return {"cluster_name": plan.cluster_name, "taken_at": plan.taken_at}


def _csv(
    columns: Sequence[str], records: Iterable[tuple[PlanFinding | PlanRecommendation, Mapping[str, Any]]]
) -> bytes:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="\r\n")
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
        return _json(value)
    if isinstance(value, list | tuple):
        return defused("\n".join(map(subject, value)))
    return defused(str(value))


def _json(value: Any) -> str:
    """The value as JSON, in which a character that would begin a formula is an escape."""
    text = msgspec.json.encode(value).decode()
    return BEGINS_INSIDE.sub(lambda found: f"\\u{ord(found[1]):04x}", text) if NEW_CELL.search(text) else text


def defused(text: str) -> str:
    """The text, with an apostrophe wherever a spreadsheet would take what follows for a formula.

    That is its beginning. It is also each place where a spreadsheet begins a cell that does not split at commas, as in
    countries with decimal commas: quotes in the middle of a cell mean nothing to it.
    """
    if text.startswith(FORMULA_STARTS):
        text = "'" + text
    return BEGINS_INSIDE.sub(r"'\1", text) if NEW_CELL.search(text) else text
