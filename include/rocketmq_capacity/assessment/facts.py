"""What the rules look at: the snapshot's tables, the loads, and who owns what today."""

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import DataFrame

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
