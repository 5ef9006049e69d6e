"""The requests: for each its code, its extFields and how to read the answer.

Every one reads; a name server is asked 105, 106 and 206, a broker all others. A snapshot does not ask 52 and 3009.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Generic, TypeVar

from rocketmq_capacity.protocol.body import broker, cluster, consumers, offsets
from rocketmq_capacity.protocol.body.access import AccessEntry, decode_acl
from rocketmq_capacity.protocol.body.producers import decode_producers
from rocketmq_capacity.protocol.codes import RequestCode, ResponseCode
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.compression import inflate
from rocketmq_capacity.protocol.errors import BodyError, ResponseError, kept
from rocketmq_capacity.protocol.limits import MAX_BODY_BYTES

T = TypeVar("T")
Answer = TypeVar("Answer", covariant=True)

RELAY_LIMIT_S: Final = 10.0
"""How long a broker waits for a client that it passes 307 on to (Broker2Client.callClient, rocketmq-all-5.3.3)."""


@dataclass(frozen=True, slots=True)
class Request(Generic[Answer]):
    """One question and how to read its answer.

    Args:
        code: what is asked.
        decode: from the body to its meaning; whatever it raises is the body's fault.
        ext_fields: the arguments, all of them texts.
        relay_s: seconds that the peer may spend on passing the question on.
    """

    code: RequestCode
    decode: Callable[[bytes], Answer]
    ext_fields: Mapping[str, str] = field(default_factory=dict)
    relay_s: float = 0.0

    def answer(self, response: Command, *, max_body_bytes: int = MAX_BODY_BYTES) -> Answer:
        """The meaning of the response.

        Errors: `ResponseError` where the peer refused, `BodyError` where the body is not what it should be.
        """
        if response.code != ResponseCode.SUCCESS:
            raise ResponseError(self.code, response.code, response.remark)
        try:
            return self.decode(inflate(response.body, max_body_bytes=max_body_bytes))
        except Exception as error:
            # A peer's bytes must never end the snapshot, whatever they make a decoder raise.
            words = str(error) if isinstance(error, BodyError) else f"{type(error).__name__}: {error}"
        # Raised here, it does not keep the decoder's error, whose frames hold all that was read of the body.
        raise BodyError(f"the body of {len(response.body)} bytes cannot be read: {kept(words)}")


def cluster_info() -> Request[cluster.ClusterInfo]:
    """106: brokers and clusters."""
    return Request(RequestCode.GET_BROKER_CLUSTER_INFO, cluster.decode_cluster_info)


def topic_list() -> Request[cluster.TopicList]:
    """206: the names of all topics."""
    return Request(RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER, cluster.decode_topic_list)


def topic_route(topic: str) -> Request[cluster.TopicRoute]:
    """105: where a topic's queues are; code 17 where it has none."""
    fields = {"topic": topic, "acceptStandardJsonOnly": "true"}
    return Request(RequestCode.GET_ROUTEINFO_BY_TOPIC, cluster.decode_topic_route, fields)


def topic_configs() -> Request[tuple[broker.TopicConfig, ...]]:
    """21: the broker's topics."""
    return Request(RequestCode.GET_ALL_TOPIC_CONFIG, broker.decode_topic_configs)


def subscription_groups() -> Request[tuple[broker.SubscriptionGroupConfig, ...]]:
    """201: the broker's consumer groups."""
    return Request(RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG, broker.decode_subscription_groups)


def with_change(question: Request[T]) -> Request[tuple[T, int | None]]:
    """21 or 201 with the time of the table's last change, in ms since 1970."""
    return Request(question.code, lambda body: (question.decode(body), broker.decode_changed_ms(body)))


def broker_runtime() -> Request[dict[str, str]]:
    """28: the broker's figures; code 1, NoSuchElementException, in the first seconds of its life."""
    return Request(RequestCode.GET_BROKER_RUNTIME_INFO, broker.decode_broker_runtime)


def broker_config() -> Request[dict[str, str]]:
    """26: the broker's settings, secrets among them."""
    return Request(RequestCode.GET_BROKER_CONFIG, broker.decode_broker_config)


def message_request_modes() -> Request[tuple[broker.MessageRequestMode, ...]]:
    """402: which group reads which topic by POP."""
    return Request(RequestCode.GET_ALL_MESSAGE_REQUEST_MODE, broker.decode_message_request_modes)


def producers() -> Request[dict[str, tuple[consumers.ConsumerChannel, ...]]]:
    """328: the producers that have a channel to this broker, by group."""
    return Request(RequestCode.GET_ALL_PRODUCER_INFO, decode_producers)


def topic_stats(topic: str) -> Request[dict[offsets.MessageQueue, offsets.WrittenOffset]]:
    """202: how far the topic's queues on this broker are written; code 17 where it has none."""
    return Request(RequestCode.GET_TOPIC_STATS_INFO, offsets.decode_topic_stats, {"topic": topic})


def consume_stats(consumer_group: str) -> Request[dict[offsets.MessageQueue, offsets.GroupProgress]]:
    """208: how far the group has read this broker's queues; empty for an unknown group."""
    fields = {"consumerGroup": consumer_group, "topic": ""}
    return Request(RequestCode.GET_CONSUME_STATS, offsets.decode_consume_stats, fields)


def committed_offsets() -> Request[offsets.CommittedOffsets]:
    """43: all offsets that groups have committed to this broker."""
    return Request(RequestCode.GET_ALL_CONSUMER_OFFSET, offsets.decode_committed_offsets)


def consumer_connection(consumer_group: str) -> Request[consumers.ConsumerConnection]:
    """203: the group's channels to this broker; code 206 where it has none."""
    fields = {"consumerGroup": consumer_group}
    return Request(RequestCode.GET_CONSUMER_CONNECTION_LIST, consumers.decode_consumer_connection, fields)


def consumer_ids(consumer_group: str) -> Request[consumers.ConsumerIds]:
    """38: the client ids that rebalancing sees on this broker; code 1 if there is none."""
    fields = {"consumerGroup": consumer_group}
    return Request(RequestCode.GET_CONSUMER_LIST_BY_GROUP, consumers.decode_consumer_ids, fields)


def consumer_running_info(consumer_group: str, client_id: str) -> Request[consumers.ConsumerRunningInfo]:
    """307: what a client says of itself, passed on by the broker; of two clients with one id, one answers."""
    fields = {"consumerGroup": consumer_group, "clientId": client_id, "jstackEnable": "false"}
    decode = consumers.decode_consumer_running_info
    return Request(RequestCode.GET_CONSUMER_RUNNING_INFO, decode, fields, relay_s=RELAY_LIMIT_S)


def acl_of(access_key: str) -> Request[tuple[AccessEntry, ...]]:
    """3009: what a user of access control 2.0 may do; it needs the right to read the cluster."""
    return Request(RequestCode.AUTH_GET_ACL, decode_acl, {"subject": f"User:{access_key}"})


def acl_version() -> Request[None]:
    """52: the version of the file of access control 1.0, in the header; only administrators may ask, from 5.3.0 on."""
    return Request(RequestCode.GET_BROKER_CLUSTER_ACL_INFO, lambda _: None)
