"""Stranded messages: unread messages of each group in queues that more read queues would show to consumers.

If a group without an offset gets to see such a queue, the broker gives it offset 0, as long as the queue begins at 0
and its first message is in memory. Otherwise its clients begin where consumeFromWhere says, by default at the end. An
unknown consumeFromWhere is judged as the default.
Source: ConsumerManageProcessor.queryConsumerOffset, RebalancePushImpl.computePullFromWhere, rocketmq-all-5.3.3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from rocketmq_capacity.model.facts import Place, Reader, Written
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.vocabulary import FIRST_OFFSET, SYSTEM, is_broadcasting


@dataclass(frozen=True, slots=True)
class StrandedMessages:
    """The messages of a topic's hidden queues that a group has not read.

    Attributes:
        reader: the group.
        now: how many messages; None if unknown for one of the queues.
        after: the same with as many read as write queues: the messages in queues beyond the write queues.
        lacks_offset: whether it has no known offset on one of the queues with messages that will be readable.
    """

    reader: Reader
    now: int | None
    after: int | None
    lacks_offset: bool

    @property
    def may_skip(self) -> bool:
        """Whether it may begin at the end of a queue with messages when it sees the queues."""
        return self.lacks_offset and self.reader.consume_from_where != FIRST_OFFSET

    @property
    def is_broadcasting(self) -> bool:
        """Whether its clients store the offsets themselves, so that brokers do not know them."""
        return is_broadcasting(self.reader.message_model)


def stranded_messages(topic: AdvisedTopic) -> list[StrandedMessages]:
    """The stranded messages of each group that reads the topic, by name; none if more read queues show nothing.

    A group with clients that does not subscribe to the topic does not read it, even if it has old offsets.
    """
    hiding = [place.place for place in topic.places if is_short(place.place)]
    readers = [one for one in topic.readers if one.kind != SYSTEM and (one.is_subscribed or one.connections == 0)]
    if not hiding:
        return []
    return [_of_group(topic, reader, hiding) for reader in sorted(readers, key=lambda one: one.consumer_group)]


def _of_group(topic: AdvisedTopic, reader: Reader, hiding: list[Place]) -> StrandedMessages:
    offsets = {
        (one.broker_name, one.queue_id): one.consumer_offset
        for one in topic.stranded
        if one.consumer_group == reader.consumer_group
    }
    is_told = reader.has_offsets and not is_broadcasting(reader.message_model)
    queues = [queue for place in hiding for queue in _hidden(topic, place)]
    left = [_left(queue, offsets) if is_told else None for queue in queues]
    beyond = [number for queue, number in zip(queues, left, strict=True) if not queue.is_written]
    lacks_offset = any(
        number != 0 and (not is_told or offsets.get(queue.name) is None)
        for queue, number in zip(queues, left, strict=True)
        if queue.is_written
    )
    return StrandedMessages(reader, sum_of(left), sum_of(beyond), lacks_offset)


@dataclass(frozen=True, slots=True)
class _Hidden:
    """A queue that consumers cannot see."""

    name: tuple[str, int]
    written: Written | None
    """None if it is unknown how far it is written."""
    is_written: bool
    """Its id is below write_queue_nums."""


def is_short(place: Place) -> bool:
    """Whether consumers see fewer queues than producers for want of read queues, and not by the permission."""
    read, write = place.read_queue_nums, place.write_queue_nums or 0
    return read is not None and read < write and not place.is_write_only


def _hidden(topic: AdvisedTopic, place: Place) -> Iterator[_Hidden]:
    """The queues on a broker with ids from read_queue_nums on; those beyond write_queue_nums only with messages."""
    read, write = place.read_queue_nums or 0, place.write_queue_nums or 0
    written_of = {one.queue_id: one for one in topic.facts.written if one.broker_name == place.broker_name}
    ids = [*range(read, write), *sorted(one for one in written_of if one >= max(read, write))]
    for queue_id in ids:
        written = written_of.get(queue_id) if place.has_answered else None
        yield _Hidden((place.broker_name, queue_id), written, queue_id < write)


def _left(queue: _Hidden, offsets: Mapping[tuple[str, int], int | None]) -> int | None:
    """Messages from the group's offset on, or from the queue's beginning if it has none; None if unknown."""
    offset = offsets.get(queue.name, 0)
    return None if queue.written is None or offset is None else queue.written.unread_from(offset)
