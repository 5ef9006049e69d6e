"""Dataset ``owned_queue``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class OwnedQueue(Dataset):
    """Queues that consumers report to own.

    Grain: one row a consumer and queue that it reported; a file written by hand may repeat one.
    Key: none.
    Units: ``queue_id`` counts from 0.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    consumer_index: T.IntegerType = pa.Field(
        nullable=False, description="which consumer of the group, as in `consumer`"
    )
    client_id: T.StringType = pa.Field(nullable=False, description="client id of the consumer")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    queue_id: T.IntegerType = pa.Field(
        nullable=False, description="id of the queue on that broker; -1 is all of the broker's, under POP"
    )
    kind: T.StringType = pa.Field(nullable=False, description="the topic's kind, as in `topic`")
