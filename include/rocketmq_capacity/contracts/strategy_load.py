"""Dataset ``strategy_load``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import METRICS, QUEUE, Dataset


class StrategyLoad(Dataset):
    """What a strategy means for a group, over its business topics.

    Grain: one row a clustering group and strategy.
    Key: consumer_group, strategy.
    Units: those of METRICS.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    strategy: T.StringType = pa.Field(nullable=False, description="name of the strategy, as getName() gives it, or POP")
    is_applicable: T.BooleanType = pa.Field(nullable=False, description="RocketMQ would allocate by it")
    reason: T.StringType = pa.Field(
        nullable=True, description="why not, in RocketMQ's words where it throws; null where it applies"
    )
    idle_clients: T.ArrayType(T.StringType()) = pa.Field(
        nullable=False, description="client ids that own nothing over all business topics"
    )
    orphan_queues: T.ArrayType(QUEUE) = pa.Field(
        nullable=False, description="readable business queues that nobody owns"
    )
    doubly_owned_queues: T.ArrayType(QUEUE) = pa.Field(
        nullable=False,
        description="queues read by more than one consumer (under POP that is what is meant, and none is listed)",
    )
    count: METRICS = pa.Field(nullable=True, description="METRICS by number of queues")
    traffic: METRICS = pa.Field(nullable=True, description="METRICS by messages a second")
    lag: METRICS = pa.Field(nullable=True, description="METRICS by messages of lag")
