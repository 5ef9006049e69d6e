"""Dataset ``group_offset``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class GroupOffset(Dataset):
    """A group's place on a queue. Grain and key: consumer_group, topic, broker_name, queue_id."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind")
    broker_name: T.StringType = pa.Field(nullable=False, description="broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="queue")
    broker_offset: T.LongType = pa.Field(nullable=True, description="next offset to be written")
    consumer_offset: T.LongType = pa.Field(nullable=True, description="next offset to be read")
    lag: T.LongType = pa.Field(nullable=True, description="messages not read: max(0, broker_offset - consumer_offset)")
    last_timestamp: T.StringType = pa.Field(
        nullable=True, description="store time of the last message read, UTC ISO-8601"
    )
