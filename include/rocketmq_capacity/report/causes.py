"""Causes: what one action mends, with all that comes of it.

Every finding and every recommendation belongs to one cause. A finding belongs with the recommendation that answers the
most urgent findings of those that answer it; but one that only comes of another finding of its group belongs with that
one. The time and the memory grow linearly with the findings and recommendations.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, Final

from msgspec.structs import replace

from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.report.answering import ACTION_ORDER, answering, urgency
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.impact import impact_of
from rocketmq_capacity.report.order import identity, nulls_first, told_apart
from rocketmq_capacity.report.plan_file import Cause, Finding, Recommendation
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import (
    CHOICE_RULES,
    INFO,
    RULE_PRIORITY,
    RULE_WORDS,
    Action,
    Rule,
    Wording,
)

ORPHAN: Final[Rule] = "ORPHAN_QUEUE"
DUPLICATE: Final[Rule] = "DUPLICATE_CLIENT_ID"
CAPACITY: Final[Rule] = "CONSUMER_CAPACITY"
IDLE: Final[Rule] = "IDLE_CONSUMERS"
BEHIND: Final[tuple[Rule, ...]] = ("LAG_STATE", "LAG_SKEW", "RETENTION_RISK")
"""What comes of queues that nobody reads, and of clients that are too busy."""
LOOKS: Final[Action] = "INVESTIGATE"

Key = tuple[str, ...]
"""What keeps causes apart while they are gathered."""


@dataclass(frozen=True, slots=True)
class Causes:
    """The plan's causes, the worst first, and its alternatives: ids of recommendations, one of each at most."""

    causes: tuple[Cause, ...]
    alternatives: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Past:
    """Since when there is what is found.

    Attributes:
        taken_at: of this plan's snapshot.
        since: for rule, group, topic and broker of a finding the time of the first run in a row that found it.
    """

    taken_at: str
    since: Mapping[tuple[str, str | None, str | None, str | None], str]


@dataclass(slots=True)
class _Gathered:
    findings: list[int] = field(default_factory=list)
    recommendations: list[int] = field(default_factory=list)


def causes_of(
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    topics: Mapping[str, Sequence[str]],
    past: Past | None = None,
) -> Causes:
    """The causes of these findings, and which of the recommendations exclude one another.

    Args:
        findings: with ids.
        recommendations: in the plan's order.
        topics: the business topics of each group.
        past: since when there is what is found; None where no run before says so.
    """
    ordered = sorted(findings, key=urgency)
    places = answering(ordered, recommendations, topics)
    first = _first_findings(places)
    comes_of = list(_comes_of(ordered))
    keys = [_key(index, ordered, recommendations, places, first, comes_of) for index in range(len(ordered))]
    gathered: dict[Key, _Gathered] = {}
    for index, key in enumerate(keys):
        gathered.setdefault(key, _Gathered()).findings.append(index)
    leading = set(keys)
    for place in sorted(range(len(recommendations)), key=lambda each: _order(recommendations[each], each)):
        own = _led_by(place)
        key = own if own in leading or place not in first else keys[first[place]]
        gathered.setdefault(key, _Gathered()).recommendations.append(place)
    causes = sorted(
        (_cause(key, one, ordered, recommendations, comes_of, past) for key, one in gathered.items()), key=_place
    )
    ids = told_apart(cause.id for cause in causes)
    lists = _alternatives(ordered, recommendations, places, comes_of)
    return Causes(
        causes=tuple(replace(cause, id=one) for cause, one in zip(causes, ids, strict=True)),
        alternatives=tuple(tuple(recommendations[place].id for place in one) for one in lists),
    )


def _first_findings(places: Sequence[Sequence[int]]) -> dict[int, int]:
    """For each recommendation the most urgent finding that it answers; its findings are in that order."""
    first: dict[int, int] = {}
    for index, answers in enumerate(places):
        for place in answers:
            first.setdefault(place, index)
    return first


def _comes_of(findings: Sequence[Finding]) -> Iterator[int | None]:
    """For each finding another one of its group that it comes of, by index."""
    of_group: dict[str, dict[str, list[int]]] = {}
    for index, finding in enumerate(findings):
        if finding.consumer_group is not None:
            of_group.setdefault(finding.consumer_group, {}).setdefault(finding.rule, []).append(index)
    for finding in findings:
        yield None if finding.consumer_group is None else _origin(finding, of_group[finding.consumer_group], findings)


def _origin(finding: Finding, others: Mapping[str, Sequence[int]], findings: Sequence[Finding]) -> int | None:
    if finding.rule == ORPHAN:
        named = finding.evidence.get("cause")
        rule = DUPLICATE if DUPLICATE in others else named if isinstance(named, str) else ""
        return others[rule][0] if rule in others and rule != ORPHAN else None
    if finding.rule in BEHIND:
        unread = {one for index in others.get(ORPHAN, ()) for one in findings[index].subjects}
        queues = [one for one in finding.subjects if isinstance(one, Queue)]
        if queues and unread.issuperset(queues):
            return others[ORPHAN][0]
        busy = [index for index in others.get(CAPACITY, ()) if findings[index].severity != INFO]
        return busy[0] if busy else None
    if finding.rule == CAPACITY and finding.severity == INFO and IDLE in others:
        return others[IDLE][0]
    return None


def _key(
    index: int,
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    places: Sequence[Sequence[int]],
    first: Mapping[int, int],
    comes_of: Sequence[int | None],
) -> Key:
    """The cause of a finding: the recommendation that answers the most urgent findings, or else what it says of what.

    A change goes before a look.
    """
    origin = comes_of[index]
    while origin is not None:
        index, origin = origin, comes_of[origin]
    finding = findings[index]
    if places[index]:
        return _led_by(min(places[index], key=lambda place: (recommendations[place].action == LOOKS, first[place])))
    return "finding", finding.rule, *(name or "" for name in (finding.consumer_group, finding.topic))


def _led_by(place: int) -> Key:
    return "recommendation", str(place)


def _order(recommendation: Recommendation, place: int) -> tuple[int, int]:
    return ACTION_ORDER.get(recommendation.action, len(ACTION_ORDER)), place


def _cause(
    key: Key,
    gathered: _Gathered,
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    comes_of: Sequence[int | None],
    past: Past | None,
) -> Cause:
    found = [findings[index] for index in gathered.findings]
    root = next((findings[index] for index in gathered.findings if comes_of[index] is None), None)
    leader = next((place for place in gathered.recommendations if _led_by(place) == key), None)
    in_order = sorted(gathered.recommendations, key=lambda place: _order(recommendations[place], place))
    if leader is not None:
        in_order = [leader, *(place for place in in_order if place != leader)]
    advice = [recommendations[place] for place in in_order]
    lead = advice[0] if advice else None
    since = [] if past is None else [past.since.get(_about(one), past.taken_at) for one in found]
    group = _common([one.consumer_group for one in found], lead.consumer_group if lead else None)
    topic = _common([one.topic for one in found], lead.topic if lead else None)
    rule = root.rule if root else next(iter(lead.rules), "") if lead else ""
    return Cause(
        id=identity(rule, group, topic),
        rule=rule,
        severity=found[0].severity if found else INFO,
        action=lead.action if lead else None,
        consumer_group=group,
        topic=topic,
        title=action_title(lead) if lead else RULE_WORDS.get(rule, Wording(rule, "")).title,
        message=root.message if root else lead.reason if lead else "",
        findings=tuple(one.id for one in found),
        recommendations=tuple(one.id for one in advice),
        impact=impact_of(found),
        since=min(since, default=None),
        is_new=None if past is None or not since else min(since) == past.taken_at,
        changes_cluster=lead is not None and lead.changes_cluster,
        check=lead.check if lead else None,
        way_back=lead.way_back if lead else None,
    )


def _about(finding: Finding) -> tuple[str, str | None, str | None, str | None]:
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name


def _common(names: Sequence[str | None], otherwise: str | None) -> str | None:
    """The one name that all findings have; where there are none or several, what the action names."""
    different = set(names)
    return different.pop() if len(different) == 1 else otherwise


def _place(cause: Cause) -> tuple[Any, ...]:
    """Sorts the worst first: by severity, by what to mend first, by messages at risk, by name."""
    return (
        SEVERITY_RANK[cause.severity],
        RULE_PRIORITY.get(cause.rule, len(RULE_PRIORITY)),
        cause.rule,
        -(cause.impact.messages_at_risk or 0),
        nulls_first(cause.consumer_group, cause.topic),
        cause.findings,
        cause.recommendations,
    )


def _alternatives(
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    places: Sequence[Sequence[int]],
    comes_of: Sequence[int | None],
) -> list[tuple[int, ...]]:
    """Places of recommendations of which at most one is carried out.

    Of one finding several recommendations of the same action for different topics go together, as more queues of
    several topics do; any other two exclude one another. What answers a finding that is no matter of choice is done in
    any case.
    """
    needed = {place for index, of in enumerate(places) if findings[index].rule not in CHOICE_RULES for place in of}
    choices: dict[int, dict[int, None]] = {}
    for index, of in enumerate(places):
        origin = comes_of[index]
        # Clients without a queue, and clients that could go: one number of clients answers both.
        asked = origin if origin is not None and findings[origin].rule == IDLE else index
        if findings[index].rule in CHOICE_RULES:
            options = (place for place in of if place not in needed and recommendations[place].action != LOOKS)
            choices.setdefault(asked, {}).update(dict.fromkeys(options))
    lists = {one for options in choices.values() for one in _exclusive(options, recommendations)}
    return sorted(_largest(lists))


def _exclusive(options: Iterable[int], recommendations: Sequence[Recommendation]) -> Iterator[tuple[int, ...]]:
    classes: dict[tuple[str, int | None], list[int]] = {}
    for place in options:
        one = recommendations[place]
        alone = place if one.consumer_group is not None else None
        classes.setdefault((one.action, alone), []).append(place)
    if len(classes) < 2:
        return
    if sum(len(each) > 1 for each in classes.values()) <= 1:
        yield from (tuple(sorted(one)) for one in product(*classes.values()))
    else:
        for some, others in combinations(classes.values(), 2):
            yield from (tuple(sorted(pair)) for pair in product(some, others))


def _largest(lists: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The lists without those that another one holds whole."""
    holding: dict[int, list[tuple[int, ...]]] = {}
    for one in lists:
        for place in one:
            holding.setdefault(place, []).append(one)
    for one in lists:
        rarest = min((holding[place] for place in one), key=len)
        if not any(len(other) > len(one) and set(one) <= set(other) for other in rarest):
            yield one
