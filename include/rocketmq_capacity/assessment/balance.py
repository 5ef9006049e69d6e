"""Rules on uneven loads: ALLOCATION_SKEW, CROSS_TOPIC_SKEW, TRAFFIC_SKEW, LAG_SKEW.

A skew is judged by EXCESS: how far the busiest client is above the least that whole queues allow. Idle clients do not
make a skew, because they raise PEAK and FLOOR by the same factor. The rules judge clustering groups that pull all of
their topics, have enough traffic or lag, and clients that are not almost idle. Popped queues count for each of their
readers, so they have no FLOOR.

A skew is no danger by itself: it warns where the busiest client has little time left, or where lag grows.
"""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from rocketmq_capacity.assessment.finding import figures, finding, times
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.lag import lag_troubles
from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.ownership import drained
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import EVEN, FALLS, SKEW, UNEVEN, Rule
from rocketmq_capacity.settings.thresholds import AllocationSkew
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import AVG, AVG_BY_CIRCLE, INFO, PRIORITY, WARNING, Severity
from rocketmq_capacity.wording import listed, rounded

SKEWED: Final = (
    "Find out what the group needs: {no_strategy}. More clients, or fewer topics in one group, may spread the load."
)


class SkewEvidence(Evidence, frozen=True, kw_only=True):
    """How unevenly a load is spread over the clients of a group."""

    peak: Annotated[float, means("largest load of a client / mean load", "")]
    floor: Annotated[float, means("the least `peak` that whole queues allow", "")]
    excess: Annotated[float, means("`peak` / `floor`", "")]
    gini: Annotated[float, means("Gini coefficient of the loads, 0 if all are equal", "")]
    cv: Annotated[float, means("standard deviation of the loads / mean load", "")]


class TrafficSkew(SkewEvidence, frozen=True, kw_only=True):
    """The evidence of TRAFFIC_SKEW."""

    max: Annotated[float, means("messages a second of the busiest client", "messages/s")]
    min: Annotated[float, means("messages a second of the least busy client", "messages/s")]
    msgs_per_s: Annotated[float | None, means("messages of all clients")]
    peak_utilisation_ratio: Annotated[float | None, means("busy share that the busiest may have at the peak")]


class LagSkew(SkewEvidence, frozen=True, kw_only=True):
    """The evidence of LAG_SKEW."""

    adds_to: ClassVar[Mapping[str, str]] = {"lag": "lag"}

    max: Annotated[float, means("lag of the client furthest behind", "message")]
    min: Annotated[float, means("lag of the client least behind", "message")]
    lag: Annotated[int | None, means("of all clients", "message")]
    peak_utilisation_ratio: Annotated[float | None, means("busy share that the busiest may have at the peak")]


class CountSkew(SkewEvidence, frozen=True, kw_only=True):
    """The evidence of the two rules on numbers of queues."""

    max: Annotated[float, means("of the client that owns the most", "queue")]
    min: Annotated[float, means("of the client that owns the fewest", "queue")]
    topics: Annotated[int, means("that clients own queues of", "topic")]
    uneven_topics: Annotated[int, means("of which a client owns more queues than it needs to", "topic")]
    clients: Annotated[int, means("different client ids", "client")]
    current_strategy: Annotated[str | None, means("how the group divides its queues")]
    peak_utilisation_ratio: Annotated[float | None, means("busy share that the busiest may have at the peak")]


def _spread_out(_: Finding, evidence: CountSkew) -> str:
    """AVG and AVG_BY_CIRCLE leave no remainder where every topic has a multiple of the clients."""
    if evidence.current_strategy not in (AVG, AVG_BY_CIRCLE):
        return SKEWED
    clients = evidence.clients
    return f"{SKEWED} Or give every one of its topics a multiple of {clients} queues: no topic alone makes it even."


_skew = partial(
    Rule,
    goal="EVEN_LOAD",
    looks="its clients",
    is_choice=True,
    follows_loss_of="queues",
    severities=UNEVEN,
    thresholds=("LOW_UTILISATION",),
    flaps=True,
)
"""The record of a rule on uneven loads."""

CROSS_TOPIC_SKEW: Final = _skew(
    name="CROSS_TOPIC_SKEW",
    title="Uneven once all topics are added up",
    meaning=("Every topic is divided as evenly as it can be, but its remainder goes to the same consumers each time."),
    place=260,
    evidence=CountSkew,
    advice=_spread_out,
    shows=EVEN,
    is_structural=True,
    skews="counts",
    needs=SKEW,
    details="""
    The remainders go to the clients that sort first. A number of queues that is a multiple of the clients has no
    remainder, and so has a number of clients that divides the queues of every topic; CONSISTENT_HASH, or groups of
    their own, spread it. [When a skew warns](#allocation_skew).
    """,
)

TRAFFIC_SKEW: Final = _skew(
    name="TRAFFIC_SKEW",
    title="Messages shared out unevenly",
    meaning="One consumer gets far more messages a second than the average, and limits what the group can do.",
    place=230,
    evidence=TrafficSkew,
    advice=SKEWED,
    shows=EVEN,
    is_structural=True,
    skews="loads",
    needs=(*SKEW, "rates", "written", "spread"),
    details="""
    The busiest client gets more than `peak` times the mean of the messages, and another division would be more
    even. If EXCESS is 1, one queue is the whole load: see HOT_QUEUE. [When a skew warns](#allocation_skew).
    """,
)

LAG_SKEW: Final = _skew(
    name="LAG_SKEW",
    title="A backlog of few consumers",
    meaning="Most unread messages wait on the queues of few consumers, while others have nothing to do.",
    place=240,
    evidence=LagSkew,
    advice=("Look at what holds up the clients furthest behind (response time, threads, their machine): {subjects}."),
    shows=FALLS,
    skews="loads",
    needs=(*SKEW, "lag", "samples"),
    details="""
    The lag is on few clients, and some queue of the group does not catch up: over the last 10 samples its offset
    does not move or goes back, or its lag never falls. It needs 10 samples, as LAG_STATE does. [When a skew
    warns](#allocation_skew).
    """,
)

ALLOCATION_SKEW: Final = _skew(
    name="ALLOCATION_SKEW",
    title="Queues shared out unevenly",
    meaning="Some consumers own at least two queues more than others, although a more even division exists.",
    place=250,
    evidence=CountSkew,
    advice=SKEWED,
    shows=EVEN,
    is_structural=True,
    skews="counts",
    needs=SKEW,
    details="""
    CONSISTENT_HASH often does this with few clients.

    A skew (this one, CROSS_TOPIC_SKEW, TRAFFIC_SKEW and LAG_SKEW) warns if the busiest client is, or may be, busy
    for more than `LOW_UTILISATION.busy_ratio` of its time at the peak, or if lag grows. It is no finding where the
    busiest client is busy for at most `silent_ratio` and lag does not grow. Only a skew that warns asks for more
    queues.
    """,
)


def allocation_skew(group: AssessedGroup) -> Iterator[Finding]:
    """ALLOCATION_SKEW: some clients own more queues of a single topic than they need to."""
    yield from _count_skew(group, ALLOCATION_SKEW, group.policy.thresholds.ALLOCATION_SKEW)


def cross_topic_skew(group: AssessedGroup) -> Iterator[Finding]:
    """CROSS_TOPIC_SKEW: some clients own more queues than they need to, though every topic is even by itself."""
    yield from _count_skew(group, CROSS_TOPIC_SKEW, group.policy.thresholds.CROSS_TOPIC_SKEW)


def traffic_skew(group: AssessedGroup) -> Iterator[Finding]:
    """TRAFFIC_SKEW: some clients get much more than their share of the messages, and another division would help.

    PRIORITY topics are left out, because their levels should differ.
    """
    load = _judged(group)
    weights = group.weights
    levels = np.array([reads.topic.message_type == PRIORITY for reads in group.division.queues.topics], bool)
    if load is not None and levels.any():
        weights = weights.without(levels[group.division.queues.topic])
        load = GroupLoad.of(group.division, weights, load.owners)
    if load is None or (traffic := load.traffic) is None:
        return
    bounds = group.policy.thresholds.TRAFFIC_SKEW
    # Clients with nothing but drained queues make the mean low: READ_ONLY_IDLE finds the broker.
    working = 1 - len(drained(group)[0]) / max(group.facts.distinct_client_ids, 1)
    if not (traffic["peak"] * working > bounds.peak and traffic["excess"] * working > bounds.excess):
        return
    busiest = _busiest(group, load.msgs_per_s, traffic["max"])
    yield finding(
        TRAFFIC_SKEW,
        skew_severity(group),
        consumer_group=group.name,
        subjects=busiest,
        evidence=TrafficSkew(
            **figures(traffic),
            msgs_per_s=rounded(weights.total_msgs_per_s),
            peak_utilisation_ratio=rounded(_most_busy(group)),
        ),
        message=f"The busiest client receives {times(traffic['peak'])} times the mean: {listed(busiest)}.",
    )


def lag_skew(group: AssessedGroup) -> Iterator[Finding]:
    """LAG_SKEW: few clients have most of the lag, and it is not under control."""
    load = _judged(group)
    if load is None or (lag := load.lag_metrics) is None:
        return
    if not (lag["peak"] > group.policy.thresholds.LAG_SKEW.peak and lag_troubles(group.sampled)):
        return
    busiest = _busiest(group, load.lag, lag["max"])
    yield finding(
        LAG_SKEW,
        skew_severity(group),
        consumer_group=group.name,
        subjects=busiest,
        evidence=LagSkew(
            **figures(lag), lag=group.weights.total_lag, peak_utilisation_ratio=rounded(_most_busy(group))
        ),
        message=f"The client furthest behind has {times(lag['peak'])} times the mean lag: {listed(busiest)}.",
    )


def _judged(group: AssessedGroup) -> GroupLoad | None:
    """Today's load; None for a group that these rules do not judge."""
    low, weights = group.policy.thresholds.LOW_UTILISATION, group.weights
    if not group.facts.pulls or group.whole_load is None or not len(weights.queue) or group.is_settling:
        return None
    rate, lag = weights.total_msgs_per_s, weights.total_lag
    is_low = rate is not None and rate < low.min_msgs_per_s and lag is not None and lag < low.min_lag
    busy = _most_busy(group)
    has_time = busy is not None and busy <= low.silent_ratio and not group.apart.growth.is_above(low.min_lag)
    return None if is_low or has_time else group.whole_load


def skew_severity(group: AssessedGroup) -> Severity:
    """Of an uneven load: WARNING if its busiest client is, or may be, too busy at the peak, or if lag grows."""
    low, busy = group.policy.thresholds.LOW_UTILISATION, _most_busy(group)
    is_busy = busy is None or busy > low.busy_ratio
    return WARNING if is_busy or group.apart.growth.is_above(low.min_lag) else INFO


def _most_busy(group: AssessedGroup) -> float | None:
    """How busy the busiest client, outliers apart, may be at the peak; None if that is unknown."""
    work = group.apart.planned_work
    busiest = None if work is None else work.busiest()
    return None if busiest is None else busiest[0].upper * group.peak.scale


def _count_skew(group: AssessedGroup, rule: Rule, bounds: AllocationSkew) -> Iterator[Finding]:
    """The finding of the rule, if the skew is of its kind: CROSS_TOPIC_SKEW if there are several topics, each even."""
    load = _judged(group)
    if load is None or (count := load.count) is None:
        return
    is_skewed = count["excess"] > bounds.excess and count["max"] - count["min"] >= bounds.min_gap_queues
    if not is_skewed:
        return
    topics, uneven = _uneven_topics(group, load)
    kind = CROSS_TOPIC_SKEW if topics > 1 and not uneven else ALLOCATION_SKEW
    if not topics or kind is not rule:
        return
    busiest = _busiest(group, load.queues, count["max"])
    even = -(-len(group.weights.queue) // group.facts.distinct_client_ids)
    # Where queues have no owner, the busiest may own no more than its share of all of them.
    even_words = f"; none needs more than {even}" if count["max"] > even else ""
    yield finding(
        rule,
        skew_severity(group),
        consumer_group=group.name,
        subjects=busiest,
        evidence=CountSkew(
            **figures(count),
            topics=topics,
            uneven_topics=uneven,
            clients=group.facts.distinct_client_ids,
            current_strategy=None if group.current is None else group.current.strategy,
            peak_utilisation_ratio=rounded(_most_busy(group)),
        ),
        message=f"The busiest client owns {count['max']:.0f} queues, the least busy {count['min']:.0f}{even_words}: "
        f"{listed(busiest)}.",
    )


def _uneven_topics(group: AssessedGroup, load: GroupLoad) -> tuple[int, int]:
    """The number of business topics with owners today, and of those of which a client owns more than it needs to."""
    queues, clients = group.division.queues, len(group.client_ids)
    owned = np.zeros((len(queues.topics), clients), np.int64)
    np.add.at(owned, (queues.topic[load.owners.queue], load.owners.client), 1)
    index = {reads.topic.topic: topic for topic, reads in enumerate(queues.topics)}
    for client, queue in load.owners.strangers:
        if queue.topic in index:
            owned[index[queue.topic], client] += 1
    most = owned.max(axis=1)
    sizes = np.bincount(queues.topic, minlength=len(queues.topics))
    return int((most > 0).sum()), int((most > -(-sizes // group.facts.distinct_client_ids)).sum())


def _busiest(group: AssessedGroup, loads: npt.NDArray[Any], most: float) -> list[str]:
    """The clients with the highest load."""
    return [client_id for client_id, load in zip(group.client_ids, loads.tolist(), strict=True) if load == most]


GROUP_RULES: Final[tuple[GroupRule, ...]] = (
    allocation_skew,
    cross_topic_skew,
    traffic_skew,
    lag_skew,
)
