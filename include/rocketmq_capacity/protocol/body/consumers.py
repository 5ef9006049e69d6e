"""Who consumes: connections of a group (203), its client ids (38) and what one client says of itself (307)."""

from collections.abc import ItemsView, Mapping
from dataclasses import dataclass
from dataclasses import field as member
from typing import Any, Final

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.body.offsets import MessageQueue, queue_of_key
from rocketmq_capacity.protocol.limits import MAX_WHOLE

MAX_HELD: Final = MAX_WHOLE // 2
"""The sum of the two counts of a queue is a whole number as well."""


@dataclass(frozen=True, slots=True)
class ConsumerChannel:
    """One channel of one consumer to the broker that was asked; ``version`` is RocketMQ's number of it."""

    client_id: str
    client_addr: str | None
    language: str | None
    version: int | None


@dataclass(frozen=True, slots=True)
class SubscriptionData:
    """A topic that is read, and the filter: ``expression_type`` is TAG or SQL92."""

    topic: str
    expression_type: str | None
    sub_string: str | None


@dataclass(frozen=True, slots=True)
class ConsumerConnection:
    """The answer to 203; all but the connections is what the last heartbeat said."""

    connections: tuple[ConsumerChannel, ...]
    subscriptions: tuple[SubscriptionData, ...]
    consume_type: str | None
    message_model: str | None
    consume_from_where: str | None = None


@dataclass(frozen=True, slots=True)
class ConsumerIds:
    """The answer to 38: one id for each channel, so the same id twice means two consumers."""

    client_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ReportedConsumeStatus:
    """How one client consumes one topic over the last minute: ms a listener call, messages a second."""

    consume_rt_ms: float | None
    consume_ok_msgs_per_s: float | None
    consume_failed_msgs_per_s: float | None


@dataclass(frozen=True, slots=True)
class HeldQueue:
    """What a client says of a queue that it holds; times are ms since 1970 by the client's clock.

    Attributes:
        dropped: it should be released.
        locked: for reading in order; a client that does not consume in order says so as well.
        cached_msgs: pulled, and not handled to their end.
        last_locked_ms, last_pulled_ms, last_consumed_ms: when it last locked it, asked for messages, handled one.
    """

    dropped: bool | None = None
    locked: bool | None = None
    cached_msgs: int | None = None
    last_locked_ms: int | None = None
    last_pulled_ms: int | None = None
    last_consumed_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ConsumerRunningInfo:
    """The answer to 307: the client's settings, what it reads and which queues it holds (``pop_queues`` by POP).

    ``held`` is what it says of each of these queues.
    """

    properties: Mapping[str, str]
    subscriptions: tuple[SubscriptionData, ...]
    queues: tuple[MessageQueue, ...]
    pop_queues: tuple[MessageQueue, ...]
    statuses: Mapping[str, ReportedConsumeStatus]
    held: Mapping[MessageQueue, HeldQueue] = member(default_factory=dict)


def decode_consumer_connection(body: bytes) -> ConsumerConnection:
    """Read 203. Source: ConsumerConnection.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "ConsumerConnection")
    subscriptions = field.as_object(members.get("subscriptionTable"), "subscriptionTable")
    connections = field.as_list(members.get("connectionSet"), "connectionSet")
    return ConsumerConnection(
        connections=tuple(channel_of(value, "connectionSet", "clientAddr") for value in connections),
        subscriptions=tuple(_subscription(value, f"subscriptionTable.{key}") for key, value in subscriptions.items()),
        consume_type=field.optional_text(members, "consumeType", "ConsumerConnection"),
        message_model=field.optional_text(members, "messageModel", "ConsumerConnection"),
        consume_from_where=field.optional_text(members, "consumeFromWhere", "ConsumerConnection"),
    )


def decode_consumer_ids(body: bytes) -> ConsumerIds:
    """Read 38. Source: GetConsumerListByGroupResponseBody.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "GetConsumerListByGroupResponseBody")
    return ConsumerIds(field.names(members.get("consumerIdList"), "consumerIdList"))


def decode_consumer_running_info(body: bytes) -> ConsumerRunningInfo:
    """Read 307. Source: ConsumerRunningInfo.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "ConsumerRunningInfo")
    subscriptions = field.as_list(members.get("subscriptionSet"), "subscriptionSet")
    statuses = field.as_object(members.get("statusTable"), "statusTable")
    pulled = {queue_of_key(key): _held(value) for key, value in _table(members, "mqTable")}
    popped = {queue_of_key(key): _held(value) for key, value in _table(members, "mqPopTable")}
    return ConsumerRunningInfo(
        properties=field.texts(members.get("properties"), "properties"),
        subscriptions=tuple(_subscription(value, "subscriptionSet") for value in subscriptions),
        queues=tuple(pulled),
        pop_queues=tuple(popped),
        statuses={
            field.name(topic, "a key of statusTable"): _status(value, f"statusTable.{topic}")
            for topic, value in statuses.items()
        },
        held={**popped, **pulled},
    )


def _table(members: dict[str, Any], name: str) -> ItemsView[str, Any]:
    return field.as_object(members.get(name), name).items()


def _held(value: Any) -> HeldQueue:
    """A value of ``mqTable`` or ``mqPopTable``; what is missing or of another type is unknown.

    Messages that a listener in order is busy with are counted apart from those that wait for it.
    Source: ProcessQueueInfo.java, PopProcessQueueInfo.java, rocketmq-all-5.3.3; they write "droped".
    """
    members = value if isinstance(value, dict) else {}
    counts = [_whole(members.get("cachedMsgCount")), _whole(members.get("transactionMsgCount"))]
    known = [count for count in counts if count is not None]
    return HeldQueue(
        dropped=_truth(members.get("droped")),
        locked=_truth(members.get("locked")),
        cached_msgs=sum(known) if known else None,
        last_locked_ms=_whole(members.get("lastLockTimestamp")),
        last_pulled_ms=_whole(members.get("lastPullTimestamp", members.get("lastPopTimestamp"))),
        last_consumed_ms=_whole(members.get("lastConsumeTimestamp")),
    )


def _whole(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value <= MAX_HELD else None


def _truth(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def channel_of(value: Any, place: str, address: str) -> ConsumerChannel:
    """A client's channel to a broker; ``address`` is the member that has the client's."""
    members = field.as_object(value, place)
    return ConsumerChannel(
        client_id=field.named(members, "clientId", place),
        client_addr=field.optional_text(members, address, place),
        language=field.optional_text(members, "language", place),
        version=_version(members, place),
    )


def _version(members: dict[str, Any], place: str) -> int | None:
    """RocketMQ's number of a version, a Java int; None if there is none."""
    if members.get("version") is None:
        return None
    return field.integer(members, "version", place, least=-(2**31), most=2**31 - 1)


def _subscription(value: Any, place: str) -> SubscriptionData:
    members = field.as_object(value, place)
    return SubscriptionData(
        topic=field.named(members, "topic", place),
        expression_type=field.optional_text(members, "expressionType", place),
        sub_string=field.optional_text(members, "subString", place),
    )


def _status(value: Any, place: str) -> ReportedConsumeStatus:
    members = field.as_object(value, place)
    return ReportedConsumeStatus(
        consume_rt_ms=field.number(members, "consumeRT", place),
        consume_ok_msgs_per_s=field.number(members, "consumeOKTPS", place),
        consume_failed_msgs_per_s=field.number(members, "consumeFailedTPS", place),
    )
