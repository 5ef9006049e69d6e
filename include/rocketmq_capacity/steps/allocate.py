"""The second step: who owns what under every strategy."""

from typing import Final

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning

LOOKED_AT: Final = (contracts.Consumer, contracts.ConsumerGroup, contracts.Subscription, contracts.TopicQueue)
"""What the allocation looks at."""


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT) as written:
        tables = planning.read_all(LOOKED_AT)

        def keep_status(status: DataFrame) -> DataFrame:
            planning.write(contracts.StrategyStatus, status)
            return planning.read(contracts.StrategyStatus)

        allocation = allocated(tables, planning.policy, settle=planning.settle, settle_status=keep_status)
        planning.write(contracts.Allocation, allocation)
        written += [contracts.Allocation, contracts.StrategyStatus]
