"""The second step: who owns what under every strategy."""

from collections.abc import Mapping
from typing import Final

from pyspark.sql import DataFrame

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.allocation.applicability import strategy_status
from rocketmq_capacity.allocation.fleet import fleet_of
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.side_by_side import side_by_side
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning

LOOKED_AT: Final = (contracts.Consumer, contracts.ConsumerGroup, contracts.Subscription, contracts.TopicQueue)
"""What the allocation looks at."""


def allocation_of(
    planning: Planning, tables: Mapping[type[Dataset], DataFrame], by: list[str] | None = None
) -> DataFrame:
    """``Allocation`` of snapshot tables, computed as it fits the run's size; ``by`` as ``fleet_of`` says."""
    fleet = planning.settle_rows(fleet_of(tables, planning.policy, by))
    return allocated(fleet, planning.policy, by, planning.map_batches)


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT) as written:
        fleet = planning.settle_rows(fleet_of(planning.read_all(LOOKED_AT), planning.policy))
        side_by_side(
            lambda: planning.write(contracts.StrategyStatus, strategy_status(fleet, planning.policy)),
            lambda: planning.write(
                contracts.Allocation, allocated(fleet, planning.policy, map_batches=planning.map_batches)
            ),
        )
        written += [contracts.Allocation, contracts.StrategyStatus]
