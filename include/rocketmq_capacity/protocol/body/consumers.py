"""Who consumes: connections of a group (203), its client ids (38) and what one client says of itself (307)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.body.offsets import MessageQueue, queue_of_key


@dataclass(frozen=True, slots=True)
class Connection:
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

    connections: tuple[Connection, ...]
    subscriptions: tuple[SubscriptionData, ...]
    consume_type: str | None
    message_model: str | None


@dataclass(frozen=True, slots=True)
class ConsumerIds:
    """The answer to 38: one id a channel, so an id that stands twice is two consumers."""

    client_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ConsumeStatus:
    """How one client consumes one topic over the last minute: ms a listener call, messages a second."""

    consume_rt_ms: float | None
    consume_ok_msgs_per_s: float | None
    consume_failed_msgs_per_s: float | None


@dataclass(frozen=True, slots=True)
class ConsumerRunningInfo:
    """The answer to 307: the client's settings, what it reads and which queues it holds (``pop_queues`` by POP)."""

    properties: Mapping[str, str]
    subscriptions: tuple[SubscriptionData, ...]
    queues: tuple[MessageQueue, ...]
    pop_queues: tuple[MessageQueue, ...]
    statuses: Mapping[str, ConsumeStatus]


def decode_consumer_connection(body: bytes) -> ConsumerConnection:
    """Read 203. Source: ConsumerConnection.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "ConsumerConnection")
    subscriptions = field.as_object(members.get("subscriptionTable"), "subscriptionTable")
    connections = field.as_list(members.get("connectionSet"), "connectionSet")
    return ConsumerConnection(
        connections=tuple(_connection(value) for value in connections),
        subscriptions=tuple(_subscription(value, f"subscriptionTable.{key}") for key, value in subscriptions.items()),
        consume_type=field.optional_text(members, "consumeType", "ConsumerConnection"),
        message_model=field.optional_text(members, "messageModel", "ConsumerConnection"),
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
    return ConsumerRunningInfo(
        properties=field.texts(members.get("properties"), "properties"),
        subscriptions=tuple(_subscription(value, "subscriptionSet") for value in subscriptions),
        queues=tuple(queue_of_key(key) for key in field.as_object(members.get("mqTable"), "mqTable")),
        pop_queues=tuple(queue_of_key(key) for key in field.as_object(members.get("mqPopTable"), "mqPopTable")),
        statuses={topic: _status(value, f"statusTable.{topic}") for topic, value in statuses.items()},
    )


def _connection(value: Any) -> Connection:
    place = "connectionSet"
    members = field.as_object(value, place)
    return Connection(
        client_id=field.text(members, "clientId", place),
        client_addr=field.optional_text(members, "clientAddr", place),
        language=field.optional_text(members, "language", place),
        version=None if members.get("version") is None else field.integer(members, "version", place),
    )


def _subscription(value: Any, place: str) -> SubscriptionData:
    members = field.as_object(value, place)
    return SubscriptionData(
        topic=field.text(members, "topic", place),
        expression_type=field.optional_text(members, "expressionType", place),
        sub_string=field.optional_text(members, "subString", place),
    )


def _status(value: Any, place: str) -> ConsumeStatus:
    members = field.as_object(value, place)
    return ConsumeStatus(
        consume_rt_ms=field.number(members, "consumeRT", place),
        consume_ok_msgs_per_s=field.number(members, "consumeOKTPS", place),
        consume_failed_msgs_per_s=field.number(members, "consumeFailedTPS", place),
    )
