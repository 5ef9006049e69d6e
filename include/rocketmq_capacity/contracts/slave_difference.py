"""Dataset ``slave_difference``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import BigCount, Count, Dataset


class SlaveDifference(Dataset, frozen=True, kw_only=True):
    """Topics and groups that a slave lacks, and topics that differ from its master's.

    Grain: one row a slave and topic or consumer group.
    Units: queues, counted; seconds. Counts of a slave are null if it lacks the topic.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name", "broker_id", "topic", "consumer_group")

    broker_name: Annotated[str, Meta(description="name of the slave and its master")]
    broker_id: Annotated[BigCount, Meta(description="the slave's id")]
    broker_addr: Annotated[str | None, Meta(description="host:port of the slave")] = None
    topic: Annotated[str | None, Meta(description="topic that differs; null if the row is about a group")] = None
    consumer_group: Annotated[
        str | None, Meta(description="group that the slave lacks; null if the row is about a topic")
    ] = None
    read_queue_nums: Annotated[Count | None, Meta(description="read queues at the slave")] = None
    write_queue_nums: Annotated[Count | None, Meta(description="write queues at the slave")] = None
    master_read_queue_nums: Annotated[Count | None, Meta(description="read queues at the master")] = None
    master_write_queue_nums: Annotated[Count | None, Meta(description="write queues at the master")] = None
    changed_ago_s: Annotated[
        float | None, Meta(description="seconds from the last change of the master's tables to the snapshot")
    ] = None
