"""Takes one snapshot of a live cluster: which questions, in which order, and what a failure means.

Numbers are RocketMQ's request codes.

1. Every name server is asked for brokers (106) and topics (206). Without any answer there is no snapshot.
2. Every broker is asked for its tables. Meanwhile each name server that answered is asked for the route of every topic
   (105). At the end it is asked again for the routes that differ, because a change may have been under way.
3. Samples of offsets are taken. Each sample has how far every queue is read (208). The first and the last also have how
   far it is written (202), which gives the rates. With the last sample, brokers and Proxies are asked for the members
   of every group (203); this moment is the snapshot's ``taken_at``.
4. Slaves are asked for their topics and groups (21, 201), which are compared with their masters'. A slave that is
   copying them is waited for, up to a minute, while clients are asked.
5. Every remoting client is asked about itself (307), through a broker that it is connected to. This comes last and is
   limited, because a client that hangs holds a thread of the broker. A client gets one question at a time.

System topics and groups are listed only. Their offsets and members are not asked for, because nothing is planned for
them, and BenchmarkTest alone has 1,024 queues. Any other question without an answer becomes a row of failures. A
cluster whose brokers deny access to everything raises an error.
"""

import asyncio
import ssl
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import msgspec

from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.errors import BadInput, ClusterUnreachable
from rocketmq_capacity.progress.progress import Phase, Progress
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ResponseError
from rocketmq_capacity.settings.address import Address, parse_nameservers
from rocketmq_capacity.snapshot.broker_facts import OffsetsAtMoment
from rocketmq_capacity.snapshot.broker_survey import BrokerSurvey
from rocketmq_capacity.snapshot.describe_brokers import describe_brokers
from rocketmq_capacity.snapshot.describe_clients import utc
from rocketmq_capacity.snapshot.describe_groups import GroupDescriber
from rocketmq_capacity.snapshot.describe_nameservers import describe_nameservers, differing
from rocketmq_capacity.snapshot.describe_producers import describe_producers
from rocketmq_capacity.snapshot.describe_proxies import describe_proxies, with_unnamed_proxy
from rocketmq_capacity.snapshot.describe_topics import describe_topics, static_topics
from rocketmq_capacity.snapshot.identify import cluster_name, group_of_retry_topic
from rocketmq_capacity.snapshot.inventory import FORMAT, Inventory
from rocketmq_capacity.snapshot.inventory_file import parse_inventory
from rocketmq_capacity.snapshot.kinds import is_system_group, is_system_topic
from rocketmq_capacity.snapshot.nameserver_survey import joined_routes, untold_topics
from rocketmq_capacity.snapshot.protocols import protocol_of
from rocketmq_capacity.snapshot.reached import Reached
from rocketmq_capacity.vocabulary import GRPC, distinct, java_order


@dataclass(frozen=True, slots=True)
class CollectOptions:
    """How a snapshot is taken.

    Args:
        sample_count: samples of offsets, at least 1; rates need 2.
        sample_interval_s: from the beginning of one sample to the beginning of the next.
        limit_s: when the snapshot stops to ask; what was not answered until then is a failure.
        settings: limits of time and size, and retries, of every connection.
        tls: how to speak TLS to name servers and brokers; None for plain TCP, unless ``settings`` has it.
        credentials: for brokers with access control.
        proxies: remoting addresses of Proxies, beside those that ``settings`` name.
    """

    sample_count: int = 1
    sample_interval_s: float = 5.0
    limit_s: float = 1_800.0
    settings: ConnectionSettings = field(default_factory=ConnectionSettings)
    tls: ssl.SSLContext | None = None
    credentials: Credentials | None = None
    proxies: Sequence[Address] = ()

    def proxy_addresses(self) -> list[Address]:
        """The Proxies to ask, each once, sorted by address."""
        return sorted({*self.proxies, *self.settings.proxies})

    def connection_settings(self) -> ConnectionSettings:
        """The settings of a connection, TLS and credentials included."""
        tls, credentials = self.tls or self.settings.tls, self.credentials or self.settings.credentials
        return replace(self.settings, tls=tls, credentials=credentials)


async def collect(
    nameservers: Sequence[str], *, options: CollectOptions | None = None, progress: Progress | None = None
) -> Inventory:
    """Take a snapshot of the cluster behind these name servers (``host:port``, several also split by ``;``).

    ``progress`` counts samples and clients, from the moment on that the cluster is known to be readable.

    Errors: `BadInput` for a text that is not an address, `ClusterUnreachable` if no name server or no broker answered,
    or if the brokers denied access.
    """
    options = options or CollectOptions()
    addresses = parse_nameservers(nameservers)
    survey = _Survey(addresses, options, progress or Progress())
    async with survey.until_the_limit():
        taken = await survey.take()
    return _checked(taken, addresses)


def collect_now(
    nameservers: Sequence[str], *, options: CollectOptions | None = None, progress: Progress | None = None
) -> Inventory:
    """Take a snapshot and wait for it: :func:`collect` for callers without an event loop."""
    taken: list[Inventory] = []

    async def take() -> None:
        # The inventory is not the task's result, because asyncio.run() makes a repr() of that, which takes long.
        taken.append(await collect(nameservers, options=options, progress=progress))

    asyncio.run(take())
    return taken[0]


def _checked(taken: Inventory, addresses: Sequence[Address]) -> Inventory:
    """The inventory, once it passes the checks of an inventory file: what is stored can always be read again.

    Errors: `ClusterUnreachable` with the place of the first value that does not pass.
    """
    try:
        parse_inventory(msgspec.json.encode(taken), source="the answers")
    except (BadInput, UnicodeEncodeError) as error:
        nameservers = ", ".join(map(str, addresses))
        raise ClusterUnreachable(f"what the cluster behind {nameservers} says cannot be stored: {error}") from None
    return taken


class _Survey(Reached):
    """One snapshot while it is taken."""

    def __init__(self, addresses: Sequence[Address], options: CollectOptions, progress: Progress) -> None:
        super().__init__(addresses, options.connection_settings(), options.proxy_addresses(), options.limit_s)
        self._options, self._progress = options, progress

    async def take(self) -> Inventory:
        """Ask everything, in the order that the module describes."""
        nameservers, info = await self.find_brokers(with_topics=True)
        listed_topics = distinct(topic for one in nameservers for topic in one.topics)
        clusters, broker_names = set(info.clusters), {broker.broker_name for broker in info.brokers}
        routing = asyncio.gather(*(one.ask_routes(listed_topics) for one in nameservers))
        try:
            await asyncio.gather(
                *(survey.ask_about_itself() for survey in self.brokers),
                *(survey.ask_for_tables() for survey in self.speakers()),
            )
            self.check_access()
            topics = self._topics(listed_topics)
            groups = self._groups(topics)
            asked_topics = {topic for topic in topics if not is_system_topic(topic, clusters, broker_names)}
            asked_groups = [group for group in groups if not is_system_group(group)]
            taken_at = await self._sample(asked_topics, asked_groups)
            await self._ask_what_proxies_are(asked_topics)
            await asyncio.gather(
                self._ask_slaves(lambda topic: not is_system_topic(topic, clusters, broker_names)),
                self._ask_clients(asked_groups),
            )
            await routing
            listed = set(listed_topics)
            late = [topic for topic in topics if topic not in listed]
            await asyncio.gather(*(one.ask_routes(late) for one in nameservers))
            again = differing(nameservers, joined_routes(nameservers), asked_topics)
            await asyncio.gather(*(one.ask_routes(again) for one in nameservers))
        finally:
            routing.cancel()
        speakers, proxies = [survey.facts for survey in self.speakers()], [proxy.facts for proxy in self.proxies]
        routes = joined_routes(nameservers)
        groups_of = GroupDescriber(speakers, static_topics(routes), proxies)
        taken = Inventory(
            format=FORMAT,
            cluster_name=cluster_name(info.clusters),
            taken_at=taken_at,
            nameservers=tuple(map(str, self.addresses)),
            nameserver_views=describe_nameservers(nameservers, info, routes, asked_topics),
            brokers=describe_brokers(self.facts),
            proxies=describe_proxies(proxies, speakers),
            topics=describe_topics(topics, routes, speakers, untold_topics(nameservers, topics)),
            consumer_groups=tuple(groups_of.describe(group) for group in groups),
            producers=describe_producers(speakers),
            failures=self.failures.rows(),
        )
        return with_unnamed_proxy(taken)

    def _topics(self, listed: Sequence[str]) -> list[str]:
        """The topics that a name server lists, and those that a broker has not registered yet."""
        declared = (config.topic for survey in self.speakers() for config in survey.facts.topic_configs or ())
        return distinct((*listed, *declared))

    def _groups(self, topics: Sequence[str]) -> list[str]:
        """The groups that a broker has, that have committed an offset, or whose retry topic exists."""
        facts = [survey.facts for survey in self.speakers()]
        groups = {config.consumer_group for one in facts for config in one.subscription_groups or ()}
        groups |= {group for one in facts if one.committed is not None for _, group in one.committed.offsets if group}
        known_topics = set(topics)
        retried = {group_of_retry_topic(topic, groups, known_topics) for topic in topics}
        return distinct((*groups, *(group for group in retried if group is not None)))

    async def _sample(self, topics: set[str], groups: Sequence[str]) -> str:
        """Take all samples of offsets, with the members beside the last one; gives the moment of the last one."""
        loop = asyncio.get_running_loop()
        begin = loop.time()
        at, count = "", self._options.sample_count
        with self._progress.phase("samples", count) as phase:
            for number in range(count):
                with suppress(TimeoutError):
                    until = begin + number * self._options.sample_interval_s
                    await asyncio.wait_for(self.is_over.wait(), max(until - loop.time(), 0))
                at = utc(datetime.now(UTC))
                is_first, is_last = number == 0, number == count - 1
                written = topics if is_first or is_last else set[str]()
                await asyncio.gather(
                    *(self._sample_of(survey, at, written, groups, with_members=is_last) for survey in self.speakers()),
                    *(proxy.ask_who_consumes(groups) for proxy in self.proxies if is_last),
                )
                phase.done += 1
        return at

    @staticmethod
    async def _sample_of(
        survey: BrokerSurvey, at: str, topics: set[str], groups: Sequence[str], *, with_members: bool
    ) -> None:
        """One sample of one broker, of those topics that it has."""
        sample = OffsetsAtMoment(at)
        survey.facts.samples.append(sample)
        own_topics = [config.topic for config in survey.facts.topic_configs or () if config.topic in topics]
        questions = [survey.ask_how_far_written(own_topics, sample), survey.ask_how_far_read(groups, sample)]
        if with_members:
            questions.append(survey.ask_who_consumes(groups))
        await asyncio.gather(*questions)

    async def _ask_what_proxies_are(self, topics: Collection[str]) -> None:
        """105 about one topic, to each Proxy."""
        addresses = {facts.broker_name: [facts.broker_addr] for facts in self.facts if facts.is_asked_for_all}
        if topics:
            topic = min(topics, key=java_order)
            await asyncio.gather(*(proxy.ask_about_itself(topic, addresses) for proxy in self.proxies))

    async def _ask_slaves(self, is_ours: Callable[[str], bool]) -> None:
        """21 and 201 of each slave that has a master."""
        masters = {one.facts.broker_name: one for one in self.brokers if one.facts.broker_id == 0}
        await asyncio.gather(
            *(
                slave.ask_what_it_copies(masters[slave.facts.broker_name], is_ours)
                for slave in self.brokers
                if slave.facts.broker_id != 0 and slave.facts.broker_name in masters
            )
        )

    async def _ask_clients(self, groups: Sequence[str]) -> None:
        """307 for each client of each group; a client is asked about one group at a time, all clients in parallel.

        Two questions at a time can stop a client. To answer, a RocketMQ 5 client asks its brokers for the offsets that
        it does not hold yet. It waits for them in a pool with as many threads as it has processors, and the same pool
        takes the brokers' answers. Once all threads wait, the client drops its connections.
        Source: ConsumerRunningInfo of DefaultMQPushConsumerImpl, NettyRemotingClient.getCallbackExecutor,
        rocketmq-all-5.3.3; seen with two questions on two processors.
        """
        questions: dict[str, list[tuple[str, list[BrokerSurvey]]]] = {}
        asked = 0
        for group in groups:
            seen_by: dict[str, list[BrokerSurvey]] = {}
            for survey in self.speakers():
                connection = survey.facts.connections.get(group)
                # A gRPC client cannot answer, and the broker would keep a thread waiting for it.
                members = [one for one in connection.connections if protocol_of(one) != GRPC] if connection else ()
                for client_id in {one.client_id for one in members}:
                    seen_by.setdefault(client_id, []).append(survey)
            for client_id in sorted(seen_by, key=java_order):
                brokers = seen_by[client_id]
                first = asked % len(brokers)  # spread over the brokers that it is connected to
                questions.setdefault(client_id, []).append((group, [*brokers[first:], *brokers[:first]]))
                asked += 1
        with self._progress.phase("clients", len(questions)) as phase:
            await asyncio.gather(*(self._ask_client(client_id, about, phase) for client_id, about in questions.items()))

    async def _ask_client(
        self, client_id: str, questions: Sequence[tuple[str, Sequence[BrokerSurvey]]], phase: Phase
    ) -> None:
        """Ask about one group after the other; a client that did not answer in time is not asked again."""
        failure: tuple[str, Exception] | None = None
        for consumer_group, brokers in questions:
            if failure is None or not _is_silence(failure[1]):
                failure = await self._ask_through(brokers, consumer_group, client_id)
            if failure is not None:
                broker_addr, error = failure
                request = RequestCode.GET_CONSUMER_RUNNING_INFO.name
                subject = f"{consumer_group} {client_id}"
                self.failures.note(broker_addr, request, error, subject=subject, of_client=_is_silence(error))
        phase.done += 1

    @staticmethod
    async def _ask_through(
        brokers: Sequence[BrokerSurvey], consumer_group: str, client_id: str
    ) -> tuple[str, Exception] | None:
        """Ask through one broker after the other until the client answers.

        Gives None if it answered, else the address of the first broker that failed, and its error.
        """
        failures: list[tuple[str, Exception]] = []
        for survey in brokers:
            error = await survey.ask_client(consumer_group, client_id)
            if error is None:
                return None
            failures.append((survey.facts.broker_addr, error))
            if _is_silence(error):
                break
        return failures[0]


def _is_silence(error: Exception) -> bool:
    """Whether the client, not the broker, did not answer in time."""
    return isinstance(error, ResponseError) and error.code == ResponseCode.CONSUME_MSG_TIMEOUT
