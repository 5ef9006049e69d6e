"""How far queues are written (202) and read (208, 43)."""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from rocketmq_capacity.errors import shown
from rocketmq_capacity.protocol import tolerant_json
from rocketmq_capacity.protocol.body import field
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_QUEUES

_PLAIN_KEY: Final = re.compile(r'\{"brokerName":"([^"\\]*)","queueId":(-?[0-9]{1,10}),"topic":"([^"\\]*)"\}')
_TOPIC_GROUP_SEPARATOR: Final = "@"
_TOPIC_AND_GROUP: Final = 2
_KEYS_REMEMBERED: Final = 2**16
EVERY_QUEUE: Final = -1
"""The queue id of a POP client that is given all queues of a broker."""


class MessageQueue(NamedTuple):
    """A queue; ``queue_id`` is -1 where a POP client is given all queues of the broker."""

    topic: str
    broker_name: str
    queue_id: int


class WrittenOffset(NamedTuple):
    """How far a queue is written; offsets are counts of messages."""

    min_offset: int
    max_offset: int


class GroupProgress(NamedTuple):
    """How far a group has read a queue; the time is that of the last message read, 0 where it is not known."""

    broker_offset: int
    consumer_offset: int
    last_timestamp_ms: int


@dataclass(frozen=True, slots=True)
class CommittedOffsets:
    """The answer to 43: all offsets that groups have committed, by (topic, group) and queue id."""

    offsets: Mapping[tuple[str, str], Mapping[int, int]]


@functools.lru_cache(maxsize=_KEYS_REMEMBERED)
def queue_of_key(key: str) -> MessageQueue:
    """The queue that an object key names: every group that reads a queue names it again, hence the memory."""
    if plain := _PLAIN_KEY.fullmatch(key):
        queue_id = field.whole(int(plain[2]), key, least=EVERY_QUEUE, most=MAX_QUEUES)
        return MessageQueue(field.name(plain[3], key), field.name(plain[1], key), queue_id)
    return message_queue(tolerant_json.parse(key), "a key")


def _one_queue(key: str) -> MessageQueue:
    """The queue that a key of an offset table names; such a table has no entry for all queues of a broker."""
    queue = queue_of_key(key)
    if queue.queue_id == EVERY_QUEUE:
        raise BodyError(f"{shown(key)} names no queue; expected a queueId from 0")
    return queue


def message_queue(value: Any, place: str) -> MessageQueue:
    """A queue as a value."""
    members = field.as_object(value, place)
    return MessageQueue(
        topic=field.named(members, "topic", place),
        broker_name=field.named(members, "brokerName", place),
        queue_id=field.integer(members, "queueId", place, least=EVERY_QUEUE, most=MAX_QUEUES),
    )


def decode_topic_stats(body: bytes) -> dict[MessageQueue, WrittenOffset]:
    """Read 202. Source: TopicStatsTable.java, rocketmq-all-5.3.3."""
    return {
        _one_queue(key): WrittenOffset(
            min_offset=field.integer(entry, "minOffset", key),
            max_offset=field.integer(entry, "maxOffset", key),
        )
        for key, entry in _offset_table(body)
    }


def decode_consume_stats(body: bytes) -> dict[MessageQueue, GroupProgress]:
    """Read 208: an offset that was never committed comes as 0. Source: ConsumeStats.java, rocketmq-all-5.3.3."""
    return {
        _one_queue(key): GroupProgress(
            broker_offset=field.integer(entry, "brokerOffset", key),
            consumer_offset=field.integer(entry, "consumerOffset", key),
            last_timestamp_ms=field.integer(entry, "lastTimestamp", key, default=0),
        )
        for key, entry in _offset_table(body)
    }


def decode_committed_offsets(body: bytes) -> CommittedOffsets:
    """Read 43. Source: ConsumerOffsetManager.java (encode), rocketmq-all-5.3.3."""
    offsets: dict[tuple[str, str], dict[int, int]] = {}
    for key, queues in _offset_table(body):
        names = key.split(_TOPIC_GROUP_SEPARATOR)
        if len(names) != _TOPIC_AND_GROUP:
            continue  # as the broker itself does; `topic@group@broadcast` is kept for broadcasting clients
        topic, group = names
        offsets[topic, group] = {
            field.numbered(queue_id, key, most=MAX_QUEUES): field.integer(queues, queue_id, key) for queue_id in queues
        }
    return CommittedOffsets(offsets)


def _offset_table(body: bytes) -> list[tuple[str, dict[str, Any]]]:
    """Keys and objects of the member ``offsetTable``."""
    members = field.as_object(tolerant_json.decode(body), "the body")
    table = field.as_object(members.get("offsetTable"), "offsetTable")
    return [(key, field.as_object(value, key)) for key, value in table.items()]
