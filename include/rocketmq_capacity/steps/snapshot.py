"""The first step: the inventory and its tables."""

from collections.abc import Sequence

import pyarrow.parquet as pq

from rocketmq_capacity.lake import write_whole
from rocketmq_capacity.snapshot.inventory import Inventory, render_inventory
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.steps.planning import SNAPSHOT, Planning


def snapshot(planning: Planning, inventory: Inventory, history: Sequence[Inventory] = ()) -> None:
    """Store the inventory and its tables; ``history`` is earlier inventories of the cluster, oldest first."""
    with planning.step(SNAPSHOT) as written:
        write_whole(planning.run.inventory, render_inventory(inventory))
        for dataset, table in snapshot_tables(inventory, planning.policy, history).items():
            folder = planning.run.new_table(dataset.dataset_name())
            pq.write_table(table, folder / "part-0.parquet")  # in Arrow already: Spark would only copy it
            written.append(dataset)
