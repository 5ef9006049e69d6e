"""Dataset ``strategy_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class StrategyStatus(Dataset):
    """Whether a strategy can be run for a group.

    Grain: one row a clustering group and strategy.
    Key: consumer_group, strategy.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    strategy: T.StringType = pa.Field(nullable=False, description="name of the strategy, as getName() gives it, or POP")
    is_applicable: T.BooleanType = pa.Field(nullable=False, description="RocketMQ would allocate by it")
    reason: T.StringType = pa.Field(
        nullable=True, description="why not, in RocketMQ's words where it throws; null where it applies"
    )
