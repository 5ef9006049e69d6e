"""The second step: who owns what under every strategy."""

from typing import Final

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.allocation.applicability import strategy_status
from rocketmq_capacity.side_by_side import side_by_side
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning

LOOKED_AT: Final = (contracts.Consumer, contracts.ConsumerGroup, contracts.Subscription, contracts.TopicQueue)
"""What the allocation looks at."""


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT) as written:
        tables = planning.read_all(LOOKED_AT)
        side_by_side(
            lambda: planning.write(contracts.Allocation, allocated(tables, planning.policy, settle=planning.settle)),
            lambda: planning.write(contracts.StrategyStatus, strategy_status(tables, planning.policy)),
        )
        written += [contracts.Allocation, contracts.StrategyStatus]
