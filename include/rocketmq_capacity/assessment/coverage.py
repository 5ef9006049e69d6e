"""TOPIC_COVERAGE: brokers without business topics, and topics on a single broker or not where the policy has them.

Topics on some of the brokers are there on purpose, and so are different numbers of queues: neither is a finding.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from statistics import median
from typing import Annotated, Final, NamedTuple

from msgspec import Struct

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.assessment.topic_spread import TopicSpread
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import FIFO, INFO, LITE, PRIORITY, java_order
from rocketmq_capacity.wording import counted, listed, rounded

EMPTY_BROKERS: Final = (
    "Find out whether these brokers are meant to have no business topics: {subjects}. If so, name them in the policy"
    " (placement)."
)
NOWHERE: Final = "Create the topic, or end the subscription of {subjects}."
PLACED: Final = "Find out what is right, the brokers of the topic or the policy's placement: {message}"


class BrokerShare(Struct, frozen=True, kw_only=True):
    """What a broker has."""

    broker_name: Annotated[str, means("the broker")]
    topics: Annotated[int, means("that are on it", "topic")]
    msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    traffic_share: Annotated[float | None, means("share of all messages")]


class Proposed(Struct, frozen=True, kw_only=True):
    """A topic that could be created on the broker."""

    topic: Annotated[str, means("the topic")]
    msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    added_msgs_per_s: Annotated[float, means("messages that the broker would get of these")]


class EmptyBrokerEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of TOPIC_COVERAGE for a broker with few topics."""

    topics: Annotated[int, means("that are on it", "topic")]
    median_topics: Annotated[float, means("that half of the other brokers have at least", "topic")]
    msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    traffic_share: Annotated[float | None, means("share of all messages")]
    brokers: Annotated[Sequence[BrokerShare], means("the busiest brokers")]
    proposed: Annotated[Sequence[Proposed], means("topics that would level it by their traffic")]


class OneBrokerEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of TOPIC_COVERAGE for a topic that is on a single broker."""

    brokers: Annotated[int, means("that have it", "broker")]
    broker_name: Annotated[str, means("the broker")]
    missing: Annotated[Sequence[str], means("brokers that it could be created on")]
    msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    traffic_share: Annotated[float | None, means("share of all messages")]


class PlacementEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of TOPIC_COVERAGE for a topic that is not where the policy places it."""

    brokers: Annotated[int, means("that have it", "broker")]
    placement: Annotated[Sequence[str], means("brokers that it is meant to be on, by the policy")]
    missing: Annotated[Sequence[str], means("those of them that lack it")]
    further: Annotated[Sequence[str], means("brokers that it is on besides")]
    msgs_per_s: Annotated[float | None, means("messages that are written to it")]


class NoBrokerEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of TOPIC_COVERAGE for a topic that no broker has."""

    brokers: Annotated[int, means("that have it", "broker")]
    consumer_groups: Annotated[Sequence[str], means("groups that subscribe to it")]


def _advice(_: Finding, evidence: Evidence) -> str:
    if isinstance(evidence, PlacementEvidence):
        return PLACED
    return NOWHERE if isinstance(evidence, NoBrokerEvidence) else EMPTY_BROKERS


TOPIC_COVERAGE: Final = Rule(
    name="TOPIC_COVERAGE",
    title="Brokers without topics, or topics in too few places",
    meaning=(
        "A topic on a single broker is lost with that broker. A broker without topics takes no load from the others."
    ),
    place=200,
    goal="EVEN_LOAD",
    evidence=(EmptyBrokerEvidence, OneBrokerEvidence, PlacementEvidence, NoBrokerEvidence),
    advice=_advice,
    shows="every broker of the topic is listed, with as many queues as the others.",
    is_structural=True,
    needs=(),
    follows_loss_of="brokers",
    about=(
        "broker",
        "topic",
    ),
    severities={
        "WARNING": "no broker has the topic, or a queue of it, although groups subscribe to it",
        "INFO": "it costs money, or is on purpose",
    },
    details="""
    One of four:

    - A broker that may be read and written has no business topics, or far fewer than its peers (`peers_ratio`), in
      topics and in messages. RocketMQ does not put existing topics on new brokers by itself. The evidence has the
      share of each broker, and the topics that would level this one by their traffic.
    - A topic is on a single broker of its cluster, and was closed on no other (perm 0, or no queues).
    - A topic is not where the policy's `placement` has it, or also elsewhere.
    - No broker has the topic, or a queue of it.

    Topics on some of the brokers are there on purpose: several topics with the same brokers are recognised as a
    set, and a topic that differs from its neighbours is no finding. Different numbers of queues on brokers are
    deliberate too. Name brokers that are kept empty in `placement`:

    ```yaml
    placement:
      - {topics: '^pay', brokers: [broker-a, broker-b]}
      - {topics: '^$', brokers: [broker-standby]}
    ```
    """,
)


NAMED: Final = 50
"""The most brokers whose share of the messages the evidence has: the busiest."""


class TopicOrder(NamedTuple):
    """The columns of ``topic`` that say whether a topic may be spread over more brokers without a second thought."""

    topic: str
    message_type: str | None
    is_ordered: bool | None

    @property
    def is_kept(self) -> bool:
        """Whether more queues would change the order of its messages, or move its lite topics."""
        return bool(self.is_ordered) or self.message_type in (FIFO, LITE, PRIORITY)


def topic_coverage(
    places: Iterable[TopicLoss], orders: Iterable[TopicOrder], cluster: ClusterFacts, policy: Policy
) -> Iterator[Finding]:
    """TOPIC_COVERAGE: a broker has nearly no business topics, or a topic is on one broker, or not where it should be.

    RocketMQ puts no topic on a broker that is added later. Brokers that may not be read and written are left out, and
    so are static topics, because their queues can move between brokers.

    Args:
        places: the business topics with their brokers.
        orders: topics of all kinds.
        cluster: brokers.
        policy: thresholds, and where topics are meant to be.
    """
    spread = TopicSpread.of(places, cluster, policy)
    lacking = _lacking(spread, policy)
    if lacking:
        kept = {one.topic for one in orders if one.is_kept}
        for name in lacking:
            yield _empty_broker(name, lacking, spread, kept, policy)
    for topic in sorted(spread.topics, key=java_order):
        if topic in spread.placed:
            yield from _elsewhere(topic, spread)
        elif len(spread.topics[topic]) == 1:
            yield from _on_one_broker(topic, spread)


def _lacking(spread: TopicSpread, policy: Policy) -> list[str]:
    """The brokers with far fewer topics, and far fewer messages, than their peers; not those that are so on purpose."""
    few = {name for name in spread.brokers if name not in spread.named and _is_far_below(name, spread, policy)}
    on_purpose = {name for brokers in spread.sets if brokers <= few for name in brokers}
    return sorted(few - on_purpose)


def _is_far_below(name: str, spread: TopicSpread, policy: Policy) -> bool:
    ratio = policy.thresholds.TOPIC_COVERAGE.peers_ratio
    peers = [other for other in spread.peers(name) if spread.counts[other]]
    if not peers or spread.counts[name] >= ratio * median(spread.counts[other] for other in peers):
        return False
    rate, of_peers = spread.rates[name], [spread.rates[other] for other in peers]
    known = [each for each in of_peers if each is not None]
    usual = median(known) if len(known) == len(of_peers) else 0.0
    return rate is None or not usual or rate < ratio * usual


def _empty_broker(
    name: str, lacking: Sequence[str], spread: TopicSpread, kept: Collection[str], policy: Policy
) -> Finding:
    peers = [other for other in spread.peers(name) if spread.counts[other]]
    usual, count, rate = median(spread.counts[other] for other in peers), spread.counts[name], spread.rates[name]
    proposed = _proposed(name, lacking, spread, kept, policy)
    shares = sorted([name, *spread.peers(name)], key=lambda each: (-(spread.rates[each] or 0.0), each))[:NAMED]
    few_topics = "has no business topic" if not count else f"has only {counted(count, 'business topic')}"
    return finding(
        TOPIC_COVERAGE,
        INFO,
        broker_name=name,
        subjects=[name],
        evidence=EmptyBrokerEvidence(
            topics=count,
            median_topics=usual,
            msgs_per_s=rounded(rate),
            traffic_share=spread.share(rate),
            brokers=[
                BrokerShare(
                    broker_name=each,
                    topics=spread.counts[each],
                    msgs_per_s=rounded(spread.rates[each]),
                    traffic_share=spread.share(spread.rates[each]),
                )
                for each in shares
            ],
            proposed=proposed,
        ),
        message=f"It {few_topics}; half of the other brokers have {usual:g} or more."
        + (f" These would level it by their traffic: {listed([one.topic for one in proposed])}." if proposed else ""),
    )


def _proposed(
    name: str, lacking: Sequence[str], spread: TopicSpread, kept: Collection[str], policy: Policy
) -> list[Proposed]:
    """The topics that would give a broker about the mean of the messages, those with most messages first.

    All brokers that lack topics are taken to get the same ones. Without rates the topics come by name.
    """
    bounds, together = policy.thresholds.TOPIC_COVERAGE, {name, *spread.peers(name)}
    target = (sum_of(spread.rates[each] for each in together) or 0.0) / len(together)
    proposed: list[Proposed] = []
    level = spread.rates[name] or 0.0
    for rate, topic in sorted(_candidates(name, spread, kept), key=lambda one: (-(one[0] or 0.0), java_order(one[1]))):
        on = spread.topics[topic]
        added = (rate or 0.0) / (len(on) + len(together.intersection(lacking).difference(on)))
        is_needed = level + added <= target if target else True
        if is_needed and (added or not target):
            level += added
            proposed.append(Proposed(topic=topic, msgs_per_s=rounded(rate), added_msgs_per_s=rounded(added)))
        if len(proposed) == bounds.max_topics:
            break
    return proposed


def _candidates(name: str, spread: TopicSpread, kept: Collection[str]) -> Iterator[tuple[float | None, str]]:
    """The topics of its cluster that may be created on a broker, with their messages a second.

    Those of its machine room, if it is known.
    """
    room, peers = spread.brokers[name].room, set(spread.peers(name))
    for topic, on in spread.topics.items():
        rooms = {spread.brokers[other].room for other in on if other in spread.brokers}
        is_near = room in rooms or None in rooms or (room is None and bool(rooms))
        is_free = (
            name not in {*on, *spread.closed.get(topic, ())}
            and not peers.isdisjoint(on)
            and topic not in spread.placed
            and topic not in kept
        )
        if is_near and is_free:
            yield sum_of(on.values()), topic


def _on_one_broker(topic: str, spread: TopicSpread) -> Iterator[Finding]:
    """A topic that is on a single broker, if its cluster has others where it was not closed."""
    ((name, rate),) = spread.topics[topic].items()
    missing = _further_brokers(topic, name, spread)
    if not missing:
        return
    yield finding(
        TOPIC_COVERAGE,
        INFO,
        topic=topic,
        subjects=missing,
        evidence=OneBrokerEvidence(
            brokers=1,
            broker_name=name,
            missing=missing,
            msgs_per_s=rounded(rate),
            traffic_share=spread.share(rate),
        ),
        message=f"It is on {name} alone: without this broker nobody can write or read it.",
    )


def _further_brokers(topic: str, name: str, spread: TopicSpread) -> list[str]:
    """The brokers of its cluster that a topic of one broker lacks: those of the set that most topics there share.

    Without such a set it is the broker with the fewest messages, one of its machine room if there is another. Brokers
    on which the topic was closed do not count.
    """
    peers = [other for other in spread.peers(name) if other not in spread.closed.get(topic, ())]
    if not peers:
        return []
    usable = [(-topics, sorted(brokers - {name})) for brokers, topics in spread.sets.items() if name in brokers]
    usable = [(topics, brokers) for topics, brokers in usable if set(peers) >= set(brokers)]
    if usable:
        return min(usable)[1]
    room = spread.brokers[name].room if name in spread.brokers else None

    def order(other: str) -> tuple[bool, float, int, str]:
        return spread.brokers[other].room != room, spread.rates[other] or 0.0, spread.counts[other], other

    return [min(peers, key=order)]


def _elsewhere(topic: str, spread: TopicSpread) -> Iterator[Finding]:
    """A topic that the policy places on other brokers than those that it is on."""
    brokers, on = spread.placed[topic], spread.topics[topic]
    missing, further = sorted(set(brokers) - on.keys()), sorted(on.keys() - set(brokers))
    if not missing and not further:
        return
    parts = [f"is not on {listed(missing)}" if missing else None, f"is also on {listed(further)}" if further else None]
    yield finding(
        TOPIC_COVERAGE,
        INFO,
        topic=topic,
        subjects=[*missing, *further],
        evidence=PlacementEvidence(
            brokers=len(on),
            placement=list(brokers),
            missing=missing,
            further=further,
            msgs_per_s=rounded(sum_of(on.values())),
        ),
        message=f"The policy places it on {listed(brokers)}, and it {' and '.join(part for part in parts if part)}.",
    )
