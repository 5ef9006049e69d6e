"""Dataset ``owned_queue``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class OwnedQueue(Dataset):
    """Queues that clients report to own. Grain: one row a reported queue."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    consumer_index: T.IntegerType = pa.Field(nullable=False, description="consumer")
    client_id: T.StringType = pa.Field(nullable=False, description="client")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="queue; -1 is all of the broker's under POP")
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind")
