"""Asks one broker, over one connection: itself, its topics and groups, and the consumers that it can reach.

Numbers are RocketMQ's request codes (`RequestCode`).

A slave is asked about itself (26, 28), and for the topics and groups (21, 201) that it copies from its master. It
copies them a little late (SlaveSynchronize); what it lacks is lost if it takes the master's place. Consumers get the
list of their members from the master as long as there is one (BrokerData.selectBrokerAddr). Without a master, they ask
the slave with the lowest id, and so does the snapshot.
"""

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import UTC, datetime
from typing import Final, TypeVar

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.settings import BROKER_ADMIN_THREADS, ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.broker import SubscriptionGroupConfig, TopicConfig
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.protocol.request import Request
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts, Drift, OffsetsAtMoment
from rocketmq_capacity.snapshot.describe_clients import utc
from rocketmq_capacity.snapshot.failure_log import FailureLog
from rocketmq_capacity.snapshot.kinds import is_system_group
from rocketmq_capacity.snapshot.survey import Survey
from rocketmq_capacity.vocabulary import distinct, java_order

T = TypeVar("T")

RELAYED_AT_A_TIME: Final = BROKER_ADMIN_THREADS // 2
"""Questions that a broker passes on to clients at a time. A client that does not answer holds one of the broker's
threads for 10 s (Broker2Client.callClient): with more of them the broker could stop answering everybody."""

LOOK_AGAIN_S: Final = 1.0
"""Until a slave that differs from its master is asked again. It writes a file for each topic that it takes away, in
some milliseconds, so that a table which did not change for so long is at rest."""

COPIES_WITHIN_S: Final = 60.0
"""A slave that has not come to rest for so long is taken as it is, and known to be copying."""

Tables = tuple[tuple[TopicConfig, ...], tuple[SubscriptionGroupConfig, ...]]
"""A broker's topics and groups."""


def drift_of(slave: Tables, master: Tables, is_ours: Callable[[str], bool]) -> Drift:
    """Topics and groups that a slave lacks, and topics whose numbers of queues differ; without RocketMQ's own.

    Args:
        slave: the slave's tables.
        master: its master's.
        is_ours: whether a topic is compared.
    """
    configs_of_slave = {config.topic: config for config in slave[0]}
    groups = {config.consumer_group for config in slave[1]}
    return Drift(
        topics=tuple(
            (other, config)
            for config in sorted(master[0], key=lambda config: java_order(config.topic))
            if is_ours(config.topic)
            for other in [configs_of_slave.get(config.topic)]
            if other is None or _counts(other) != _counts(config)
        ),
        groups=tuple(
            distinct(
                config.consumer_group
                for config in master[1]
                if config.consumer_group not in groups and not is_system_group(config.consumer_group)
            )
        ),
    )


def _counts(config: TopicConfig) -> tuple[int, int]:
    return config.read_queue_nums, config.write_queue_nums


class BrokerSurvey(Survey):
    """The questions to one broker; answers go to ``facts``, failures to the log."""

    def __init__(self, facts: BrokerFacts, settings: ConnectionSettings, failures: FailureLog) -> None:
        """Prepare; nothing is asked yet.

        Errors: ValueError if the broker's address is not an address.
        """
        self.facts = facts
        super().__init__(parse_address(facts.broker_addr), settings, failures)
        self._relayed = asyncio.Semaphore(RELAYED_AT_A_TIME)

    async def ask_about_itself(self) -> None:
        """28 and 26: its runtime figures and its configuration."""
        self.facts.runtime, self.facts.config = await asyncio.gather(
            self._ask(request.broker_runtime()), self._ask(request.broker_config())
        )

    async def ask_for_tables(self) -> None:
        """21, 201, 402, 43 and 328: all topics, groups, request modes, committed offsets and producers.

        Only 328 needs a right on the cluster. Without that right only the producers are unknown.
        """
        facts = self.facts
        older = (ResponseCode.REQUEST_CODE_NOT_SUPPORTED,)  # before 5.0 there was no 402 (POP), before 4.9.4 no 328
        (
            facts.topic_configs,
            facts.subscription_groups,
            facts.request_modes,
            facts.committed,
            facts.producers,
        ) = await asyncio.gather(
            self._ask(request.topic_configs()),
            self._ask(request.subscription_groups()),
            self._ask(request.message_request_modes(), harmless=older),
            self._ask(request.committed_offsets()),
            self._ask(request.producers(), harmless=(*older, ResponseCode.NO_PERMISSION)),
        )

    async def ask_what_it_copies(self, master: "BrokerSurvey", is_ours: Callable[[str], bool]) -> None:
        """21 and 201 of a slave; if it differs, the master is asked again, and for the time of its last change.

        The master may have changed since it was asked first. A slave that differs is asked again until its tables are
        as they were ``LOOK_AGAIN_S`` before, at most for ``COPIES_WITHIN_S``: up to 5.4.0 it takes away every topic
        and group, one after the other, before it copies those of its master. With 300 topics that takes half a second
        of each minute, with 3,000 it takes 30 s. ``is_ours`` says whether a topic is compared.
        Source: SlaveSynchronize, rocketmq-all-5.3.2 to 5.4.0 (apache/rocketmq#9984); the times are measured.
        """
        topics, groups = master.facts.topic_configs, master.facts.subscription_groups
        if topics is None or groups is None:
            return
        time = asyncio.get_running_loop().time
        until, changed_ms = time() + COPIES_WITHIN_S, None
        while (seen := await self.ask_for_changed_tables()) is not None:
            tables, last_ms = seen
            drift = drift_of(tables, (topics, groups), is_ours)
            if not (drift.topics or drift.groups):
                self.facts.drift = drift
                return
            is_copying, changed_ms = last_ms != changed_ms, last_ms
            if not is_copying or time() >= until:
                again = await master.ask_for_changed_tables()
                if again is not None:
                    drift = drift_of(tables, again[0], is_ours)
                    self.facts.drift = replace(drift, changed_ms=again[1], is_copying=is_copying)
                return
            await asyncio.sleep(LOOK_AGAIN_S)

    async def ask_for_changed_tables(self) -> tuple[Tables, int | None] | None:
        """21 and 201 again, with the time of the last change of either, in ms since 1970; None if one failed."""
        topics, groups = await asyncio.gather(
            self._ask(request.with_change(request.topic_configs())),
            self._ask(request.with_change(request.subscription_groups())),
        )
        if topics is None or groups is None:
            return None
        changed = [at for at in (topics[1], groups[1]) if at is not None]
        return (topics[0], groups[0]), max(changed, default=None)

    async def ask_how_far_written(self, topics: Collection[str], sample: OffsetsAtMoment) -> None:
        """202 for each topic; a topic that was deleted meanwhile is left out."""
        await self._for_each(topics, lambda topic: self._ask_topic_stats(topic, sample))

    async def ask_how_far_read(self, groups: Collection[str], sample: OffsetsAtMoment) -> None:
        """208 for each group."""
        await self._for_each(groups, lambda group: self._ask_consume_stats(group, sample))

    async def ask_for_committed_offsets(self) -> None:
        """43 alone."""
        self.facts.committed = await self._ask(request.committed_offsets())

    async def ask_who_consumes(self, groups: Collection[str]) -> None:
        """203 for each group; a group without a consumer here is left out."""
        await self._for_each(groups, self._ask_connection)

    async def ask_client(self, consumer_group: str, client_id: str) -> Exception | None:
        """307 for one client; gives the error if it did not answer, else None.

        The caller logs the error, because another broker may still reach the client.
        """
        try:
            async with self._relayed:
                info = await self._peer.call(request.consumer_running_info(consumer_group, client_id))
        except (TransportError, ProtocolError) as error:
            return error
        self.facts.running_infos[consumer_group, client_id] = info
        self.facts.answered_at[consumer_group, client_id] = utc(datetime.now(UTC))
        return None

    async def _ask_topic_stats(self, topic: str, sample: OffsetsAtMoment) -> None:
        stats = await self._ask(request.topic_stats(topic), subject=topic, harmless=(ResponseCode.TOPIC_NOT_EXIST,))
        if stats is not None:
            sample.written[topic] = (asyncio.get_running_loop().time(), stats)

    async def _ask_consume_stats(self, group: str, sample: OffsetsAtMoment) -> None:
        stats = await self._ask(request.consume_stats(group), subject=group)
        if stats is not None:
            sample.read[group] = stats

    async def _ask_connection(self, group: str) -> None:
        try:
            self.facts.connections[group] = await self._peer.call(request.consumer_connection(group))
        except (TransportError, ProtocolError) as error:
            if isinstance(error, ResponseError) and error.code == ResponseCode.CONSUMER_NOT_ONLINE:
                return
            self.facts.untold.add(group)
            request_name = RequestCode.GET_CONSUMER_CONNECTION_LIST.name
            self._failures.note(self.facts.broker_addr, request_name, error, subject=group)

    async def _ask(self, question: Request[T], *, subject: str = "", harmless: tuple[int, ...] = ()) -> T | None:
        address, answer = self.facts.broker_addr, self._peer.call(question)
        return await self._failures.answer_or_none(address, question.code, answer, subject=subject, harmless=harmless)
