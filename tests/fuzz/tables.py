"""Units and tables of inventories."""

from typing import Final

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.snapshot.units import UnitMaker
from tests.fuzz.inventories import inventory_of, seeds
from tests.fuzz.target import Target

POLICY: Final = Policy()


def make_tables(data: bytes) -> None:
    """Units and tables can be made of every inventory that is read."""
    inventory = inventory_of(data)
    if inventory is None:
        return
    resolved = Resolved(inventory, POLICY)
    units = UnitMaker(resolved)
    for _, table in (*units.group_tables(), *units.topic_tables(), *snapshot_tables(resolved)):
        table.validate(full=True)


TARGETS: Final = (Target("tables", make_tables, seeds, share=0.3),)
