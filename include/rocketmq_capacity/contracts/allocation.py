"""Dataset ``allocation``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Allocation(Dataset):
    """Who owns what under each strategy.

    Grain: one row a queue and consumer, for every strategy that applies to the group.
    Key: none; consumers that share a client id have one equal row each.
    Units: ``queue_id`` counts from 0.
    """

    strategy: T.StringType = pa.Field(
        nullable=False, description="getName() of the strategy, POP, or BROADCASTING for broadcasting groups"
    )
    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    topic: T.StringType = pa.Field(nullable=False, description="name of the topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="name of the broker")
    queue_id: T.IntegerType = pa.Field(
        nullable=False, description="id of the queue on that broker; -1 is every queue of the broker, under POP"
    )
    client_id: T.StringType = pa.Field(nullable=False, description="client id of the owner")
