"""What the rules look at: the snapshot's tables, the loads, and who owns what today."""

from collections.abc import Mapping
from dataclasses import dataclass

import pyspark.sql.functions as F
from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.assessment.current import OBSERVED
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset


@dataclass(frozen=True, slots=True)
class Facts:
    """Frames that several rules share.

    Attributes:
        tables: the snapshot by contract.
        policy: thresholds and what groups are said to run.
        groups: group_status's columns without the provision, one row a business group.
        queues: the readable business queues of each group, weighed (``loads.weighed_queues``).
        today: who owns what today (``owned_queues`` rows), of the groups where that is known.
        today_load: ``StrategyLoad`` of what holds today, one row a clustering group where it is known.
        today_clients: ``ClientLoad`` of what holds today.
        earlier: findings of the run before, where there was one.
    """

    tables: Mapping[type[Dataset], DataFrame]
    policy: Policy
    groups: DataFrame
    queues: DataFrame
    today: DataFrame
    today_load: DataFrame
    today_clients: DataFrame
    earlier: DataFrame | None

    def settling_groups(self) -> DataFrame:
        """Groups whose owners are known by observation alone while a client has just started: it owns nothing yet.

        Shape: -> consumer_group, a row a group. Where the owners are computed, every client has its share already.
        """
        young = F.col("up_s") <= self.policy.thresholds.SUBSCRIPTION_MISMATCH.settled_s
        computed = self.today.where(F.col("strategy") != OBSERVED).select("consumer_group").distinct()
        starting = self.tables[contracts.Consumer].where(young).select("consumer_group").distinct()
        return starting.join(computed, "consumer_group", "left_anti")
