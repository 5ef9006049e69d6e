"""Dataset ``offset_sample``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class OffsetSample(Dataset):
    """A group's place on a queue over time, the history's and the snapshot's, final values included. Grain and key: consumer_group, topic, broker_name, queue_id, at."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="queue")
    at_s: T.DoubleType = pa.Field(nullable=False, description="seconds since 1970")
    broker_offset: T.LongType = pa.Field(nullable=True, description="next offset to be written")
    consumer_offset: T.LongType = pa.Field(nullable=True, description="next offset to be read")
