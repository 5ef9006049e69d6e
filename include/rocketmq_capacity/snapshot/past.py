"""Adds to an inventory what earlier ones tell: offsets, as samples, and the figures of earlier days."""

from collections.abc import Sequence

from msgspec.structs import replace

from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.snapshot.gone_brokers import with_missing_brokers
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryGroupOffset, Sample
from rocketmq_capacity.snapshot.past_disks import with_past_disks
from rocketmq_capacity.snapshot.past_rates import with_past_rates


def with_past_days(inventory: Inventory, history: Sequence[Inventory], thresholds: Thresholds) -> Inventory:
    """The inventory; its topics have their rates of earlier days, and its masters how full their disks were.

    It also has its missing brokers. So the run after it needs no other history, and a what-if has all of this as well.
    """
    rated = with_past_rates(inventory, history, thresholds.PROVISION)
    waiting = with_missing_brokers(rated, history, thresholds.STALE_OBJECT.days)
    return with_past_disks(waiting, history, thresholds.BROKER_DISK.trend_days)


def with_past_samples(inventory: Inventory, history: Sequence[Inventory]) -> Inventory:
    """The inventory; its offsets have the samples of the history, oldest first, before their own.

    The samples become a part of the inventory. So a what-if drops those of the queues that it changes, and keeps the
    others.

    Args:
        inventory: the one that is planned.
        history: earlier inventories of the same cluster, oldest first.
    """
    if not history:
        return inventory
    past: dict[tuple[str, str, str, int], list[Sample]] = {}
    for earlier in history:
        for group in earlier.consumer_groups:
            for offset in group.offsets or ():
                past.setdefault(_key(group, offset), []).extend((*(offset.samples or ()), _final(offset, earlier)))

    def with_past(group: InventoryGroup) -> InventoryGroup:
        if group.offsets is None:
            return group
        known = ((offset, past.get(_key(group, offset))) for offset in group.offsets)
        return replace(
            group,
            offsets=tuple(
                replace(offset, samples=(*before, *(offset.samples or ()))) if before else offset
                for offset, before in known
            ),
        )

    return replace(inventory, consumer_groups=tuple(map(with_past, inventory.consumer_groups)))


def _key(group: InventoryGroup, offset: InventoryGroupOffset) -> tuple[str, str, str, int]:
    return group.consumer_group, offset.topic, offset.broker_name, offset.queue_id


def _final(offset: InventoryGroupOffset, earlier: Inventory) -> Sample:
    """The offset as a sample at the moment of its snapshot."""
    return Sample(at=earlier.taken_at, broker_offset=offset.broker_offset, consumer_offset=offset.consumer_offset)
