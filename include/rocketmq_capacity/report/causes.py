"""Causes: what one action mends, with all its consequences.

Every finding and every recommendation belongs to one cause. A finding that is the consequence of another finding of its
group has the cause of that one. For any other finding, look at the recommendations that answer it: the one that also
answers the most urgent finding decides the cause. Time and memory grow linearly with the findings and recommendations.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, product
from typing import Any, Final

from msgspec.structs import replace

from rocketmq_capacity.assessment.capacity import TooBusy
from rocketmq_capacity.assessment.client_outlier import ClientOutlier
from rocketmq_capacity.assessment.ownership import Orphans
from rocketmq_capacity.assessment.versions import version_named_in
from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.catalogue.rule import rule_of, rules
from rocketmq_capacity.plan_file.finding import Cause, Finding
from rocketmq_capacity.plan_file.order import identity, made_unique, nulls_first
from rocketmq_capacity.plan_file.owners import Owners
from rocketmq_capacity.plan_file.recommendation import Recommendation
from rocketmq_capacity.recommendation.consequences import COUNT_SKEWS, OUTLIER, SET_UP, comes_of_outlier, set_up_behind
from rocketmq_capacity.report.answering import answering, urgency
from rocketmq_capacity.report.crossing import CROSS_ROOM, crossing_words, pair_of
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.far_origins import far_origins
from rocketmq_capacity.report.impact import impact_of
from rocketmq_capacity.report.wording import action_title, lower_first
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import (
    AVG,
    AVG_BY_CIRCLE,
    CONSISTENT_HASH,
    INFO,
)

ORPHAN: Final = "ORPHAN_QUEUE"
DUPLICATE: Final = "DUPLICATE_CLIENT_ID"
CAPACITY: Final = "CONSUMER_CAPACITY"
IDLE: Final = "IDLE_CONSUMERS"
BEHIND: Final = ("LAG_STATE", "LAG_SKEW", "RETENTION_RISK")
"""Consequences of queues that nobody reads, and of clients that are too busy."""
BAD_VERSION: Final = "BAD_VERSION"
STALE: Final = "STALE_OBJECT"
COVERAGE: Final = "TOPIC_COVERAGE"
LAG_STATE: Final = "LAG_STATE"
LAG_SKEW: Final = "LAG_SKEW"
MEMBERSHIP: Final = "MEMBERSHIP_DISAGREEMENT"
HELD_BACK: Final = (ORPHAN, "STUCK_QUEUE", "RETENTION_RISK")
"""Rules whose queues are behind because of what they find; each comes before the next."""
LEAVE_NOTHING: Final = tuple(f"strategy {strategy}" for strategy in (AVG, AVG_BY_CIRCLE, CONSISTENT_HASH))
LAGS: Final = "lag"
"""The cause of CONSUMER_CAPACITY where clients have time left: what holds the lagging queues up explains it."""
STANDS_BEHIND: Final = ("RETENTION_RISK", LAG_STATE)
STARVATION: Final = "ROOM_STARVATION"
UNEVEN: Final[Mapping[str, tuple[str, ...]]] = {
    **dict.fromkeys(COUNT_SKEWS, (STARVATION, ORPHAN)),
    "TRAFFIC_SKEW": (STARVATION, ORPHAN, *COUNT_SKEWS),
}
"""What makes loads uneven: a room that gets no queues, queues that nobody has, and numbers of queues."""
LOOKS: Final = "INVESTIGATE"
NOBODYS: Final = Owners({}, {})
"""Of a policy that tells nothing of groups."""

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
    owners: Owners = NOBODYS,
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
    comes_of = list(_comes_of(ordered))
    origins = [_origin_at(index, comes_of) for index in range(len(ordered))]
    mended = _mended(ordered, answers, origins)
    keys = [_key(origin, ordered, recommendations, answers, first, mended) for origin in origins]
    gathered: dict[Key, _Gathered] = {}
    for index, key in enumerate(keys):
        gathered.setdefault(key, _Gathered()).findings.append(index)
    leading = set(keys)
    for position in sorted(range(len(recommendations)), key=lambda each: _order(recommendations[each], each)):
        own = _led_by(position)
        key = own if own in leading or position not in first else keys[first[position]]
        gathered.setdefault(key, _Gathered()).recommendations.append(position)
    causes = sorted(
        (_cause(key, one, ordered, recommendations, comes_of, past, owners) for key, one in gathered.items()),
        key=_worst_first,
    )
    ids = made_unique(cause.id for cause in causes)
    causes = [replace(cause, id=one) for cause, one in zip(causes, ids, strict=True)]
    lists = _alternatives(ordered, recommendations, answers, comes_of)
    return Causes(
        causes=tuple(
            replace(cause, title=title) for cause, title in zip(causes, _different_titles(causes), strict=True)
        ),
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
    """For each finding the index of another finding whose consequence it is, or None."""
    far = far_origins(findings)
    of_group: dict[str, dict[str, list[int]]] = {}
    for index, finding in enumerate(findings):
        if finding.consumer_group is not None:
            of_group.setdefault(finding.consumer_group, {}).setdefault(finding.rule, []).append(index)
    for index, finding in enumerate(findings):
        near = _origin(finding, of_group.get(finding.consumer_group or "", {}), findings)
        yield far.get(index) if near is None else near


def _origin_at(index: int, comes_of: Sequence[int | None]) -> int:
    """The index of the finding that a finding comes of in the end; its own if it comes of none."""
    while (origin := comes_of[index]) is not None:
        index = origin
    return index


def _mended(
    findings: Sequence[Finding], answers: Sequence[Sequence[int]], origins: Sequence[int]
) -> Mapping[tuple[int, int], int]:
    """By a finding's index and a recommendation's position: what is urgent of that origin and answered by it."""
    return Counter(
        (origin, position)
        for finding, origin, positions in zip(findings, origins, answers, strict=True)
        if finding.severity != INFO
        for position in positions
    )


Others = Mapping[str, Sequence[int]]
"""The indexes of the findings of one group, by rule, the most urgent first."""


def _origin(finding: Finding, others: Others, findings: Sequence[Finding]) -> int | None:
    if finding.rule == ORPHAN:
        return _origin_of_orphans(finding, others)
    clients = [one for one in finding.subjects if isinstance(one, str)]
    queues = [one for one in finding.subjects if isinstance(one, Queue)]
    of_clients = _origin_in_clients(finding, clients, queues, others, findings)
    if of_clients is not None:
        return of_clients
    if finding.rule in BEHIND:
        return _origin_of_lag(finding, queues, others, findings)
    if finding.rule == CAPACITY:
        return _origin_of_size(finding, others)
    if finding.rule == IDLE:
        return _origin_of_idle(clients, others, findings)
    return _first_of(UNEVEN.get(finding.rule, ()), others)


def _origin_of_orphans(finding: Finding, others: Others) -> int | None:
    orphans = Orphans.read(finding)
    cause = "" if orphans is None else orphans.cause
    rule = DUPLICATE if DUPLICATE in others else cause
    # Of itself such a strategy leaves no queue out: its clients divide other lists.
    rule = MEMBERSHIP if rule in LEAVE_NOTHING else rule
    return None if rule == ORPHAN else _first_of((rule,), others)


def _origin_in_clients(
    finding: Finding, clients: Sequence[str], queues: Sequence[Queue], others: Others, findings: Sequence[Finding]
) -> int | None:
    """Clients that are set up wrongly, or a sick one."""
    set_up: dict[str, list[str]] = {
        rule: [one for one in findings[others[rule][0]].subjects if isinstance(one, str)]
        for rule in SET_UP
        if rule in others
    }
    behind = set_up_behind(finding.rule, clients, set_up)
    if behind is not None:
        return others[behind][0]
    for index in others.get(OUTLIER, ()):
        sick = ClientOutlier.read(findings[index])
        outliers = [one for one in findings[index].subjects if isinstance(one, str)]
        if sick is not None and comes_of_outlier(finding.rule, clients, queues, outliers, sick):
            return index
    return None


def _origin_of_lag(
    finding: Finding, queues: Sequence[Queue], others: Others, findings: Sequence[Finding]
) -> int | None:
    if STALE in others and finding.severity == INFO:
        return others[STALE][0]
    for rule in HELD_BACK:
        held = {one for index in others.get(rule, ()) for one in findings[index].subjects}
        if queues and rule != finding.rule and held.issuperset(queues):
            return others[rule][0]
    if finding.rule == LAG_SKEW and LAG_STATE in others:
        return others[LAG_STATE][0]
    too_few = _too_few(others, findings)
    return None if too_few is None or _is_behind(findings[too_few]) else too_few


def _is_behind(finding: Finding) -> bool:
    """Whether the group is too small because its lag grows."""
    busy = TooBusy.read(finding)
    return busy is not None and busy.cause == LAGS


def _origin_of_size(finding: Finding, others: Others) -> int | None:
    busy = TooBusy.read(finding)
    if busy is not None and (mended := others.get(busy.mend_first or "")):
        return mended[0]
    behind = _first_of(STANDS_BEHIND, others) if _is_behind(finding) else None
    return behind if behind is not None or finding.severity != INFO else _first_of((IDLE,), others)


def _origin_of_idle(clients: Sequence[str], others: Others, findings: Sequence[Finding]) -> int | None:
    if STARVATION in others and set(_named(others[STARVATION], findings)).issuperset(clients):
        return others[STARVATION][0]
    orphans = (Orphans.read(findings[index]) for index in others.get(ORPHAN, ()))
    if any(one is not None and one.missing_clients for one in orphans):
        return others[ORPHAN][0]
    return _too_few(others, findings)


def _first_of(rules: Iterable[str], others: Others) -> int | None:
    """The most urgent finding of the first of these rules that has any."""
    return next((others[rule][0] for rule in rules if rule in others), None)


def _too_few(others: Others, findings: Sequence[Finding]) -> int | None:
    """The finding that says that the group is too small."""
    return next((index for index in others.get(CAPACITY, ()) if findings[index].severity != INFO), None)


def _named(indexes: Iterable[int], findings: Sequence[Finding]) -> Iterator[str | Queue]:
    """What the findings with these indexes name."""
    for index in indexes:
        yield from findings[index].subjects


def _key(
    index: int,
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
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
    if answers[index]:

        def rank(position: int) -> tuple[bool, int, int]:
            return recommendations[position].action == LOOKS, first[position], -mended.get((index, position), 0)

        return _led_by(min(answers[index], key=rank))
    return "finding", finding.rule, *(name or "" for name in (finding.consumer_group, finding.topic))


def _led_by(position: int) -> Key:
    return "recommendation", str(position)


def _order(recommendation: Recommendation, position: int) -> tuple[int, int]:
    return action_of(recommendation.action).place, position


def _cause(
    key: Key,
    gathered: _Gathered,
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    comes_of: Sequence[int | None],
    past: Past | None,
    owners: Owners,
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
    rule, message = ("", "") if lead is None else (next(iter(lead.rules), ""), lead.reason)
    if root is not None:
        rule, message = root.rule, root.message
    crossing = crossing_words(found) if rule == CROSS_ROOM else None
    if crossing is not None and len({one.consumer_group for one in found}) > 1:
        group = None
    places = [(one.consumer_group, one.topic) for one in found] or [(group, topic)]
    tiers = [tier for place in places if (tier := owners.tier(*place)) is not None]
    return Cause(
        id=identity(rule, group, topic),
        rule=rule,
        severity=found[0].severity if found else INFO,
        action=lead.action if lead else None,
        consumer_group=group,
        topic=topic,
        owner=_common([owners.only_one(*place) for place in places], None),
        tier=min(tiers, default=None),
        title=_title(rule, lead, root) if crossing is None else crossing[0],
        message=message if crossing is None else crossing[1],
        findings=tuple(one.id for one in found),
        recommendations=tuple(one.id for one in advice),
        impact=impact_of(found),
        since=min(since, default=None),
        is_new=None if past is None or not since else min(since) == past.taken_at,
        changes_cluster=lead is not None and lead.changes_cluster,
        check=lead.check if lead else None,
        way_back=lead.way_back if lead else None,
    )


def _different_titles(causes: Sequence[Cause]) -> list[str]:
    """The titles, no two alike: what is wrong is added, then the topic or group, and then the id."""
    titles = [cause.title for cause in causes]
    for begin, more in ((": ", _wrong), (", ", _place), (", ", _id)):
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


def _id(cause: Cause) -> str:
    return cause.id


def _title(rule: str, lead: Recommendation | None, root: Finding | None) -> str:
    """What to do, in a few words; what is wrong as well if it is only to look, and alone if there is nothing to do."""
    version = None if root is None or root.consumer_group is not None else version_named_in(root)
    if version is not None:
        return f"Upgrade the clients of version {version}"
    if rule == COVERAGE and root is not None and root.broker_name is not None:
        return f"Give {root.broker_name} a share of the topics"
    wrong = rule_of(rule).title
    if lead is None:
        return wrong
    what_to_do = action_title(lead)
    return f"{what_to_do}: {lower_first(wrong)}" if lead.action == LOOKS and wrong else what_to_do


def _about(finding: Finding) -> tuple[str, str | None, str | None, str | None]:
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name


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
    """A sort key: what leaves queues unread is mended first, whatever its rule, most messages a second first."""
    place = rule_of(cause.rule).place
    if not cause.impact.unread_queues:
        return place, 0.0
    return min(place, rule_of(ORPHAN).place), -(cause.impact.unread_msgs_per_s or 0.0)


def _alternatives(
    findings: Sequence[Finding],
    recommendations: Sequence[Recommendation],
    answers: Sequence[Sequence[int]],
    comes_of: Sequence[int | None],
) -> list[tuple[int, ...]]:
    """Lists of positions of recommendations; at most one of each list is carried out.

    Two recommendations for one finding exclude one another, unless they are the same action for different topics, such
    as more queues for several topics. A recommendation is in no list if it also answers a finding whose rule does not
    leave a choice (`Rule.is_choice`).
    """
    needed = {
        position for index, of in enumerate(answers) if not rule_of(findings[index].rule).is_choice for position in of
    }
    choices: dict[int, dict[int, None]] = {}
    for index, of in enumerate(answers):
        origin = comes_of[index]
        # Idle clients, and more clients than needed: the same new number of clients answers both findings.
        asked = origin if origin is not None and findings[origin].rule == IDLE else index
        if rule_of(findings[index].rule).is_choice:
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
