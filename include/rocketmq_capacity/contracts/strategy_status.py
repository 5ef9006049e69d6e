"""Dataset ``strategy_status``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import Dataset


class StrategyStatus(Dataset):
    """Whether a strategy can be run for a group. Grain and key: consumer_group, strategy."""

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    strategy: T.StringType = pa.Field(nullable=False, description="strategy")
    is_applicable: T.BooleanType = pa.Field(nullable=False, description="RocketMQ would allocate")
    reason: T.StringType = pa.Field(nullable=True, description="why not")
