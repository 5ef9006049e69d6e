"""Dataset ``strategy_load``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import METRICS, QUEUE, Dataset


class StrategyLoad(Dataset):
    """What a strategy means for a group. Grain and key: consumer_group, strategy."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    strategy: T.StringType = pa.Field(nullable=False, description="strategy")
    is_applicable: T.BooleanType = pa.Field(nullable=False, description="RocketMQ would allocate")
    reason: T.StringType = pa.Field(nullable=True, description="why not")
    idle_clients: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="client ids that own nothing over all business topics"
    )
    orphan_queues: T.ArrayType(QUEUE) = pa.Field(
        nullable=False, description="readable business queues that nobody owns"
    )
    doubly_owned_queues: T.ArrayType(QUEUE) = pa.Field(
        nullable=False, description="queues read by more than one consumer (not under POP)"
    )
    count: METRICS = pa.Field(nullable=True, description="skew by queues")
    traffic: METRICS = pa.Field(nullable=True, description="skew by messages a second")
    lag: METRICS = pa.Field(nullable=True, description="skew by lag")
