"""Dataset ``scenario_effect``."""

import pandera.pyspark as pa
import pyspark.sql.types as T

from rocketmq_capacity.contracts.dataset import METRICS, Dataset


class ScenarioEffect(Dataset):
    """What a scenario does to a group under a strategy; it goes into the plan file of a what-if and has no table.

    There is a row for each strategy that can be run after the changes. Where it could not be run before, moved_* and
    before_* are null.

    Grain: one row a group and strategy.
    Key: consumer_group, strategy.
    Units: queues and client ids, counted; ``moved_ratio`` from 0 to 1.
    """

    consumer_group: T.StringType = pa.Field(nullable=False, description="name of the consumer group")
    strategy: T.StringType = pa.Field(nullable=False, description="name of the strategy, as getName() gives it, or POP")
    moved_queues: T.IntegerType = pa.Field(
        nullable=True, description="business queues, present before and after, whose owner differs"
    )
    moved_ratio: T.DoubleType = pa.Field(
        nullable=True, description="moved_queues / business queues present before and after; null where there are none"
    )
    before_idle: T.IntegerType = pa.Field(nullable=True, description="client ids that owned nothing before")
    before_count: METRICS = pa.Field(nullable=True, description="METRICS by queues before")
    before_traffic: METRICS = pa.Field(nullable=True, description="METRICS by messages a second before")
    after_idle: T.IntegerType = pa.Field(nullable=False, description="client ids that own nothing after")
    after_count: METRICS = pa.Field(nullable=True, description="METRICS by queues after")
    after_traffic: METRICS = pa.Field(nullable=True, description="METRICS by messages a second after")
