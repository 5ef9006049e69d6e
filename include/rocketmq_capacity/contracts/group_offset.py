"""Dataset ``group_offset``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class GroupOffset(Dataset):
    """A group's place on a queue at the moment of the snapshot.

    Grain: one row a group and queue.
    Key: consumer_group, topic, broker_name, queue_id.
    Units: offsets and lag in messages.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="id of the queue on that broker")
    broker_offset: T.LongType = pa.Field(nullable=True, description="offset that the next message will be written at")
    consumer_offset: T.LongType = pa.Field(
        nullable=True, description="offset that the group will read next, as committed"
    )
    lag: T.LongType = pa.Field(
        nullable=True,
        description="messages not read: max(0, broker_offset - consumer_offset); null where one of them is unknown",
    )
    last_timestamp: T.StringType = pa.Field(
        nullable=True, description="store time of the last message read, UTC ISO-8601"
    )
