"""Takes one sample of a live cluster with few requests: how far topics are written, what is not read, and who reads.

Numbers are RocketMQ's request codes.

1. Every name server is asked for brokers (106).
2. Every broker is asked for all committed offsets (43), and how far each business topic is written that a group has
   read (202).
3. One broker a group is asked for its members (203).

There is one request (317) for what all groups of a broker have read. It is not asked: to answer, a broker searches the
offsets of all groups once for each group, which took more than a minute for 10,000 groups that read two topics each
(AdminBrokerProcessor.fetchAllConsumeStatsInBroker, rocketmq-all-5.3.3).
"""

import asyncio
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from zlib import crc32

from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.settings.address import parse_nameservers
from rocketmq_capacity.snapshot.broker_facts import OffsetsAtMoment
from rocketmq_capacity.snapshot.broker_survey import BrokerSurvey
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.describe_clients import utc
from rocketmq_capacity.snapshot.identify import cluster_name
from rocketmq_capacity.snapshot.kinds import is_system_group, is_system_topic
from rocketmq_capacity.snapshot.reached import Reached
from rocketmq_capacity.tables.sample import BrokerSample, GroupSample, MemberSample, SampleFailure, TopicSample
from rocketmq_capacity.vocabulary import DLQ_PREFIX, LMQ_PREFIX, RETRY_PREFIX, java_order


@dataclass(frozen=True, slots=True)
class ClusterSample:
    """One sample: the rows of its tables, sorted by their keys."""

    cluster_name: str
    at: str
    brokers: Sequence[BrokerSample]
    topics: Sequence[TopicSample]
    groups: Sequence[GroupSample]
    members: Sequence[MemberSample]
    failures: Sequence[SampleFailure]


async def collect_sample(nameservers: Sequence[str], *, options: CollectOptions | None = None) -> ClusterSample:
    """Take a sample of the cluster behind these name servers; Proxies are not asked, and it is one sample in any case.

    Errors: `BadInput` for a text that is not an address, `ClusterUnreachable` if no name server or no broker answered,
    or if the brokers denied access.
    """
    options = options or CollectOptions()
    sampling = _Sampling(parse_nameservers(nameservers), options.connection_settings(), (), options.limit_s)
    async with sampling.until_the_limit():
        return await sampling.take()


def sample_now(nameservers: Sequence[str], *, options: CollectOptions | None = None) -> ClusterSample:
    """Take a sample and wait for it: :func:`collect_sample` for callers without an event loop."""
    return asyncio.run(collect_sample(nameservers, options=options))


class _Sampling(Reached):
    """One sample while it is taken."""

    async def take(self) -> ClusterSample:
        """Ask everything, in the order that the module describes."""
        _, info = await self.find_brokers()
        clusters, names = set(info.clusters), {broker.broker_name for broker in info.brokers}
        at, begin = utc(datetime.now(UTC)), asyncio.get_running_loop().time()
        brokers = [_Broker(survey, OffsetsAtMoment(at)) for survey in self.speakers()]
        await asyncio.gather(*(broker.ask_for_offsets(clusters, names) for broker in brokers))
        self.check_access()
        await asyncio.gather(*(broker.survey.ask_who_consumes(groups) for broker, groups in _askers(brokers)))
        has_all = len(brokers) == len(names) and all(broker.has_answered for broker in brokers)
        name = cluster_name(info.clusters)
        return ClusterSample(
            cluster_name=name,
            at=at,
            brokers=[
                BrokerSample(at=at, broker_name=broker.name, cluster_name=name, has_answered=broker.has_answered)
                for broker in brokers
            ],
            topics=list(_topics(at, begin, brokers)),
            groups=list(_groups(at, brokers, has_all=has_all)),
            members=list(_members(at, brokers)),
            failures=[
                SampleFailure(at=at, broker_addr=one.broker_addr, request=one.request or "", error=one.error)
                for one in self.failures.rows()
            ],
        )


@dataclass(frozen=True, slots=True)
class _Broker:
    """One broker in a sample.

    Attributes:
        survey: the questions to it.
        sample: how far its topics are written.
        committed: by business group and topic, the offsets that were committed to it by queue id.
    """

    survey: BrokerSurvey
    sample: OffsetsAtMoment
    committed: dict[str, dict[str, Mapping[int, int]]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return self.survey.facts.broker_name

    @property
    def has_answered(self) -> bool:
        return self.survey.facts.committed is not None

    async def ask_for_offsets(self, clusters: set[str], names: set[str]) -> None:
        """43, then 202 for each business topic that it names."""
        await self.survey.ask_for_committed_offsets()
        answer = self.survey.facts.committed
        for (topic, group), offsets in ({} if answer is None else answer.offsets).items():
            is_own = topic.startswith((RETRY_PREFIX, DLQ_PREFIX, LMQ_PREFIX)) or is_system_topic(topic, clusters, names)
            if group and offsets and not is_own and not is_system_group(group):
                self.committed.setdefault(group, {})[topic] = offsets
        topics = sorted({topic for own in self.committed.values() for topic in own}, key=java_order)
        await self.survey.ask_how_far_written(topics, self.sample)

    def lag(self, group: str) -> int | None:
        """Messages that a group has not committed here; None if that of a queue is unknown."""
        lag = 0
        for topic, offsets in self.committed.get(group, {}).items():
            if topic not in self.sample.written:
                return None
            for queue, written in self.sample.written[topic][1].items():
                if written.max_offset > 0:
                    committed = offsets.get(queue.queue_id)
                    if committed is None or committed > written.max_offset:
                        return None
                    lag += written.max_offset - committed
        return lag


def _askers(brokers: Sequence[_Broker]) -> Iterator[tuple[_Broker, list[str]]]:
    """The groups that each broker is asked about: each group at one of the brokers that have offsets of it.

    It is the same one in every sample, because brokers learn at different moments who came and went.
    """
    having: defaultdict[str, list[int]] = defaultdict(list)
    for number, broker in enumerate(brokers):
        for group in broker.committed:
            having[group].append(number)
    asked = {group: numbers[crc32(group.encode()) % len(numbers)] for group, numbers in having.items()}
    for number, broker in enumerate(brokers):
        yield broker, [group for group in broker.committed if asked[group] == number]


def _topics(at: str, begin: float, brokers: Sequence[_Broker]) -> Iterator[TopicSample]:
    pairs = ((topic, broker) for broker in brokers for topic in broker.sample.written)
    for topic, broker in sorted(pairs, key=lambda one: (java_order(one[0]), java_order(one[1].name))):
        answered_s, queues = broker.sample.written[topic]
        yield TopicSample(
            at=at,
            topic=topic,
            broker_name=broker.name,
            after_s=round(answered_s - begin, 1),
            queues=len(queues),
            written=sum(max(one.max_offset, 0) for one in queues.values()),
        )


def _groups(at: str, brokers: Sequence[_Broker], *, has_all: bool) -> Iterator[GroupSample]:
    """The lag of each group; unknown for all of them unless all brokers have answered."""
    for group in sorted({group for broker in brokers for group in broker.committed}, key=java_order):
        lags = [broker.lag(group) for broker in brokers] if has_all else [None]
        yield GroupSample(at=at, consumer_group=group, lag=sum_of(lags))


def _members(at: str, brokers: Sequence[_Broker]) -> Iterator[MemberSample]:
    connections = {
        group: (broker.name, connection.connections)
        for broker in brokers
        for group, connection in broker.survey.facts.connections.items()
        if connection.connections
    }
    for group in sorted(connections, key=java_order):
        broker_name, members = connections[group]
        client_ids = tuple(sorted((one.client_id for one in members), key=java_order))
        yield MemberSample(
            consumer_group=group, first_at=at, last_at=at, broker_name=broker_name, client_ids=client_ids
        )
