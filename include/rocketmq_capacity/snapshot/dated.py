"""Gives a recorded inventory another date, so that the sample can be planned as the cluster of today."""

from datetime import datetime, timedelta
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.snapshot.inventory import (
    HELD_TIMES,
    Client,
    Inventory,
    InventoryBroker,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventoryTopic,
    SampledMembers,
    parse_utc,
)

RUNTIME_MOMENTS: Final = ("bootTimestamp", "earliestMessageTimeStamp")
"""Runtime figures of a broker that are moments, in milliseconds since 1970.

Source: BrokerStats and AdminBrokerProcessor.prepareRuntimeInfo, rocketmq-all-5.3.3.
"""
_MILLISECOND: Final = timedelta(milliseconds=1)


def dated(inventory: Inventory, taken_at: datetime) -> Inventory:
    """The inventory with this moment, and all its other moments shifted by the same time, so that all ages stay.

    ``recorded_at`` says when it was really taken. Moments inside texts (a configuration, a client id) do not change.

    Args:
        inventory: as it was recorded; if it was given a date before, its ``recorded_at`` stays.
        taken_at: the new moment, in UTC.
    """
    shift = taken_at - inventory.taken_at_utc
    return replace(
        inventory,
        taken_at=utc_text(taken_at),
        recorded_at=inventory.recorded_at or inventory.taken_at,
        brokers=tuple(_broker(broker, shift) for broker in inventory.brokers),
        missing_brokers=inventory.missing_brokers
        and tuple(replace(one, seen_at=_moved(one.seen_at, shift)) for one in inventory.missing_brokers),
        topics=tuple(_topic(topic, shift) for topic in inventory.topics),
        consumer_groups=tuple(_group(group, shift) for group in inventory.consumer_groups),
    )


def _broker(broker: InventoryBroker, shift: timedelta) -> InventoryBroker:
    def moved(name: str, value: str) -> str:
        milliseconds = whole_number(value) if name in RUNTIME_MOMENTS else None
        return value if milliseconds is None else str(milliseconds + shift // _MILLISECOND)

    runtime = broker.runtime and {name: moved(name, value) for name, value in broker.runtime.items()}
    disks = broker.disks and tuple(replace(disk, at=_moved(disk.at, shift)) for disk in broker.disks)
    return replace(broker, runtime=runtime, disks=disks, master_changed_at=_moved(broker.master_changed_at, shift))


def _topic(topic: InventoryTopic, shift: timedelta) -> InventoryTopic:
    rates = topic.rates and tuple(replace(rate, at=_moved(rate.at, shift)) for rate in topic.rates)
    hourly = topic.hourly and replace(topic.hourly, first_at=_moved(topic.hourly.first_at, shift))
    return replace(topic, rates=rates, hourly=hourly)


def _group(group: InventoryGroup, shift: timedelta) -> InventoryGroup:
    def owned(queue: InventoryOwnedQueue) -> InventoryOwnedQueue:
        return replace(queue, **{name: _moved(getattr(queue, name), shift) for name in HELD_TIMES})

    def client(running: Client) -> Client:
        return replace(
            running,
            started_at=_moved(running.started_at, shift),
            answered_at=_moved(running.answered_at, shift),
            owned_queues=running.owned_queues and tuple(map(owned, running.owned_queues)),
        )

    def offset(committed: InventoryGroupOffset) -> InventoryGroupOffset:
        samples = committed.samples and tuple(
            replace(sample, at=_moved(sample.at, shift)) for sample in committed.samples
        )
        return replace(committed, last_timestamp=_moved(committed.last_timestamp, shift), samples=samples)

    def members(stretch: SampledMembers) -> SampledMembers:
        return replace(stretch, first_at=_moved(stretch.first_at, shift), last_at=_moved(stretch.last_at, shift))

    return replace(
        group,
        past_members=group.past_members and tuple(map(members, group.past_members)),
        hourly=group.hourly and replace(group.hourly, first_at=_moved(group.hourly.first_at, shift)),
        clients=group.clients and tuple(map(client, group.clients)),
        offsets=group.offsets and tuple(map(offset, group.offsets)),
    )


def _moved(text: str | None, shift: timedelta) -> str | None:
    return None if text is None else utc_text(parse_utc(text) + shift)
