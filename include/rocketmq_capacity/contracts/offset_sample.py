"""Dataset ``offset_sample``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class OffsetSample(Dataset):
    """A group's place on a queue over time: the history's values, then the snapshot's samples and its final values.

    Grain: one row a group, queue and moment.
    Key: consumer_group, topic, broker_name, queue_id, at_s.
    Units: offsets in messages, ``at_s`` in seconds.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="id of the queue on that broker")
    at_s: T.DoubleType = pa.Field(nullable=False, description="moment of the sample, seconds since 1970-01-01 UTC")
    broker_offset: T.LongType = pa.Field(nullable=True, description="offset that the next message would be written at")
    consumer_offset: T.LongType = pa.Field(
        nullable=True, description="offset that the group would read next, as committed"
    )
