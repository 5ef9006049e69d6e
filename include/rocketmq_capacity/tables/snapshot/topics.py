"""What the snapshot stores of topics: their queues, what is written to these, and by whom."""

from typing import Annotated, ClassVar

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.tables.dataset import Amount, BigCount, Count, Dataset, Facts, QueueId, one_of
from rocketmq_capacity.vocabulary import MASTERLESS, PERM_READ, PERM_WRITE, is_readable, is_write_only


class TopicPart(Facts, frozen=True, kw_only=True):
    """What rules use of a topic itself."""

    topic: Annotated[str, means("name of the topic")]
    is_declared: Annotated[bool, means("the cluster has it; false: a group subscribes to it, and no broker has it")] = (
        True
    )
    message_type: Annotated[
        str | None,
        means("NORMAL, FIFO, DELAY, TRANSACTION, MIXED, UNSPECIFIED, PRIORITY (from 5.4) or LITE (from 5.5)"),
    ] = None
    is_ordered: Annotated[bool | None, means("the topic's own order flag")] = None
    kind: Annotated[
        str,
        one_of("BUSINESS", "RETRY", "DLQ", "LMQ", "SYSTEM", "EXCLUDED"),
        means(
            "BUSINESS, RETRY (%RETRY%), DLQ (%DLQ%), LMQ (%LMQ%), SYSTEM (RocketMQ's own) or EXCLUDED (by the policy)"
        ),
    ]


class Topic(TopicPart, Dataset, frozen=True, kw_only=True):
    """Every topic that is declared or that a group subscribes to.

    Grain: one row a topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic",)


class Place(Facts, frozen=True, kw_only=True):
    """What rules use of a topic's queues on one broker."""

    broker_name: Annotated[str, means("name of the broker")]
    read_queue_nums: Annotated[Count | None, means("queues that consumers see, ids from 0")] = None
    write_queue_nums: Annotated[Count | None, means("queues that producers see, ids from 0")] = None
    perm: Annotated[Count | None, means("4 read + 2 write, the topic's combined with the broker's")] = None
    room: Annotated[str | None, means("machine room of the broker by the policy; null if no rule matches")] = None
    broker_state: Annotated[
        str,
        one_of("MASTER", "MASTERLESS", "ABSENT"),
        means("MASTER, MASTERLESS (slaves only) or ABSENT (not in the inventory)"),
    ]
    has_answered: Annotated[bool, means("the broker is present and answered every request")]

    @property
    def readable(self) -> int:
        """How many queues consumers see."""
        return (self.read_queue_nums or 0) if is_readable(self.perm, self.read_queue_nums) else 0

    @property
    def may_be_readable(self) -> bool:
        """Whether consumers see queues, as far as it is known."""
        return self.read_queue_nums != 0 and (self.perm is None or bool(self.perm & PERM_READ))

    @property
    def is_write_only(self) -> bool:
        """Whether producers see its queues, and consumers none, by its perm."""
        return is_write_only(self.perm)

    @property
    def writable(self) -> int | None:
        """How many queues producers see; None if that is unknown."""
        if self.broker_state == MASTERLESS or (self.perm is not None and not self.perm & PERM_WRITE):
            return 0
        return None if self.perm is None else self.write_queue_nums


class TopicQueue(Place, Dataset, frozen=True, kw_only=True):
    """Queues of a topic on a broker.

    Grain: one row a topic and broker.
    Units: queues, counted; ``perm`` is a bit set.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "broker_name")

    topic: Annotated[str, means("name of the topic")]
    kind: Annotated[
        str, one_of("BUSINESS", "RETRY", "DLQ", "LMQ", "SYSTEM", "EXCLUDED"), means("the topic's kind, as in `topic`")
    ]


class Written(Facts, frozen=True, kw_only=True):
    """What rules use of how far a queue is written, and how fast."""

    broker_name: Annotated[str, means("name of the broker")]
    queue_id: Annotated[QueueId, means("id of the queue on that broker")]
    min_offset: Annotated[int | None, means("offset of the oldest message kept")] = None
    max_offset: Annotated[BigCount | None, means("offset that the next message will be written at")] = None
    put_msgs_per_s: Annotated[Amount | None, means("messages a second written to the queue")] = None

    def unread_from(self, offset: int) -> int | None:
        """Messages from an offset on; None if the queue's offsets are unknown, or if it ends before this offset."""
        if self.min_offset is None or self.max_offset is None or offset > self.max_offset:
            return None
        return self.max_offset - max(offset, self.min_offset)


class QueueOffset(Written, Dataset, frozen=True, kw_only=True):
    """The offsets of queues at the moment of the snapshot.

    Grain: one row a queue.
    Units: offsets in messages, the rate in messages a second over the samples of the snapshot.
    """

    KEY: ClassVar[tuple[str, ...]] = ("topic", "broker_name", "queue_id")

    topic: Annotated[str, means("name of the topic")]


class Producer(Dataset, frozen=True, kw_only=True):
    """The running producers, as brokers know them. The topics that they send to are unknown.

    Grain: one row a running producer.
    Key: none; a group may have a client id several times.
    """

    producer_group: Annotated[str, means("name of the producer group")]
    client_id: Annotated[str, means("id of the client; equal ids are several producers")]
    client_addr: Annotated[str | None, means("host:port that a broker sees")] = None
    language: Annotated[str | None, means("of the client library")] = None
    version: Annotated[str | None, means("of the client library, such as V5_3_3")] = None
    seen_on: Annotated[tuple[str, ...], means("brokers that know it; empty if unknown")] = ()
