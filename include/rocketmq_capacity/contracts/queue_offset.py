"""Dataset ``queue_offset``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class QueueOffset(Dataset):
    """How far queues are written at the moment of the snapshot.

    Grain: one row a queue.
    Key: topic, broker_name, queue_id.
    Units: offsets in messages, the rate in messages a second over the samples of the snapshot.
    """

    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="id of the queue on that broker")
    min_offset: T.LongType = pa.Field(nullable=True, description="offset of the oldest message kept")
    max_offset: T.LongType = pa.Field(nullable=True, description="offset that the next message will be written at")
    put_msgs_per_s: T.DoubleType = pa.Field(nullable=True, description="messages a second written to the queue")
