"""tickets.json: a ticket for each cause that is more than information, for trackers.

Its key is the same from day to day, so that a tracker opens one ticket and not one a day. A ticket whose key is missing
in a later file is done, unless ``still_found`` has the key. A cause of which everything is accepted is none, and has no
ticket. One that is only PENDING has none yet, and one that is closing keeps its own.
"""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

from msgspec import Struct
from msgspec.structs import replace

from rocketmq_capacity.catalogue.rule import rule_of, rules
from rocketmq_capacity.handover.markdown import check_of, text_of
from rocketmq_capacity.language.current import phrase, words
from rocketmq_capacity.plan_file.changes import Closing
from rocketmq_capacity.plan_file.finding import Cause, Impact, PlanFinding
from rocketmq_capacity.plan_file.order import identity
from rocketmq_capacity.plan_file.owners import PeopleOfPlan
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.plan_file.visible import visible
from rocketmq_capacity.vocabulary import INFO, Severity

FORMAT: Final = "rocketmq-capacity/tickets/1"
LONGEST_TITLE: Final = 250
"""Characters; Jira takes 255, GitHub 256."""


class Ticket(Struct, frozen=True, kw_only=True):
    """A ticket; ``body`` is Markdown, ``link`` leads to the cause on the page beside this file."""

    key: str
    owner: str | None
    owners: tuple[str, ...] = ()
    tier: int | None
    severity: Severity
    since: str | None
    is_new: bool | None
    title: str
    message: str = ""
    impact: Impact = Impact()
    body: str
    link: str


class Tickets(Struct, frozen=True, kw_only=True):
    """The tickets of a plan, the worst first."""

    format: Literal["rocketmq-capacity/tickets/1"] = FORMAT
    cluster_name: str
    taken_at: str
    fingerprint: str
    tickets: tuple[Ticket, ...]
    still_found: tuple[str, ...] = ()


def tickets_of(plan: Plan) -> Tickets:
    """The tickets of a plan of a real cluster, in the language of now."""
    recommended = {one.id: one for one in plan.recommendations}
    findings = {one.id: one for one in plan.findings}
    owners = PeopleOfPlan.of_groups(plan.groups)
    tickets = tuple(
        Ticket(
            key=_key(plan, _steady_id(one)),
            owner=one.owner,
            owners=_owners(one, findings, owners),
            tier=one.tier,
            severity=one.severity,
            since=one.since,
            is_new=one.is_new,
            title=_title(plan.cluster_name, one),
            message=visible(words(one.message)),
            impact=one.impact,
            body="".join(f"{line}\n" for line in _body(one, recommended)),
            link=f"report.html#{one.anchor}",
        )
        for one in plan.causes
        if any(findings[each].alarms and findings[each].severity != INFO for each in one.findings)
    )
    return Tickets(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        fingerprint=plan.fingerprint,
        tickets=tickets,
        still_found=tuple(sorted({_key(plan, one) for one in _found_ids(plan)}.difference(one.key for one in tickets))),
    )


def _key(plan: Plan, cause: str) -> str:
    return f"{plan.cluster_name}/{cause}"


def _steady_id(cause: Cause) -> str:
    """The id of the cause; without the topic where it is only an example, which may be another one next time."""
    is_example = cause.consumer_group is not None and cause.rule in rules() and rule_of(cause.rule).names_example
    return identity(cause.rule, cause.consumer_group, None) if is_example else cause.id


def _owners(cause: Cause, findings: Mapping[str, PlanFinding], owners: PeopleOfPlan) -> tuple[str, ...]:
    """Whose the cause is: all owners of its findings."""
    places = [(findings[one].consumer_group, findings[one].topic) for one in cause.findings]
    every = {owner for place in places or [(cause.consumer_group, cause.topic)] for owner in owners.of(*place)}
    return tuple(sorted(every))


def _found_ids(plan: Plan) -> Iterator[str]:
    """The id of each cause, and those that each finding would give a cause of its own: of one topic, or of several."""
    yield from (cause.id for cause in plan.causes)
    closing: tuple[Closing, ...] = () if plan.changes is None else plan.changes.closing
    findings: tuple[PlanFinding | Closing, ...] = (*plan.findings, *closing)
    for finding in findings:
        for group in {finding.consumer_group, None}:
            yield from (identity(finding.rule, group, topic) for topic in {finding.topic, None})


def _title(cluster: str, cause: Cause) -> str:
    title = f"{cluster}: {visible(words(cause.title))}"
    return title if len(title) <= LONGEST_TITLE else f"{title[: LONGEST_TITLE - 1]}…"


def _body(cause: Cause, recommended: Mapping[str, PlanRecommendation]) -> Iterator[str]:
    answers = [recommended[name] for name in cause.recommendations]
    yield text_of(words(cause.message))
    yield ""
    rule = text_of(cause.rule or words("none"))
    yield phrase("- Severity: {severity}, rule {rule}", severity=cause.severity, rule=rule)
    yield phrase("- Since: {since}", since=text_of(cause.since or words("unknown")))
    owner = text_of(cause.owner) if cause.owner else phrase("the policy names none, or several")
    yield phrase("- Owner: {owner}", owner=owner)
    if cause.consumer_group is not None:
        yield phrase("- Consumer group: {name}", name=text_of(cause.consumer_group))
    if cause.topic is not None:
        yield phrase("- Topic: {name}", name=text_of(cause.topic))
    yield phrase("- In the report: {title}", title=text_of(words(cause.title)))
    for answer in answers[:1]:
        yield ""
        action, reason = text_of(answer.action), text_of(words(answer.reason))
        yield phrase("What to do ({action}, {id}): {reason}", action=action, id=answer.id, reason=reason)
    if answers[1:]:
        yield ""
        further = ", ".join(f"{one.action} ({one.id})" for one in answers[1:])
        yield phrase("Further recommendations: {further}", further=text_of(further))
    if cause.check is not None:
        yield ""
        yield from check_of(replace(cause.check, shows=words(cause.check.shows)))
