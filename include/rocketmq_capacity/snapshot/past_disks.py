"""How full the disks of masters were on earlier days."""

from collections.abc import Sequence

from msgspec.structs import replace

from rocketmq_capacity.model.broker_figures import used_of
from rocketmq_capacity.snapshot.inventory import Inventory, PastDisk, parse_utc


def past_disks(inventory: Inventory, history: Sequence[Inventory], days: int) -> dict[str, tuple[PastDisk, ...]]:
    """By broker name the used share of the fuller disk, the highest of each day (UTC), oldest first.

    Each inventory of the history gives what it measured, and what it has of days before its own.

    Args:
        inventory: the one that is planned; what it has of earlier days counts too.
        history: earlier inventories of the same cluster, oldest first.
        days: how many days before the inventory to keep.
    """
    by_broker: dict[str, dict[str, PastDisk]] = {}
    first = inventory.taken_at_utc.date().toordinal() - days
    for snapshot in (*history, inventory):
        for broker in snapshot.brokers:
            if broker.broker_id != 0:
                continue
            used = used_of(broker.runtime) if snapshot is not inventory else None
            measured = () if used is None else (PastDisk(at=snapshot.taken_at, used_ratio=used),)
            for disk in (*(broker.disks or ()), *measured):
                day = parse_utc(disk.at).date()
                if first <= day.toordinal() < first + days:
                    of_broker = by_broker.setdefault(broker.broker_name, {})
                    known = of_broker.get(day.isoformat())
                    if known is None or known.used_ratio < disk.used_ratio:
                        of_broker[day.isoformat()] = disk
    return {name: tuple(each[day] for day in sorted(each)) for name, each in by_broker.items()}


def with_past_disks(inventory: Inventory, history: Sequence[Inventory], days: int) -> Inventory:
    """The inventory; its masters have how full their disks were on earlier days. So a what-if has it as well."""
    disks = past_disks(inventory, history, days)
    brokers = (
        replace(one, disks=disks.get(one.broker_name)) if one.broker_id == 0 else one for one in inventory.brokers
    )
    return replace(inventory, brokers=tuple(brokers)) if disks else inventory
