"""Dataset ``scenario_effect``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import METRICS, Dataset


class ScenarioEffect(Dataset):
    """What a scenario does to a group under a strategy. Grain and key: consumer_group, strategy.

    There is a row for each strategy that can be run after the changes. Where it could not be run before, moved_* and
    before_* are null.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    strategy: T.StringType = pa.Field(nullable=False, description="strategy")
    moved_queues: T.IntegerType = pa.Field(
        nullable=True, description="business queues, present before and after, whose owner differs"
    )
    moved_ratio: T.DoubleType = pa.Field(
        nullable=True, description="moved_queues / business queues present before and after; null where there are none"
    )
    before_idle: T.IntegerType = pa.Field(nullable=True, description="client ids that owned nothing before")
    before_count: METRICS = pa.Field(nullable=True, description="skew by queues before")
    before_traffic: METRICS = pa.Field(nullable=True, description="skew by messages a second before")
    after_idle: T.IntegerType = pa.Field(nullable=False, description="client ids that own nothing after")
    after_count: METRICS = pa.Field(nullable=True, description="skew by queues after")
    after_traffic: METRICS = pa.Field(nullable=True, description="skew by messages a second after")
