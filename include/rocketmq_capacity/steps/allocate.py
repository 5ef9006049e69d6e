"""The second step: who owns what under every strategy."""

from collections.abc import Callable, Mapping
from typing import Final

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.allocation.allocate import as_it_is
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning

LOOKED_AT: Final = (contracts.Consumer, contracts.ConsumerGroup, contracts.Subscription, contracts.TopicQueue)
"""What the allocation looks at."""


def allocation_of(
    planning: Planning,
    tables: Mapping[type[Dataset], DataFrame],
    by: list[str] | None = None,
    settle_status: Callable[[DataFrame], DataFrame] = as_it_is,
) -> DataFrame:
    """``Allocation`` of snapshot tables, computed as it fits the run's size."""
    return allocated(tables, planning.policy, by, planning.settle, settle_status, planning.map_batches)


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT) as written:

        def keep_status(status: DataFrame) -> DataFrame:
            planning.write(contracts.StrategyStatus, status)
            return planning.read(contracts.StrategyStatus)

        allocation = allocation_of(planning, planning.read_all(LOOKED_AT), settle_status=keep_status)
        planning.write(contracts.Allocation, allocation)
        written += [contracts.Allocation, contracts.StrategyStatus]
