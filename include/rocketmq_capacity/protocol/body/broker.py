"""What a broker says of itself: topics (21), groups (201), runtime (28), configuration (26), request modes (402)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.java_properties import parse_properties
from rocketmq_capacity.protocol.limits import MAX_WHOLE


@dataclass(frozen=True, slots=True)
class TopicConfig:
    """A topic as one broker has it; ``perm`` is the topic's own. A static one has logical queues for consumers."""

    topic: str
    read_queue_nums: int
    write_queue_nums: int
    perm: int
    order: bool
    attributes: Mapping[str, str]
    is_static: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionGroupConfig:
    """A consumer group as one broker has it."""

    consumer_group: str
    consume_enable: bool
    consume_message_orderly: bool
    consume_broadcast_enable: bool = True
    retry_queue_nums: int = 1
    retry_max_times: int = 16


@dataclass(frozen=True, slots=True)
class MessageRequestMode:
    """How a group asks for a topic's messages, PULL or POP, where somebody has set it."""

    topic: str
    consumer_group: str
    mode: str
    pop_share_queue_num: int


def decode_topic_configs(body: bytes) -> tuple[TopicConfig, ...]:
    """Read 21. Source: TopicConfigAndMappingSerializeWrapper.java and TopicConfig.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "TopicConfigSerializeWrapper")
    static = field.as_object(members.get("topicQueueMappingDetailMap"), "topicQueueMappingDetailMap")
    configs: list[TopicConfig] = []
    for topic, value in field.as_object(members.get("topicConfigTable"), "topicConfigTable").items():
        place = f"topicConfigTable.{topic}"
        config = field.as_object(value, place)
        configs.append(
            TopicConfig(
                topic=field.name(topic, "a key of topicConfigTable"),
                read_queue_nums=field.queues(config, "readQueueNums", place),
                write_queue_nums=field.queues(config, "writeQueueNums", place),
                perm=field.integer(config, "perm", place),
                order=field.flag(config, "order", place, default=False),
                attributes=field.texts(config.get("attributes"), f"{place}.attributes"),
                is_static=topic in static,
            )
        )
    return tuple(configs)


def decode_subscription_groups(body: bytes) -> tuple[SubscriptionGroupConfig, ...]:
    """Read 201. Source: SubscriptionGroupManager.java (encode), rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "SubscriptionGroupManager")
    configs: list[SubscriptionGroupConfig] = []
    for group, value in field.as_object(members.get("subscriptionGroupTable"), "subscriptionGroupTable").items():
        place = f"subscriptionGroupTable.{group}"
        config = field.as_object(value, place)
        configs.append(
            SubscriptionGroupConfig(
                consumer_group=field.name(group, "a key of subscriptionGroupTable"),
                consume_enable=field.flag(config, "consumeEnable", place, default=True),
                consume_message_orderly=field.flag(config, "consumeMessageOrderly", place, default=False),
                consume_broadcast_enable=field.flag(config, "consumeBroadcastEnable", place, default=True),
                retry_queue_nums=_java_int(config, "retryQueueNums", place, default=1),
                retry_max_times=_java_int(config, "retryMaxTimes", place, default=16),
            )
        )
    return tuple(configs)


def decode_changed_ms(body: bytes) -> int | None:
    """Read of 21 or 201 when the broker's table was last changed, in ms since 1970; None where it does not say so.

    Source: DataVersion.java, rocketmq-all-5.3.3.
    """
    version = field.as_object(tolerant_json.decode(body), "a table").get("dataVersion")
    changed = version.get("timestamp") if isinstance(version, dict) else None
    return changed if type(changed) is int and 0 < changed <= MAX_WHOLE else None


def decode_broker_runtime(body: bytes) -> dict[str, str]:
    """Read 28: names and values, all as text. Source: KVTable.java, rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "KVTable")
    return field.texts(members.get("table"), "table")


def decode_broker_config(body: bytes) -> dict[str, str]:
    """Read 26: names and values, all as text, secrets among them. Source: AdminBrokerProcessor.getBrokerConfig."""
    try:
        return field.texts(parse_properties(body.decode()), "the properties")
    except UnicodeDecodeError as error:
        raise BodyError(f"byte {error.start} of {len(body)} is not UTF-8") from None


def decode_message_request_modes(body: bytes) -> tuple[MessageRequestMode, ...]:
    """Read 402. Source: MessageRequestModeManager.java (encode), rocketmq-all-5.3.3."""
    members = field.as_object(tolerant_json.decode(body), "MessageRequestModeManager")
    modes: list[MessageRequestMode] = []
    for topic, groups in field.as_object(members.get("messageRequestModeMap"), "messageRequestModeMap").items():
        for group, value in field.as_object(groups, f"messageRequestModeMap.{topic}").items():
            place = f"messageRequestModeMap.{topic}.{group}"
            mode = field.as_object(value, place)
            modes.append(
                MessageRequestMode(
                    topic=field.name(topic, "a key of messageRequestModeMap"),
                    consumer_group=field.name(group, f"a key of messageRequestModeMap.{topic}"),
                    mode=field.text(mode, "mode", place),
                    pop_share_queue_num=_java_int(mode, "popShareQueueNum", place, default=0),
                )
            )
    return tuple(modes)


def _java_int(members: dict[str, Any], member: str, place: str, default: int) -> int:
    return field.integer(members, member, place, default=default, least=-(2**31), most=2**31 - 1)
