"""The inventory's consumer groups, made from the answers of all brokers and Proxies."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain, starmap
from typing import Final, TypeVar

from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.protocol.body.broker import MessageRequestMode, SubscriptionGroupConfig
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, ConsumerConnection, ConsumerRunningInfo
from rocketmq_capacity.protocol.body.offsets import GroupProgress, MessageQueue, WrittenOffset
from rocketmq_capacity.protocol.limits import MAX_QUEUES
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts, known_offset
from rocketmq_capacity.snapshot.describe_clients import (
    describe_clients,
    describe_subscriptions,
    subscriptions_of,
    utc_of_ms,
)
from rocketmq_capacity.snapshot.inventory import (
    GroupSettings,
    InventoryGroup,
    InventoryGroupOffset,
    InventorySubscription,
    Sample,
)
from rocketmq_capacity.snapshot.protocols import protocol_of
from rocketmq_capacity.snapshot.proxy_survey import ProxyFacts
from rocketmq_capacity.vocabulary import (
    CONSUME_ACTIVELY,
    CONSUME_FROM_WHERE,
    DEFAULT_POP_SHARE,
    DEFAULT_REQUEST_MODE,
    GRPC,
    LAST_OFFSET,
    MESSAGE_MODELS,
    POP,
    PULL,
    REQUEST_MODES,
    RETRY_PREFIX,
    ConsumeFromWhere,
    RequestMode,
    is_broadcasting,
    java_order,
)

T = TypeVar("T")

_IN_ORDER: Final = "PROP_CONSUMEORDERLY"
"""The property of a push consumer that says whether it consumes in order (ConsumerRunningInfo)."""
LARGEST_POP_SHARE: Final = 2**31 - 1
"""A Java int."""


class GroupDescriber:
    """Describes one group after the other, from the answers of Proxies and of one process of each broker name."""

    def __init__(
        self, brokers: Iterable[BrokerFacts], static_topics: Collection[str], proxies: Iterable[ProxyFacts] = ()
    ) -> None:
        self._proxies = list(proxies)
        self._brokers = sorted(brokers, key=lambda facts: java_order(facts.broker_name))
        self._static_topics = static_topics
        self._running_infos: dict[str, dict[str, ConsumerRunningInfo]] = {}
        self._answered_at: dict[str, dict[str, str]] = {}
        self._orderly: dict[str, bool] = {}
        self._configs: dict[str, dict[SubscriptionGroupConfig, list[str]]] = {}
        self._modes: dict[tuple[str, str], MessageRequestMode] = {}
        for facts in self._brokers:
            for (group, client_id), info in facts.running_infos.items():
                self._running_infos.setdefault(group, {}).setdefault(client_id, info)
                at = facts.answered_at.get((group, client_id))
                if at is not None:
                    self._answered_at.setdefault(group, {}).setdefault(client_id, at)
            for config in facts.subscription_groups or ():
                was_orderly = self._orderly.get(config.consumer_group, False)
                self._orderly[config.consumer_group] = was_orderly or config.consume_message_orderly
                alike = self._configs.setdefault(config.consumer_group, {})
                alike.setdefault(config, []).append(facts.broker_name)
            for mode in facts.request_modes or ():
                self._modes.setdefault((mode.consumer_group, mode.topic), mode)

    def describe(self, consumer_group: str) -> InventoryGroup:
        """One group; model and type are those of the first broker that knows its heartbeat, else of the first Proxy."""
        at_brokers = _online(consumer_group, {facts.broker_name: facts.connections for facts in self._brokers})
        at_proxies = _online(consumer_group, {str(facts.address): facts.connections for facts in self._proxies})
        online = [*at_brokers.values(), *at_proxies.values()]
        infos = self._running_infos.get(consumer_group, {})
        subscriptions = self._subscriptions(consumer_group, online, infos.values())
        mode, share = _common_mode(subscriptions)
        model = _first(connection.message_model for connection in online)
        answered_at = self._answered_at.get(consumer_group, {})
        clients = describe_clients(_connections(at_brokers), infos, _connections(at_proxies), answered_at)
        return InventoryGroup(
            consumer_group=consumer_group,
            message_model=model if model in MESSAGE_MODELS else None,
            consume_type=_first(connection.consume_type for connection in online),
            consume_from_where=_consume_from_where(online, infos),
            message_request_mode=mode,
            pop_share_queue_num=share,
            orderly=self._is_orderly(consumer_group, online, infos),
            settings=tuple(starmap(_settings, self._configs.get(consumer_group, {}).items())) or None,
            subscriptions=subscriptions,
            clients=clients if clients or self._is_told(consumer_group) else None,
            offsets=self._offsets(consumer_group),
        )

    def _is_told(self, consumer_group: str) -> bool:
        """Whether brokers answered for certain that the group has no clients.

        A client connects to every broker of its topics. So one broker that has offsets of the group knows all of them.
        """
        answering = [facts for facts in self._brokers if consumer_group not in facts.untold]
        has_offsets = any(sample.read.get(consumer_group) for facts in answering for sample in facts.samples)
        return has_offsets or len(answering) == len(self._brokers)

    def _subscriptions(
        self,
        consumer_group: str,
        online: Iterable[ConsumerConnection],
        infos: Collection[ConsumerRunningInfo],
    ) -> tuple[InventorySubscription, ...]:
        """The topics that the group reads, with their request modes; none for a group that is offline."""
        declared = (subscription for one in online for subscription in one.subscriptions)
        assigned = (subscriptions_of(info) for info in infos if not info.subscriptions)
        described = describe_subscriptions(chain(declared, *assigned))
        is_pulling = bool(infos) and all(_rebalances_itself(info) for info in infos)
        subscriptions: list[InventorySubscription] = []
        for subscription in described:
            mode, share = self._mode(consumer_group, subscription.topic, is_pulling=is_pulling)
            subscriptions.append(
                InventorySubscription(
                    topic=subscription.topic,
                    expression_type=subscription.expression_type,
                    expression=subscription.expression,
                    message_request_mode=mode,
                    pop_share_queue_num=share,
                )
            )
        return tuple(subscriptions)

    def _mode(self, consumer_group: str, topic: str, *, is_pulling: bool) -> tuple[RequestMode | None, int | None]:
        """The request mode of the group for the topic, and under POP its share number.

        A topic without an entry in 402 has the broker's default; a retry topic without an entry has PULL. Under POP the
        broker assigns queues. A client that rebalances by itself never asks it to, so such a client pulls
        (RebalanceImpl.doRebalance; QueryAssignmentProcessor.queryAssignment, rocketmq-all-5.3.3).
        """
        if all(facts.request_modes is None for facts in self._brokers):
            return None, None
        if is_pulling:
            return PULL, None
        entry = self._modes.get((consumer_group, topic))
        if entry is not None:
            mode, share = entry.mode, entry.pop_share_queue_num
        elif topic.startswith(RETRY_PREFIX):
            return PULL, None
        else:
            config = _first(facts.config for facts in self._brokers) or {}
            mode, share = config.get("defaultMessageRequestMode", DEFAULT_REQUEST_MODE), _default_share(config)
        if mode not in REQUEST_MODES:
            return None, None
        return mode, share if mode == POP else None

    def _is_orderly(
        self, consumer_group: str, online: Iterable[ConsumerConnection], infos: Mapping[str, ConsumerRunningInfo]
    ) -> bool | None:
        """Whether the group consumes in order; None if unknown.

        A remoting client decides for itself, whatever the configuration says: no broker looks at it. So where all
        clients are remoting ones and tell it, they decide, and False needs the answers of all remoting clients in any
        case. The configuration decides for gRPC clients, and for a group without clients.
        Source: consumeMessageOrderly is read by GrpcClientSettingsManager and RouteActivity alone, rocketmq-all-5.3.3.
        """
        says_in_order = {client_id: info.properties.get(_IN_ORDER, "").lower() for client_id, info in infos.items()}
        if "true" in says_in_order.values():
            return True
        clients = [one for each in online for one in each.connections]
        remoting = {one.client_id for one in clients if protocol_of(one) != GRPC}
        if clients and all(says_in_order.get(one.client_id) == "false" for one in clients):
            return False
        configured = self._orderly.get(consumer_group)
        return configured if configured or remoting <= infos.keys() else None

    def _offsets(self, consumer_group: str) -> tuple[InventoryGroupOffset, ...] | None:
        """How far the group has read each queue; None if no broker answered."""
        offsets: list[InventoryGroupOffset] = []
        is_known = False
        for facts in self._brokers:
            if not facts.samples or consumer_group not in facts.samples[-1].read:
                continue
            is_known = True
            *earlier, last = facts.samples
            for queue, progress in last.read[consumer_group].items():
                if queue.topic in self._static_topics:
                    continue
                samples = tuple(
                    _sample(sample.at, sample.read[consumer_group][queue])
                    for sample in earlier
                    if queue in sample.read.get(consumer_group, {})
                )
                offsets.append(_group_offset(queue, progress, samples))
            offsets += self._unseen_offsets(facts, consumer_group)
        unique: dict[tuple[str, str, int], InventoryGroupOffset] = {}
        for offset in offsets:  # a broker may name a queue of another one; the first answer counts
            unique.setdefault((offset.topic, offset.broker_name, offset.queue_id), offset)
        names = sorted(unique, key=lambda name: (java_order(name[0]), java_order(name[1]), name[2]))
        return tuple(unique[name] for name in names) if is_known else None

    def _unseen_offsets(self, facts: BrokerFacts, consumer_group: str) -> Iterator[InventoryGroupOffset]:
        """The group's offsets on queues that producers write and consumers cannot see, which 208 leaves out.

        The group may have committed one when there were more read queues. A queue without an offset has no entry. If 43
        was not answered, the offset is unknown.
        Source: AdminBrokerProcessor.getConsumeStats, rocketmq-all-5.3.3 (it looks at readQueueNums queues).
        """
        last = facts.samples[-1]
        read = {queue.topic for queue in last.read[consumer_group]}
        for config in facts.topic_configs or ():
            committed = (
                None if facts.committed is None else facts.committed.offsets.get((config.topic, consumer_group), {})
            )
            if config.topic in self._static_topics or not (committed or config.topic in read):
                continue
            _, written = last.written.get(config.topic, (0.0, dict[MessageQueue, WrittenOffset]()))
            for queue_id in range(config.read_queue_nums, config.write_queue_nums):
                end = written.get(MessageQueue(config.topic, facts.broker_name, queue_id))
                if committed is None or queue_id in committed:
                    yield InventoryGroupOffset(
                        topic=config.topic,
                        broker_name=facts.broker_name,
                        queue_id=queue_id,
                        broker_offset=None if end is None else known_offset(end.max_offset),
                        consumer_offset=None if committed is None else known_offset(committed[queue_id]),
                    )


def _settings(config: SubscriptionGroupConfig, broker_names: Iterable[str]) -> GroupSettings:
    """The settings of these brokers; a number that RocketMQ does not take is unknown."""
    queues, times = config.retry_queue_nums, config.retry_max_times
    return GroupSettings(
        broker_names=tuple(broker_names),
        consume_enable=config.consume_enable,
        consume_broadcast_enable=config.consume_broadcast_enable,
        consume_message_orderly=config.consume_message_orderly,
        retry_queue_nums=queues if 0 <= queues <= MAX_QUEUES else None,
        retry_max_times=times if times >= 0 else None,
    )


def _online(
    consumer_group: str, connections: Mapping[str, Mapping[str, ConsumerConnection]]
) -> dict[str, ConsumerConnection]:
    """What each broker or Proxy that knows the group says about it, by broker name or Proxy address."""
    return {server: each[consumer_group] for server, each in connections.items() if consumer_group in each}


def _connections(online: Mapping[str, ConsumerConnection]) -> dict[str, Sequence[ConsumerChannel]]:
    return {server: one.connections for server, one in online.items()}


def _group_offset(queue: MessageQueue, progress: GroupProgress, samples: tuple[Sample, ...]) -> InventoryGroupOffset:
    return InventoryGroupOffset(
        topic=queue.topic,
        broker_name=queue.broker_name,
        queue_id=queue.queue_id,
        broker_offset=known_offset(progress.broker_offset),
        consumer_offset=known_offset(progress.consumer_offset),
        last_timestamp=utc_of_ms(progress.last_timestamp_ms),
        samples=samples or None,
    )


def _sample(at: str, progress: GroupProgress) -> Sample:
    return Sample(
        at=at,
        broker_offset=known_offset(progress.broker_offset),
        consumer_offset=known_offset(progress.consumer_offset),
    )


def _common_mode(subscriptions: Sequence[InventorySubscription]) -> tuple[RequestMode | None, int | None]:
    """The mode and the share number that all topics of a group but its retry topic have; None if they differ."""
    pairs = {
        (one.message_request_mode, one.pop_share_queue_num)
        for one in subscriptions
        if not one.topic.startswith(RETRY_PREFIX)
    }
    if len(pairs) == 1:
        return pairs.pop()
    modes = {mode for mode, _ in pairs}
    return (modes.pop(), None) if len(modes) == 1 else (None, None)


def _rebalances_itself(info: ConsumerRunningInfo) -> bool:
    """Whether the client assigns its queues by itself (RebalancePushImpl.clientRebalance).

    Only a push consumer with clientRebalance off does not, and only if it neither consumes in order nor broadcasts.
    """
    properties = info.properties
    return (
        properties.get("clientRebalance", "true").lower() == "true"
        or properties.get(_IN_ORDER, "").lower() == "true"
        or is_broadcasting(properties.get("messageModel"))
    )


def _consume_from_where(
    online: Sequence[ConsumerConnection], infos: Mapping[str, ConsumerRunningInfo]
) -> ConsumeFromWhere | None:
    """Where all clients begin on a queue without an offset; None if unknown, or if they differ.

    What a client says of itself is used first. For the others the last heartbeat that each broker had is used, but not
    of a group that pulls: lite pull consumers send CONSUME_FROM_LAST_OFFSET whatever they are set to. For gRPC clients
    a Proxy begins at the end.
    Source: DefaultLitePullConsumerImpl.consumeFromWhere, ReceiveMessageActivity, rocketmq-all-5.3.3.
    """
    stated: set[str | None] = {info.properties.get("consumeFromWhere") for info in infos.values()} - {None}
    for connection in online:
        silent = [one for one in connection.connections if "consumeFromWhere" not in _properties(infos, one.client_id)]
        if any(protocol_of(one) == GRPC for one in silent):
            stated.add(LAST_OFFSET)
        if any(protocol_of(one) != GRPC for one in silent):
            stated.add(None if connection.consume_type == CONSUME_ACTIVELY else connection.consume_from_where)
    only = stated.pop() if len(stated) == 1 else None
    return only if only in CONSUME_FROM_WHERE else None


def _properties(infos: Mapping[str, ConsumerRunningInfo], client_id: str) -> Mapping[str, str]:
    return infos[client_id].properties if client_id in infos else {}


def _default_share(config: Mapping[str, str]) -> int:
    share = whole_number(config.get("defaultPopShareQueueNum"))
    return DEFAULT_POP_SHARE if share is None or share > LARGEST_POP_SHARE else share


def _first(values: Iterable[T | None]) -> T | None:
    return next((value for value in values if value is not None), None)
