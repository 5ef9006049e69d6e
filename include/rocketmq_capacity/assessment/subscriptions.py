"""The rule on what the clients of a group subscribe to: SUBSCRIPTION_MISMATCH."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Final

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import Consumer, OwnSubscription, Reads
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, EXCLUDED, RETRY, filter_text, java_order
from rocketmq_capacity.wording import counted, fixed, rounded


class TopicFilter(Struct, frozen=True, kw_only=True):
    """The clients that filter a topic in one way."""

    filter: Annotated[str, means("what they subscribe to")]
    clients: Annotated[int, means("that filter so", "client")]
    client_ids: Annotated[Sequence[str], means("the first of them")]


class TopicFilters(Struct, frozen=True, kw_only=True):
    """How clients subscribe to a topic."""

    topic: Annotated[str, means("the topic")]
    filters: Annotated[Sequence[TopicFilter], means("how clients filter it, the most usual way first")]
    not_read_by: Annotated[int, means("that do not subscribe to it", "client")]
    unread_queues: Annotated[int | None, means("that nobody reads", "queue")]
    put_msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    at_risk_msgs_per_s: Annotated[float | None, means("messages that may be missed")]


class SubscriptionSet(Struct, frozen=True, kw_only=True):
    """The clients that subscribe alike."""

    clients: Annotated[int, means("that subscribe so", "client")]
    subscriptions: Annotated[Sequence[str], means("their topics with the filters")]
    first_start: Annotated[str | None, means("when the first of them was started")]


class MismatchEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of SUBSCRIPTION_MISMATCH."""

    clients: Annotated[int, means("that have run for long enough", "client")]
    sets: Annotated[int, means("of subscriptions among them", "set")]
    started_last: Annotated[bool | None, means("whether all clients that differ were started after the others")]
    topics: Annotated[Sequence[TopicFilters], means("topics that not all subscribe to alike")]
    subscription_sets: Annotated[Sequence[SubscriptionSet], means("all ways to subscribe, the most usual first")]


SUBSCRIPTION_MISMATCH: Final = Rule(
    name="SUBSCRIPTION_MISMATCH",
    title="Consumers of one group that subscribe differently",
    meaning=(
        "RocketMQ divides every topic among all consumers of a group. If a consumer does not subscribe to a topic,"
        " nobody reads its share. If it filters differently, the group skips messages for good."
    ),
    place=50,
    goal="NOTHING_UNREAD",
    evidence=MismatchEvidence,
    needs=("clients",),
    severities={
        "CRITICAL": "messages are skipped, or a share is unread",
    },
    details="""
    Clients that have run for long enough (`settled_s`) subscribe to different topics or filters. The broker keeps
    only the latest filter of a group for a topic, so that messages which another client wants are skipped for good.
    A client that lacks a topic leaves its share of it unread. `topics` in the evidence names for each topic the
    filters with their clients, the clients that do not read it, and what is at stake: all that is written where
    filters differ, else what goes to the queues that nobody reads.

    `started_last` is true if the clients that differ were all started after the others: a canary, or a rolling
    deployment that has not ended. Messages are skipped meanwhile all the same. If there are two kinds of consumers,
    give each kind a group of its own.
    """,
)


NAMED: Final = 50
"""The most client ids that the evidence names for a filter; it counts all."""
SHOWN: Final = 40
"""The most characters of a filter in a sentence."""

Filters = Mapping[str, str]
"""By topic the filter of a client, such as ``TAG *``."""


@dataclass(frozen=True, slots=True)
class WayToSubscribe:
    """A way to subscribe, with the settled clients that do so.

    Attributes:
        filters: what they subscribe to.
        clients: the clients, never empty.
    """

    filters: Filters
    clients: Sequence[Consumer]

    @property
    def entries(self) -> list[str]:
        """Topics with their filters, as texts that can be sorted."""
        return sorted(f"{topic} {told}" for topic, told in self.filters.items())


def subscription_mismatch(group: AssessedGroup) -> Iterator[Finding]:
    """SUBSCRIPTION_MISMATCH: settled clients of a group subscribe to different topics or filters.

    It is CRITICAL. The broker keeps only the latest filter of a group and topic, and passes over everything else, so
    that messages are skipped for good. Nobody reads the share of a client that does not subscribe to a topic. A client
    is settled when it has run for ``settled_s``. Retry topics and excluded topics do not count.
    Source: ConsumerGroupInfo.updateSubscription, DefaultMessageFilter; ConsumerRunningInfo.analyzeSubscription waits
    two minutes after a start, too; rocketmq-all-5.3.3.
    """
    ways = _ways(group)
    if len(ways) < 2:
        return
    usual, others = ways[0], ways[1:]
    topics = sorted({topic for way in ways for topic in way.filters}, key=java_order)
    differing = [topic for topic in topics if len({way.filters.get(topic) for way in ways}) > 1]
    mismatches = [_topic_filters(group, topic, ways) for topic in differing]
    clients = sum(len(way.clients) for way in ways)
    # The topic with most messages at stake stands for the others in the sentence.
    first = min(mismatches, key=lambda one: (len(one.filters) < 2, -(one.at_risk_msgs_per_s or 0.0), one.topic))
    yield finding(
        SUBSCRIPTION_MISMATCH,
        CRITICAL,
        consumer_group=group.name,
        topic=differing[0] if len(differing) == 1 else None,
        subjects=sorted({one.client_id for way in others for one in way.clients}),
        evidence=MismatchEvidence(
            clients=clients,
            sets=len(ways),
            started_last=_started_last(usual, others),
            topics=mismatches,
            subscription_sets=[
                SubscriptionSet(
                    clients=len(way.clients),
                    subscriptions=way.entries,
                    first_start=min((one.started_at for one in way.clients if one.started_at), default=None),
                )
                for way in ways
            ],
        ),
        message=_sentence(first, clients)
        + (f" So it is with {counted(len(mismatches) - 1, 'other topic')}." if len(mismatches) > 1 else "")
        + (
            " The clients that differ were started last: a canary, or a deployment that has not ended."
            if _started_last(usual, others)
            else ""
        ),
    )


def _ways(group: AssessedGroup) -> list[WayToSubscribe]:
    """The ways in which settled clients subscribe, the most usual one first; among equals the one with most topics.

    A client that lacks a topic leaves a share of it unread, so it is the one that differs.
    """
    clients: dict[tuple[tuple[str, str], ...], list[Consumer]] = {}
    for consumer, filters in _subscriptions(group):
        clients.setdefault(tuple(sorted(filters.items())), []).append(consumer)
    ways = [WayToSubscribe(dict(filters), each) for filters, each in clients.items()]
    return sorted(ways, key=lambda way: (-len(way.clients), -len(way.filters), way.entries))


def _topic_filters(group: AssessedGroup, topic: str, ways: Sequence[WayToSubscribe]) -> TopicFilters:
    """Who filters a topic how, and how many messages a second may be missed; None if a rate is unknown."""
    of_filter: dict[str, list[Consumer]] = {}
    for way in ways:
        if topic in way.filters:
            of_filter.setdefault(way.filters[topic], []).extend(way.clients)
    ranked = sorted(of_filter.items(), key=lambda one: (-len(one[1]), one[0]))
    readers = sum(len(clients) for _, clients in ranked)
    put = _put_msgs_per_s(group, topic)
    unread, unread_msgs_per_s = _unread(group, topic)
    return TopicFilters(
        topic=topic,
        filters=[
            TopicFilter(
                filter=told,
                clients=len(clients),
                client_ids=sorted((one.client_id for one in clients), key=java_order)[:NAMED],
            )
            for told, clients in ranked
        ],
        not_read_by=sum(len(way.clients) for way in ways) - readers,
        unread_queues=unread,
        put_msgs_per_s=rounded(put),
        at_risk_msgs_per_s=rounded(put if len(ranked) > 1 else unread_msgs_per_s),
    )


def _put_msgs_per_s(group: AssessedGroup, topic: str) -> float | None:
    """Messages a second that are written to a topic; None if unknown."""
    rates = [
        one.put_msgs_per_s for reads in group.business if reads.topic.topic == topic for one in reads.topic.written
    ]
    return sum_of(rates) if rates else None


def _unread(group: AssessedGroup, topic: str) -> tuple[int | None, float | None]:
    """How many queues of a topic nobody owns today, and the messages a second on them; None if unknown."""
    load, queues = group.whole_load, group.division.queues
    if load is None:
        return None, None
    orphans = [queue for queue in load.orphans.tolist() if queues.topics[int(queues.topic[queue])].topic.topic == topic]
    rate = float(group.weights.msgs_per_s[orphans].sum())
    return len(orphans), None if np.isnan(rate) else rate


def _started_last(usual: WayToSubscribe, others: Sequence[WayToSubscribe]) -> bool | None:
    """Whether the clients that differ were all started after the others; None if a start is unknown."""
    before = [one.started_at for one in usual.clients]
    after = [one.started_at for way in others for one in way.clients]
    known_before = [at for at in before if at is not None]
    known_after = [at for at in after if at is not None]
    if len(known_before) < len(before) or len(known_after) < len(after):
        return None
    return min(known_after) > max(known_before)


def _sentence(mismatch: TopicFilters, clients: int) -> str:
    filters, rate = mismatch.filters, mismatch.at_risk_msgs_per_s
    ways = ", ".join(f"{counted(one.clients, 'client')} by {_shortened(one.filter)}" for one in filters)
    at_risk = f" ({fixed(rate, 1)} messages a second are at stake)" if rate else ""
    if len(filters) > 1:
        return (
            f"Its clients filter {mismatch.topic} differently: {ways}. The broker filters by the latest"
            f" only, and what does not pass is skipped for good{at_risk}."
        )
    lacking, unread = mismatch.not_read_by, mismatch.unread_queues
    return f"{lacking} of {counted(clients, 'client')} {'does' if lacking == 1 else 'do'} not read {mismatch.topic}" + (
        f": nobody reads {counted(unread, 'queue')} of it{at_risk}."
        if unread
        else ": a share of it that falls to them stays unread, and the broker keeps only the latest subscriptions."
    )


def _shortened(expression: str) -> str:
    return expression if len(expression) <= SHOWN else f"{expression[:SHOWN]}…"


def _subscriptions(group: AssessedGroup) -> Iterator[tuple[Consumer, Filters]]:
    """The subscriptions of each settled consumer: its own, or its group's if it did not report them."""
    reported: dict[int, dict[str, str]] = {}
    for subscription in group.facts.subscriptions:
        if subscription.kind not in (RETRY, EXCLUDED):
            reported.setdefault(subscription.consumer_index, {})[subscription.topic] = _filter(subscription)
    of_group = {
        reads.topic.topic: _filter(reads)
        for reads in group.facts.reads
        if reads.is_declared_by_group and reads.topic.kind not in (RETRY, EXCLUDED)
    }
    for consumer in group.facts.consumers:
        if group.is_settled(consumer):
            yield consumer, reported.get(consumer.consumer_index, {}) if consumer.has_subscriptions else of_group


def _filter(subscription: OwnSubscription | Reads) -> str:
    return filter_text(subscription.expression_type, subscription.expression)


GROUP_RULES: Final[tuple[GroupRule, ...]] = (subscription_mismatch,)
