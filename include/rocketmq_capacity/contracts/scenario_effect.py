"""Dataset ``scenario_effect``."""

from typing import Final

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import METRICS, Dataset

STRATEGY_SIDE: Final = T.StructType([
    T.StructField("idle", T.IntegerType()),
    T.StructField("count", METRICS),
    T.StructField("traffic", METRICS),
])
"""A strategy on one side of a scenario: idle clients, skew by queues, skew by messages a second."""


class ScenarioEffect(Dataset):
    """What a scenario does to a group under a strategy. Grain and key: consumer_group, strategy.

    There is a row for each strategy that can be run after the changes. Where it could not be run before, moved_* and
    every part of before are null.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="group")
    strategy: T.StringType = pa.Field(nullable=False, description="strategy")
    moved_queues: T.IntegerType = pa.Field(
        nullable=True, description="business queues, present before and after, whose owner differs"
    )
    moved_ratio: T.DoubleType = pa.Field(
        nullable=True, description="moved_queues / business queues present before and after; null where there are none"
    )
    before: STRATEGY_SIDE = pa.Field(nullable=False, description="the strategy before the changes")
    after: STRATEGY_SIDE = pa.Field(nullable=False, description="the strategy after the changes")
