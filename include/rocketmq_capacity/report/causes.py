"""Causes: what one action mends, with all its consequences.

Every finding and every recommendation belongs to one cause. A finding that is the consequence of another finding of its
group has the cause of that one. For any other finding, look at the recommendations that answer it: the one that also
answers the most urgent finding decides the cause. Time and memory grow linearly with the findings and recommendations.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from operator import attrgetter
from typing import Any, Final, TypeVar

from msgspec.structs import replace

from rocketmq_capacity.assessment.versions import version_named_in
from rocketmq_capacity.catalogue.action import INVESTIGATE, action_of
from rocketmq_capacity.catalogue.rule import rule_of, rules
from rocketmq_capacity.plan_file.finding import Cause, PlanFinding
from rocketmq_capacity.plan_file.order import identity, made_unique, nulls_first
from rocketmq_capacity.plan_file.owners import PeopleOfPlan
from rocketmq_capacity.plan_file.pairs import place_of
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.alternatives import alternatives
from rocketmq_capacity.report.answering import answering, urgency
from rocketmq_capacity.report.crossing import CROSS_ROOM, crossing_words, pair_of
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.far_origins import LOSS
from rocketmq_capacity.report.impact import impact_of
from rocketmq_capacity.report.origins import LAG_STATE, ORPHAN, direct_origins, first_origin
from rocketmq_capacity.report.shut_off import shut_off, shut_off_words
from rocketmq_capacity.report.wording import action_title, lower_first
from rocketmq_capacity.tables.assess.findings import FoundPlace
from rocketmq_capacity.vocabulary import CRITICAL, INFO

COVERAGE: Final = "TOPIC_COVERAGE"
NOBODYS: Final = PeopleOfPlan({}, {})
"""Of a policy that tells nothing of groups."""

AnyCause = TypeVar("AnyCause")
"""As the plan has it, or as the page shows it."""
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
    since: Mapping[FoundPlace, str]


@dataclass(slots=True)
class _Gathered:
    findings: list[int] = field(default_factory=list)
    recommendations: list[int] = field(default_factory=list)


def causes_of(
    findings: Sequence[PlanFinding],
    recommendations: Sequence[PlanRecommendation],
    topics: Mapping[str, Sequence[str]],
    past: Past | None = None,
    owners: PeopleOfPlan = NOBODYS,
) -> Causes:
    """The causes of these findings, and the recommendations that exclude one another.

    Args:
        findings: with ids.
        recommendations: in the plan's order; positions count from 0.
        topics: the business topics of each group.
        past: since when the findings exist; None if there is no run before.
        owners: whose groups and topics are.
    """
    ordered = sorted(findings, key=urgency)
    answers = answering(ordered, recommendations, topics)
    first = _first_findings(answers)
    comes_of = list(direct_origins(ordered))
    origins = [first_origin(index, comes_of) for index in range(len(ordered))]
    mended = _mended(ordered, answers, origins)
    keys = [_key(origin, ordered, recommendations, answers, first, mended) for origin in origins]
    gathered: dict[Key, _Gathered] = {}
    for index, key in enumerate(keys):
        gathered.setdefault(key, _Gathered()).findings.append(index)
    leading = set(keys)
    for position in sorted(range(len(recommendations)), key=lambda each: _order(recommendations[each], each)):
        leader_key = _led_by(position)
        key = leader_key if leader_key in leading or position not in first else keys[first[position]]
        gathered.setdefault(key, _Gathered()).recommendations.append(position)
    causes = sorted(
        (_cause(key, one, ordered, recommendations, comes_of, past, owners) for key, one in gathered.items()),
        key=_worst_first,
    )
    ids = made_unique(cause.id for cause in causes)
    causes = [replace(cause, id=one) for cause, one in zip(causes, ids, strict=True)]
    titles = different_titles([cause.title for cause in causes], causes, _wrong, _place)
    lists = alternatives(ordered, recommendations, answers, comes_of)
    return Causes(
        causes=tuple(replace(cause, title=title) for cause, title in zip(causes, titles, strict=True)),
        alternatives=tuple(tuple(recommendations[position].id for position in one) for one in lists),
    )


def _first_findings(answers: Sequence[Sequence[int]]) -> dict[int, int]:
    """By position of a recommendation, the index of the first, most urgent finding that it answers."""
    first: dict[int, int] = {}
    for index, positions in enumerate(answers):
        for position in positions:
            first.setdefault(position, index)
    return first


def _mended(
    findings: Sequence[PlanFinding], answers: Sequence[Sequence[int]], origins: Sequence[int]
) -> Mapping[tuple[int, int], int]:
    """By a finding's index and a recommendation's position: what is urgent of that origin and answered by it."""
    return Counter(
        (origin, position)
        for finding, origin, positions in zip(findings, origins, answers, strict=True)
        if finding.severity != INFO
        for position in positions
    )


def _key(
    index: int,
    findings: Sequence[PlanFinding],
    recommendations: Sequence[PlanRecommendation],
    answers: Sequence[Sequence[int]],
    first: Mapping[int, int],
    mended: Mapping[tuple[int, int], int],
) -> Key:
    """The cause of the finding that others come of: the recommendation that also answers the most urgent finding.

    A change comes before a look; of several, the one that mends the most comes first, and then the one that is easier
    to undo. Without a recommendation, the cause is the finding's rule, group and topic.
    """
    finding = findings[index]
    if (rooms := pair_of(finding)) is not None:
        return "rooms", *rooms
    if (brokers := shut_off(finding)) is not None:
        return "brokers", *brokers
    if answers[index]:

        def rank(position: int) -> tuple[bool, int, int]:
            return recommendations[position].action == INVESTIGATE, first[position], -mended.get((index, position), 0)

        return _led_by(min(answers[index], key=rank))
    return "finding", finding.rule, *(name or "" for name in (finding.consumer_group, finding.topic))


def _led_by(position: int) -> Key:
    return "recommendation", str(position)


def _order(recommendation: PlanRecommendation, position: int) -> tuple[int, int]:
    return action_of(recommendation.action).place, position


def _cause(
    key: Key,
    gathered: _Gathered,
    findings: Sequence[PlanFinding],
    recommendations: Sequence[PlanRecommendation],
    comes_of: Sequence[int | None],
    past: Past | None,
    owners: PeopleOfPlan,
) -> Cause:
    of_cause = [findings[index] for index in gathered.findings]
    root = next((findings[index] for index in gathered.findings if comes_of[index] is None), None)
    leader = next((position for position in gathered.recommendations if _led_by(position) == key), None)
    in_order = sorted(gathered.recommendations, key=lambda position: _order(recommendations[position], position))
    if leader is not None:
        in_order = [leader, *(position for position in in_order if position != leader)]
    advice = [recommendations[position] for position in in_order]
    lead = advice[0] if advice else None
    since = [] if past is None else [past.since.get(place_of(one), past.taken_at) for one in of_cause]
    group = _common([one.consumer_group for one in of_cause], lead.consumer_group if lead else None)
    topic = _common([one.topic for one in of_cause], lead.topic if lead else None)
    rule, message = ("", "") if lead is None else (next(iter(lead.rules), ""), lead.reason)
    if root is not None:
        rule, message = root.rule, root.message
    words = _words_of_several(rule, of_cause)
    if words is not None and len({one.consumer_group for one in of_cause}) > 1:
        group = None
    places = [(one.consumer_group, one.topic) for one in of_cause] or [(group, topic)]
    tiers = [tier for place in places if (tier := owners.tier(*place)) is not None]
    return Cause(
        id=identity(rule, group, topic),
        rule=rule,
        severity=of_cause[0].severity if of_cause else INFO,
        action=lead.action if lead else None,
        consumer_group=group,
        topic=topic,
        owner=_common([owners.only_one(*place) for place in places], None),
        tier=min(tiers, default=None),
        title=_title(rule, lead, root, _urgent_brokers(of_cause)) if words is None else words[0],
        message=message if words is None else words[1],
        findings=tuple(one.id for one in of_cause),
        recommendations=tuple(one.id for one in advice),
        impact=impact_of(of_cause),
        since=min(since, default=None),
        is_new=None if past is None or not since else min(since) == past.taken_at,
        changes_cluster=lead is not None and lead.changes_cluster,
        check=lead.check if lead else None,
        way_back=lead.way_back if lead else None,
    )


def _words_of_several(rule: str, findings: Sequence[PlanFinding]) -> tuple[str, str] | None:
    """Title and message of a cause that is no group's own: a pair of rooms, or brokers that groups cannot read."""
    if rule == CROSS_ROOM:
        return crossing_words(findings)
    return shut_off_words(findings) if rule == LAG_STATE else None


def different_titles(
    titles: list[str], causes: Sequence[AnyCause], wrong: Callable[[AnyCause], str], place: Callable[[AnyCause], str]
) -> list[str]:
    """The titles of causes, no two alike: what is wrong is added, then the topic or group, and then the id."""
    for begin, more in ((": ", wrong), (", ", place), (", ", attrgetter("id"))):
        times = Counter(titles)
        ends = (begin + said if (said := more(cause)) else "" for cause in causes)
        titles = [
            title + end if times[title] > 1 and not title.endswith(end) else title
            for title, end in zip(titles, ends, strict=True)
        ]
    return titles


def _wrong(cause: Cause) -> str:
    return lower_first(rule_of(cause.rule).title) if cause.rule in rules() else ""


def _place(cause: Cause) -> str:
    return cause.topic or cause.consumer_group or ""


def _title(
    rule: str, lead: PlanRecommendation | None, root: PlanFinding | None, brokers: Collection[str | None]
) -> str:
    """What to do, in a few words; what is wrong as well if it is only to look, and alone if there is nothing to do.

    One look may be into brokers of several causes: only ``brokers`` are named.
    """
    version = None if root is None or root.consumer_group is not None else version_named_in(root)
    if version is not None:
        return f"Upgrade the clients of version {version}"
    if rule == COVERAGE and root is not None and root.broker_name is not None:
        return f"Give {root.broker_name} a share of the topics"
    wrong = rule_of(rule).title
    if lead is None:
        return wrong
    what_to_do = action_title(lead, brokers)
    return f"{what_to_do}: {lower_first(wrong)}" if lead.action == INVESTIGATE and wrong else what_to_do


def _urgent_brokers(findings: Sequence[PlanFinding]) -> list[str | None]:
    """The brokers of the findings that are as severe as the worst of them."""
    worst = min((SEVERITY_RANK[one.severity] for one in findings), default=0)
    return [one.broker_name for one in findings if SEVERITY_RANK[one.severity] == worst]


def _common(names: Sequence[str | None], otherwise: str | None) -> str | None:
    """The name that all findings have; if there are none or several, the name of the action."""
    different = set(names)
    return different.pop() if len(different) == 1 else otherwise


def _worst_first(cause: Cause) -> tuple[Any, ...]:
    """A sort key: by severity, by tier (none last), by danger, by messages at risk or bytes, by name."""
    return (
        SEVERITY_RANK[cause.severity],
        cause.tier is None,
        cause.tier or 0,
        *_danger(cause),
        cause.rule,
        -(cause.impact.messages_at_risk or 0),
        -(cause.impact.cross_room_mb_per_s or 0.0),
        nulls_first(cause.consumer_group, cause.topic),
        cause.findings,
        cause.recommendations,
    )


def _danger(cause: Cause) -> tuple[int, float]:
    """A sort key: what leaves queues unread is mended first, whatever its rule, most messages a second first.

    Before all of them comes a lost broker, whose queues many groups read.
    """
    place = rule_of(cause.rule).place
    is_lost = cause.rule == LOSS and cause.severity == CRITICAL
    if not (is_lost or cause.impact.unread_queues):
        return place, 0.0
    return min(place, rule_of(ORPHAN).place), -inf if is_lost else -(cause.impact.unread_msgs_per_s or 0.0)
