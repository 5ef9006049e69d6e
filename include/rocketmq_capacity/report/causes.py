"""Causes: what one action mends, with all its consequences.

Every finding and every recommendation belongs to one cause. A finding that is the consequence of another finding of its
group has the cause of that one. For any other finding, look at the recommendations that answer it: the one that also
answers the most urgent finding decides the cause. Time and memory grow linearly with the findings and recommendations.
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
from rocketmq_capacity.report.order import identity, made_unique, nulls_first
from rocketmq_capacity.report.plan_file.finding import Cause, Finding
from rocketmq_capacity.report.plan_file.recommendation import Recommendation
from rocketmq_capacity.report.wording import action_title
from rocketmq_capacity.vocabulary import CHOICE_RULES, INFO, RULE_PRIORITY, RULE_WORDS, Action, Rule, Wording

ORPHAN: Final[Rule] = "ORPHAN_QUEUE"
DUPLICATE: Final[Rule] = "DUPLICATE_CLIENT_ID"
CAPACITY: Final[Rule] = "CONSUMER_CAPACITY"
IDLE: Final[Rule] = "IDLE_CONSUMERS"
BEHIND: Final[tuple[Rule, ...]] = ("LAG_STATE", "LAG_SKEW", "RETENTION_RISK")
"""Consequences of queues that nobody reads, and of clients that are too busy."""
LOOKS: Final[Action] = "INVESTIGATE"

Key = tuple[str, ...]
"""Identifies a cause while its parts are gathered."""


@dataclass(frozen=True, slots=True)
class Causes:
    """The plan's causes, the worst first, and lists of recommendations (ids) of which at most one is carried out."""

    causes: tuple[Cause, ...]
    alternatives: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Past:
    """Since when each finding exists.

    Attributes:
        taken_at: the moment of this plan's snapshot.
        since: by a finding's (rule, group, topic, broker): the moment of the first of the unbroken row of runs that
            found it.
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
    """The causes of these findings, and the recommendations that exclude one another.

    Args:
        findings: with ids.
        recommendations: in the plan's order; positions count from 0.
        topics: the business topics of each group.
        past: since when the findings exist; None if there is no run before.
    """
    ordered = sorted(findings, key=urgency)
    answers = answering(ordered, recommendations, topics)
    first = _first_findings(answers)
    comes_of = list(_comes_of(ordered))
    keys = [_key(index, ordered, recommendations, answers, first, comes_of) for index in range(len(ordered))]
    gathered: dict[Key, _Gathered] = {}
    for index, key in enumerate(keys):
        gathered.setdefault(key, _Gathered()).findings.append(index)
    leading = set(keys)
    for position in sorted(range(len(recommendations)), key=lambda each: _order(recommendations[each], each)):
        own = _led_by(position)
        key = own if own in leading or position not in first else keys[first[position]]
        gathered.setdefault(key, _Gathered()).recommendations.append(position)
    causes = sorted(
        (_cause(key, one, ordered, recommendations, comes_of, past) for key, one in gathered.items()), key=_worst_first
    )
    ids = made_unique(cause.id for cause in causes)
    lists = _alternatives(ordered, recommendations, answers, comes_of)
    return Causes(
        causes=tuple(replace(cause, id=one) for cause, one in zip(causes, ids, strict=True)),
        alternatives=tuple(tuple(recommendations[position].id for position in one) for one in lists),
    )


def _first_findings(answers: Sequence[Sequence[int]]) -> dict[int, int]:
    """By position of a recommendation, the index of the first, most urgent finding that it answers."""
    first: dict[int, int] = {}
    for index, positions in enumerate(answers):
        for position in positions:
            first.setdefault(position, index)
    return first


def _comes_of(findings: Sequence[Finding]) -> Iterator[int | None]:
    """For each finding the index of another finding of its group whose consequence it is, or None."""
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
    answers: Sequence[Sequence[int]],
    first: Mapping[int, int],
    comes_of: Sequence[int | None],
) -> Key:
    """The cause of a finding: the recommendation that also answers the most urgent finding; a change before a look.

    Without a recommendation, the cause is the finding's rule, group and topic.
    """
    origin = comes_of[index]
    while origin is not None:
        index, origin = origin, comes_of[origin]
    finding = findings[index]
    if answers[index]:
        return _led_by(
            min(answers[index], key=lambda position: (recommendations[position].action == LOOKS, first[position]))
        )
    return "finding", finding.rule, *(name or "" for name in (finding.consumer_group, finding.topic))


def _led_by(position: int) -> Key:
    return "recommendation", str(position)


def _order(recommendation: Recommendation, position: int) -> tuple[int, int]:
    return ACTION_ORDER.get(recommendation.action, len(ACTION_ORDER)), position


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
    leader = next((position for position in gathered.recommendations if _led_by(position) == key), None)
    in_order = sorted(gathered.recommendations, key=lambda position: _order(recommendations[position], position))
    if leader is not None:
        in_order = [leader, *(position for position in in_order if position != leader)]
    advice = [recommendations[position] for position in in_order]
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
    """The name that all findings have; if there are none or several, the name of the action."""
    different = set(names)
    return different.pop() if len(different) == 1 else otherwise


def _worst_first(cause: Cause) -> tuple[Any, ...]:
    """A sort key: by severity, by the rules' priority, by messages at risk, by name."""
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
    answers: Sequence[Sequence[int]],
    comes_of: Sequence[int | None],
) -> list[tuple[int, ...]]:
    """Lists of positions of recommendations; at most one of each list is carried out.

    Two recommendations for one finding exclude one another, unless they are the same action for different topics, such
    as more queues for several topics. A recommendation is in no list if it also answers a finding whose rule does not
    leave a choice (`CHOICE_RULES`).
    """
    needed = {
        position for index, of in enumerate(answers) if findings[index].rule not in CHOICE_RULES for position in of
    }
    choices: dict[int, dict[int, None]] = {}
    for index, of in enumerate(answers):
        origin = comes_of[index]
        # Idle clients, and more clients than needed: the same new number of clients answers both findings.
        asked = origin if origin is not None and findings[origin].rule == IDLE else index
        if findings[index].rule in CHOICE_RULES:
            options = (
                position for position in of if position not in needed and recommendations[position].action != LOOKS
            )
            choices.setdefault(asked, {}).update(dict.fromkeys(options))
    lists = {one for options in choices.values() for one in _exclusive(options, recommendations)}
    return sorted(_largest(lists))


def _exclusive(options: Iterable[int], recommendations: Sequence[Recommendation]) -> Iterator[tuple[int, ...]]:
    classes: dict[tuple[str, int | None], list[int]] = {}
    for position in options:
        one = recommendations[position]
        alone = position if one.consumer_group is not None else None
        classes.setdefault((one.action, alone), []).append(position)
    if len(classes) < 2:
        return
    if sum(len(each) > 1 for each in classes.values()) <= 1:
        yield from (tuple(sorted(one)) for one in product(*classes.values()))
    else:
        for some, others in combinations(classes.values(), 2):
            yield from (tuple(sorted(pair)) for pair in product(some, others))


def _largest(lists: Iterable[tuple[int, ...]]) -> Iterator[tuple[int, ...]]:
    """The lists that are not a part of another one."""
    holding: dict[int, list[tuple[int, ...]]] = {}
    for one in lists:
        for position in one:
            holding.setdefault(position, []).append(one)
    for one in lists:
        rarest = min((holding[position] for position in one), key=len)
        if not any(len(other) > len(one) and set(one) <= set(other) for other in rarest):
            yield one
