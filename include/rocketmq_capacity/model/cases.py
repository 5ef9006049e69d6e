"""Changes that are tried before they are recommended, and their effects on each group."""

from msgspec import Struct

from rocketmq_capacity.tables.dataset import Metrics


class QueueCounts(Struct, frozen=True, kw_only=True):
    """Numbers of queues that a topic would have on a broker, which may or may not have the topic already."""

    broker_name: str
    read_queue_nums: int
    write_queue_nums: int

    @classmethod
    def both(cls, broker_name: str, number: int) -> "QueueCounts":
        """As many read as write queues."""
        return cls(broker_name=broker_name, read_queue_nums=number, write_queue_nums=number)


class QueueChange(Struct, frozen=True, kw_only=True):
    """One change of a topic's queues.

    Attributes:
        case_id: its id, unique in the plan; equal inputs give equal ids.
        topic: what it changes.
        counts: the new numbers by broker; the topic's other brokers stay as they are.
    """

    case_id: str
    topic: str
    counts: tuple[QueueCounts, ...]


class CaseSide(Struct, frozen=True, kw_only=True):
    """What a group owns before or after a change, in a few figures.

    Attributes:
        idle: client ids without a queue.
        pulls_none: client ids without a queue of a pulled topic, as IDLE_CONSUMERS counts them if only some topics are
            popped; else the same as idle.
        orphan_queues: readable business queues that nobody reads.
        doubly_owned_queues: queues that more than one consumer reads.
        count: METRICS by number of queues.
        traffic: METRICS by messages a second.
        most_msgs_per_s: of the client that gets most of them; in a case producers spread them evenly over the topic's
            queues. None if unknown, or if clients share queues.
    """

    idle: int
    pulls_none: int
    orphan_queues: int
    doubly_owned_queues: int
    count: Metrics | None = None
    traffic: Metrics | None = None
    most_msgs_per_s: float | None = None


class EffectOfCase(Struct, frozen=True, kw_only=True):
    """The effect of a case on a group; a side is None if what the clients run cannot be computed."""

    case_id: str
    topic: str
    consumer_group: str
    before: CaseSide | None = None
    after: CaseSide | None = None
    is_worse: bool
