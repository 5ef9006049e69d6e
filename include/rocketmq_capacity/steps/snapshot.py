"""The first step: the inventory, its units and its tables."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Final

import pyarrow as pa

from rocketmq_capacity import tables
from rocketmq_capacity.collector import give_blocks_back, without_collector
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.snapshot.inventory_file import render_inventory
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.snapshot.units import UNITS_A_TABLE, UnitMaker
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.steps.inputs import in_a_few_words
from rocketmq_capacity.steps.planning import SNAPSHOT, Planning
from rocketmq_capacity.store.writing import write_whole
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.wording import counted

MANY_GROUPS: Final = 2_000
"""From so many on, Spark gets the first half of the groups while this process makes the other half."""
ROW_GROUP_ROWS: Final = 65_536
"""The most rows of a row group. Spark gives a task whole row groups, so a long table needs several."""
ROW_GROUP_UNITS: Final = 50
"""The same of units: a cluster of some hundred groups is then shared out evenly among the cores."""

UNITS: Final = (tables.GroupUnit, tables.TopicUnit)


def snapshot(
    planning: Planning,
    inventory: Inventory,
    history: Sequence[Inventory] = (),
    *,
    keeps_inventory: bool = True,
    after_groups: Callable[[Sequence[Path]], object] | None = None,
) -> None:
    """Store the inventory, its units and its tables.

    Args:
        planning: the run.
        inventory: the cluster.
        history: earlier inventories of it, oldest first.
        keeps_inventory: False for a run that is deleted after its plan, whose inventory nobody reads again.
        after_groups: is called with the files of the units of groups, once they are stored; for many groups twice.
    """
    with planning.step(SNAPSHOT, writes=tables.SNAPSHOT) as step:
        if keeps_inventory:
            write_inventory(planning, inventory)
        write_snapshot(planning, inventory, history, after_groups)
        step.tells(in_a_few_words(inventory))
        if history:
            step.tells(counted(len(history), "earlier inventory", "earlier inventories"))


def write_inventory(planning: Planning, inventory: Inventory) -> None:
    """Write the inventory as a file of the run."""
    with planning.progress.phase("inventory"):
        write_whole(planning.run.inventory, render_inventory(inventory))


def write_snapshot(
    planning: Planning,
    inventory: Inventory,
    history: Sequence[Inventory] = (),
    after_groups: Callable[[Sequence[Path]], object] | None = None,
) -> None:
    """Write the units and tables inside a step; the arguments are those of `snapshot`."""
    resolved = Resolved(inventory, planning.policy, history)
    with without_collector():
        with planning.progress.phase("units"):
            units = UnitMaker(resolved)
            groups, stored = units.group_tables(), 0
            first = units.group_count // 2 // UNITS_A_TABLE if units.group_count >= MANY_GROUPS else 0
            for part in (islice(groups, first), groups):
                _write(planning, part)
                files = planning.files(tables.GroupUnit)
                if after_groups is not None and (new := files[stored:]):
                    after_groups(new)
                stored = len(files)
            _write(planning, units.topic_tables())
            del units
        with planning.progress.phase("tables"):
            _write(planning, snapshot_tables(resolved))


def _write(planning: Planning, filled: Iterable[tuple[type[Dataset], pa.Table]]) -> None:
    """Write each table while the next one is made, so that at most two are in memory."""
    with ThreadPoolExecutor(max_workers=1) as writer:
        writing: Future[None] | None = None
        for dataset, table in filled:
            if writing is not None:
                writing.result()
            # Written by Arrow: Spark would only copy it. The types are Parquet's own, as in every other table.
            write = partial(add_file, planning.run, dataset, table)
            rows = ROW_GROUP_UNITS if dataset in UNITS else ROW_GROUP_ROWS
            writing = writer.submit(write, row_group_size=rows, compression="zstd")
            if dataset is tables.Cluster:
                give_blocks_back()  # those of the fingerprint are more than all other tables need
        if writing is not None:
            writing.result()
