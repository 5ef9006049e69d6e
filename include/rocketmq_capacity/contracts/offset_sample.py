"""Dataset ``offset_sample``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Dataset, Facts, QueueId


class Samples(Facts, frozen=True, kw_only=True):
    """What rules use of a group's offset on a queue over time."""

    topic: Annotated[str, Meta(description="name of the topic")]
    broker_name: Annotated[str, Meta(description="name of the broker")]
    queue_id: Annotated[QueueId, Meta(description="id of the queue on that broker")]
    at_s: Annotated[tuple[float, ...], Meta(description="moments of the samples, seconds since 1970-01-01 UTC")]
    broker_offset: Annotated[
        tuple[int | None, ...],
        Meta(description="offset that the next message would be written at, by moment; null if unknown"),
    ]
    consumer_offset: Annotated[
        tuple[int | None, ...],
        Meta(description="offset that the group would read next, as committed, by moment; null if unknown"),
    ]


class OffsetSample(Samples, Dataset, frozen=True, kw_only=True):
    """A group's offset on a queue over time: the history's values, then the snapshot's samples and its final values.

    Grain: one row a group and queue; the three lists have one item a moment, oldest first.
    Units: offsets in messages, ``at_s`` in seconds.
    """

    KEY: ClassVar[tuple[str, ...]] = ("consumer_group", "topic", "broker_name", "queue_id")

    consumer_group: Annotated[str, Meta(description="name of the consumer group")]
