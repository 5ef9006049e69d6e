"""Dataset ``allocation``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class Allocation(Dataset):
    """Who owns what under each strategy. Grain: one row a queue and consumer; equal client ids own one row each."""

    strategy: T.StringType = pa.Field(nullable=False, description="getName() of the strategy, POP or BROADCASTING")
    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    topic: T.StringType = pa.Field(nullable=False, description="topic")
    broker_name: T.StringType = pa.Field(nullable=False, description="broker")
    queue_id: T.IntegerType = pa.Field(nullable=False, description="queue; -1: every queue of the broker, under POP")
    client_id: T.StringType = pa.Field(nullable=False, description="owner")
