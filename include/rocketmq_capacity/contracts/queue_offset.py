"""Dataset ``queue_offset``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, BigCount, Dataset, Facts, QueueId


class Written(Facts, frozen=True, kw_only=True):
    """What rules use of how far a queue is written, and how fast."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[QueueId, Meta(description="id of the queue on that broker")]
    min_offset: Annotated[int | None, Meta(description="offset of the oldest message kept")] = None
    max_offset: Annotated[BigCount | None, Meta(description="offset that the next message will be written at")] = None
    put_msgs_per_s: Annotated[Amount | None, Meta(description="messages a second written to the queue")] = None

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

    topic: Annotated[str, Meta(description="name of the topic")]
