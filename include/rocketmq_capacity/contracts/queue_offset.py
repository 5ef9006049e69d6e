"""Dataset ``queue_offset``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class QueueOffset(Dataset):
    """How far queues are written. Grain and key: topic, broker_name, queue_id."""

    topic: T.StringType = pa.Field(nullable=False, description="name")
    broker_name: T.StringType = pa.Field(nullable=False, description="broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="queue")
    min_offset: T.LongType = pa.Field(nullable=True, description="oldest message kept")
    max_offset: T.LongType = pa.Field(nullable=True, description="next offset to be written")
    put_msgs_per_s: T.DoubleType = pa.Field(nullable=True, description="messages a second written")
