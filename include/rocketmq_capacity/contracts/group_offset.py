"""Dataset ``group_offset``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import BigCount, Dataset, Facts, QueueId


class LagFacts(Facts, frozen=True, kw_only=True):
    """What rules use of a group's offset on a queue."""

    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[QueueId, Meta(description="id of the queue on that broker")]
    consumer_offset: Annotated[
        BigCount | None, Meta(description="offset that the group will read next, as committed")
    ] = None
    lag: Annotated[
        BigCount | None,
        Meta(
            description="messages not read: broker_offset - consumer_offset; null if one of them is unknown, or"
            " consumer_offset is beyond broker_offset"
        ),
    ] = None
    behind_s: Annotated[
        float | None, Meta(description="seconds from last_timestamp to the snapshot; null if that is unknown")
    ] = None


class GroupOffset(LagFacts, Dataset, frozen=True, kw_only=True):
    """A group's offset on a queue at the moment of the snapshot.

    Grain: one row a group and queue.
    Units: offsets and lag in messages, seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
    kind: Annotated[str, Meta(description="the topic's kind, as in `topic`")]
    broker_offset: Annotated[BigCount | None, Meta(description="offset that the next message will be written at")] = (
        None
    )
    last_timestamp: Annotated[str | None, Meta(description="store time of the last message read, UTC ISO-8601")] = None
