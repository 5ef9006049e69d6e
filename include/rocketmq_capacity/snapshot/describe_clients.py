"""The inventory's consumers: one entry for each running one, with what it says about itself."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.protocol.body.consumers import ConsumerChannel, ConsumerRunningInfo, HeldQueue, SubscriptionData
from rocketmq_capacity.protocol.body.offsets import MessageQueue
from rocketmq_capacity.protocol.version import version_name
from rocketmq_capacity.snapshot.inventory import (
    Client,
    InventoryConsumeStatus,
    InventoryOwnedQueue,
    InventorySubscription,
)
from rocketmq_capacity.snapshot.protocols import protocol_of
from rocketmq_capacity.vocabulary import (
    AVG,
    AVG_BY_CIRCLE,
    CONFIG,
    CONSISTENT_HASH,
    GRPC,
    MACHINE_ROOM,
    MACHINE_ROOM_NEARBY,
    OWN_CHOICE,
    java_order,
)

_STRATEGY_PACKAGE: Final = "org.apache.rocketmq.client.consumer.rebalance."
STRATEGY_NAMES: Final = {
    "AllocateMessageQueueAveragely": AVG,
    "AllocateMessageQueueAveragelyByCircle": AVG_BY_CIRCLE,
    "AllocateMessageQueueByConfig": CONFIG,
    "AllocateMessageQueueByMachineRoom": MACHINE_ROOM,
    "AllocateMachineRoomNearby": MACHINE_ROOM_NEARBY,  # its inner strategy cannot be seen from outside
    "AllocateMessageQueueConsistentHash": CONSISTENT_HASH,
}
"""Class -> getName(), rocketmq-all-5.3.3."""

_LARGEST_COUNT: Final = 65_536
_MS: Final = 1_000
_OF_OLD_PULL_CONSUMERS: Final = "registerTopics"
"""Only DefaultMQPullConsumer has this field. Its program chooses its queues, and it reports none (307)."""


def describe_clients(
    connections: Mapping[str, Sequence[ConsumerChannel]],
    running_infos: Mapping[str, ConsumerRunningInfo],
    of_proxies: Mapping[str, Sequence[ConsumerChannel]] | None = None,
    answered_at: Mapping[str, str] | None = None,
) -> tuple[Client, ...]:
    """One entry for each running consumer of a group, in Java's order of their ids.

    A consumer holds one channel to each broker. So an id has as many consumers as it has channels to one broker, by the
    broker with most of them. Of consumers that share an id only one answers 307, and nobody can tell which: the first
    entry gets the answer. The id of a gRPC client is unique. A Proxy may name it twice, once by its own channel and
    once as another Proxy reported it.

    Args:
        connections: the group's channels by broker name.
        running_infos: what clients say about themselves, by client id.
        of_proxies: the group's channels by address of a Proxy.
        answered_at: when clients said it, by client id, UTC ISO-8601.
    """
    channels: dict[str, dict[str, list[ConsumerChannel]]] = {}
    for by_place in (connections, of_proxies or {}):
        for place in sorted(by_place, key=java_order):
            for connection in sorted(by_place[place], key=lambda one: one.client_addr or ""):
                channels.setdefault(connection.client_id, {}).setdefault(place, []).append(connection)
    clients: list[Client] = []
    for client_id in sorted(channels, key=java_order):
        of_client = channels[client_id]
        first = next(iter(of_client.values()))[0]
        consumers = 1 if protocol_of(first) == GRPC else max(map(len, of_client.values()))
        for index in range(consumers):
            seen_on = tuple(place for place, found in of_client.items() if len(found) > index)
            info = running_infos.get(client_id) if index == 0 else None
            at = None if info is None else (answered_at or {}).get(client_id)
            clients.append(_client(of_client[seen_on[0]][index], seen_on, info, at))
    return tuple(clients)


def describe_subscriptions(subscriptions: Iterable[SubscriptionData]) -> tuple[InventorySubscription, ...]:
    """One entry for each topic, in Java's order of the topics; of several on one topic the first counts."""
    by_topic: dict[str, SubscriptionData] = {}
    for subscription in subscriptions:
        by_topic.setdefault(subscription.topic, subscription)
    return tuple(
        InventorySubscription(
            topic=topic,
            expression_type=by_topic[topic].expression_type,
            expression=by_topic[topic].sub_string,
        )
        for topic in sorted(by_topic, key=java_order)
    )


def strategy_name(reported: str | None) -> str | None:
    """The name that the strategy's ``getName()`` gives, from ``class@hash`` as Java prints an object.

    An unknown class keeps its full name.
    """
    if not reported:
        return None
    class_name = reported.rpartition("@")[0] or reported
    return STRATEGY_NAMES.get(class_name.removeprefix(_STRATEGY_PACKAGE), class_name)


def subscriptions_of(info: ConsumerRunningInfo) -> Sequence[SubscriptionData]:
    """What a client reads: what it subscribes to, or the topics of the queues that were assigned to it.

    A lite pull consumer with ``assign()`` subscribes to nothing and takes no part in rebalances. Its filter is unknown.
    Source: DefaultLitePullConsumerImpl.assign and consumerRunningInfo, rocketmq-all-5.3.3.
    """
    if info.subscriptions:
        return info.subscriptions
    return [SubscriptionData(topic, None, None) for topic in sorted({queue.topic for queue in info.queues})]


def _chooses_its_queues(info: ConsumerRunningInfo) -> bool:
    """Whether the client's program chooses its queues, whatever strategy the client has."""
    return _OF_OLD_PULL_CONSUMERS in info.properties or bool(info.queues and not info.subscriptions)


def utc_of_ms(milliseconds: int) -> str | None:
    """A time in ms since 1970 as UTC ISO-8601 in whole seconds; None if it is 0, negative or out of range."""
    if milliseconds <= 0:
        return None
    try:
        return utc(datetime.fromtimestamp(milliseconds // _MS, UTC))
    except (ValueError, OverflowError, OSError):
        return None


def utc(moment: datetime) -> str:
    """The moment as the inventory writes it: UTC ISO-8601 in whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _client(
    connection: ConsumerChannel, seen_on: tuple[str, ...], info: ConsumerRunningInfo | None, answered_at: str | None
) -> Client:
    version = None if connection.version is None else version_name(connection.version)
    known = Client(
        client_id=connection.client_id,
        client_addr=connection.client_addr,
        protocol=GRPC if protocol_of(connection) == GRPC else None,
        language=connection.language,
        version=version,
        seen_on=seen_on,
    )
    return known if info is None else _with_running_info(known, info, answered_at)


def _with_running_info(client: Client, info: ConsumerRunningInfo, answered_at: str | None) -> Client:
    """The client with what it says about itself; property names are those of DefaultMQPushConsumer's fields."""
    properties = info.properties
    return replace(
        client,
        answered_at=answered_at,
        started_at=utc_of_ms(_number(properties, "PROP_CONSUMER_START_TIMESTAMP") or 0),
        allocate_strategy=OWN_CHOICE
        if _chooses_its_queues(info)
        else strategy_name(properties.get("allocateMessageQueueStrategy")),
        consume_threads=_count(properties, "PROP_THREADPOOL_CORE_SIZE"),
        consume_batch_size=_count(properties, "consumeMessageBatchMaxSize"),
        pull_batch_size=_count(properties, "pullBatchSize"),
        pull_interval_ms=_count(properties, "pullInterval"),
        pull_threshold_for_queue=_count(properties, "pullThresholdForQueue"),
        pull_threshold_size_for_queue_mib=_count(properties, "pullThresholdSizeForQueue"),
        pull_threshold_for_topic=_above_0(properties, "pullThresholdForTopic"),
        pull_threshold_size_for_topic_mib=_above_0(properties, "pullThresholdSizeForTopic"),
        subscriptions=describe_subscriptions(subscriptions_of(info)),
        owned_queues=None if _OF_OLD_PULL_CONSUMERS in properties else _owned_queues(info),
        status=_statuses(info),
    )


def _owned_queues(info: ConsumerRunningInfo) -> tuple[InventoryOwnedQueue, ...]:
    queues = {(queue.topic, queue.broker_name, queue.queue_id) for queue in (*info.queues, *info.pop_queues)}
    ordered = sorted(queues, key=lambda queue: (java_order(queue[0]), java_order(queue[1]), queue[2]))
    return tuple(_owned_queue(MessageQueue(*queue), info) for queue in ordered)


def _owned_queue(queue: MessageQueue, info: ConsumerRunningInfo) -> InventoryOwnedQueue:
    held = info.held.get(queue, HeldQueue())
    return InventoryOwnedQueue(
        topic=queue.topic,
        broker_name=queue.broker_name,
        queue_id=queue.queue_id,
        dropped=held.dropped,
        locked=held.locked,
        cached_msgs=held.cached_msgs,
        last_locked_at=utc_of_ms(held.last_locked_ms or 0),
        last_pulled_at=utc_of_ms(held.last_pulled_ms or 0),
        last_consumed_at=utc_of_ms(held.last_consumed_ms or 0),
    )


def _statuses(info: ConsumerRunningInfo) -> tuple[InventoryConsumeStatus, ...]:
    return tuple(
        InventoryConsumeStatus(
            topic=topic,
            consume_rt_ms=_positive(info.statuses[topic].consume_rt_ms),
            consume_ok_msgs_per_s=_positive(info.statuses[topic].consume_ok_msgs_per_s),
            consume_failed_msgs_per_s=_positive(info.statuses[topic].consume_failed_msgs_per_s),
        )
        for topic in sorted(info.statuses, key=java_order)
    )


def _positive(value: float | None) -> float | None:
    return value if value is not None and value >= 0 else None


def _number(properties: Mapping[str, str], name: str) -> int | None:
    return whole_number(properties.get(name))


def _above_0(properties: Mapping[str, str], name: str) -> int | None:
    """The property, None unless it is above 0: RocketMQ gives -1 for one that is not set."""
    number = _number(properties, name)
    return number if number is not None and number > 0 else None


def _count(properties: Mapping[str, str], name: str) -> int | None:
    number = _number(properties, name)
    return number if number is not None and 0 <= number <= _LARGEST_COUNT else None
