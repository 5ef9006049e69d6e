"""The second step: who owns which queue under every strategy."""

from collections.abc import Iterator
from functools import partial

import msgspec
import pyarrow as pa

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import Strategies, allocation_columns, rows_of_each
from rocketmq_capacity.contracts.arrow import table_of, table_of_columns
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.facts import GroupFacts
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning, Rows

WRITTEN = (contracts.Allocation, contracts.StrategyStatus)


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT, writes=WRITTEN):
        groups = planning.units(contracts.GroupUnit, "facts")
        planning.map_units("groups", groups, partial(allocated, Strategies(planning.deciding)), *WRITTEN)


def allocated(strategies: Strategies, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The rows of ``allocation`` and ``strategy_status`` of some groups."""
    decoder = msgspec.json.Decoder(GroupFacts)
    divisions = [Division.of(decoder.decode(unit["facts"])) for unit in units]
    names = [division.group.consumer_group for division in divisions]
    rows = dict(zip(names, rows_of_each(divisions, strategies), strict=True))
    yield contracts.Allocation, table_of_columns(contracts.Allocation, allocation_columns(rows))
    status = []
    for name, division in zip(names, divisions, strict=True):
        for strategy in () if division.group.is_broadcasting else strategies.policy.strategies_of(name):
            verdict = strategies.verdict(strategy, division)
            status.append(
                contracts.StrategyStatus(
                    consumer_group=name,
                    strategy=strategy,
                    is_applicable=verdict.is_applicable,
                    reason=verdict.reason,
                )
            )
    yield contracts.StrategyStatus, table_of(contracts.StrategyStatus, status)
