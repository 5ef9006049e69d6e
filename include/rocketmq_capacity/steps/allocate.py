"""The second step: who owns which queue under every strategy."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import pyarrow as pa

from rocketmq_capacity import tables
from rocketmq_capacity.allocation.allocate import Strategies, rows_of_each
from rocketmq_capacity.allocation.columns import allocation_columns
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.steps.planning import ALLOCATE, SNAPSHOT, Planning, Rows
from rocketmq_capacity.tables.arrow import table_of, table_of_columns
from rocketmq_capacity.tables.dataset import Dataset

WRITTEN = (tables.Allocation, tables.StrategyStatus)
GROUPS: Final = "groups"
"""The name of the phase."""


def allocate(planning: Planning, early: Sequence[Future[int]] = ()) -> None:
    """Run every strategy for every group.

    ``early`` are the calls of `allocate_early` in another thread; the step then only waits for their end.
    """
    with planning.step(ALLOCATE, SNAPSHOT, writes=WRITTEN, is_begun=bool(early)):
        if early:
            planning.wait_for_units(GROUPS, planning.number(tables.GroupUnit), early)
        else:
            _run_strategies(planning)


def allocate_early(planning: Planning, files: Sequence[Path], *, is_first: bool) -> int:
    """Write the rows of the step for some files of units, before the snapshot is complete. Gives how many units."""
    planning.session()  # if Spark does not start, nothing may be written: the run is being deleted
    if is_first:
        planning.begin(ALLOCATE, WRITTEN)
    return _run_strategies(planning, files)


def _run_strategies(planning: Planning, files: Sequence[Path] | None = None) -> int:
    groups = planning.units(tables.GroupUnit, "facts", files=files)
    planning.map_units(GROUPS, groups, partial(allocated, Strategies(planning.deciding)), *WRITTEN)
    return groups.number


def allocated(strategies: Strategies, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """The rows of ``allocation`` and ``strategy_status`` of some groups."""
    decoder = msgspec.json.Decoder(GroupFacts)
    divisions = [Division.of(decoder.decode(unit["facts"])) for unit in units]
    names = [division.group.consumer_group for division in divisions]
    rows = dict(zip(names, rows_of_each(divisions, strategies), strict=True))
    yield tables.Allocation, table_of_columns(tables.Allocation, allocation_columns(rows))
    status = []
    for name, division in zip(names, divisions, strict=True):
        for strategy in () if division.group.is_broadcasting else strategies.policy.strategies_of(name):
            verdict = strategies.verdict(strategy, division)
            status.append(
                tables.StrategyStatus(
                    consumer_group=name,
                    strategy=strategy,
                    is_applicable=verdict.is_applicable,
                    reason=verdict.reason,
                )
            )
    yield tables.StrategyStatus, table_of(tables.StrategyStatus, status)
