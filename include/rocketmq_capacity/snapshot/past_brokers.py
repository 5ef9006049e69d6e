"""The most that each broker was seen to store in the inventories of the history, and how much it stores a day."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rocketmq_capacity.model.broker_figures import (
    AVERAGE_BYTES,
    COMMIT_LOG,
    CONSUME_QUEUE,
    LOG_END,
    PUT_RATES,
    figure,
    mean_bytes,
    put_rate,
)
from rocketmq_capacity.model.sums import most_of
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker
from rocketmq_capacity.snapshot.seconds import days_between

LEAST_DAYS: Final = 0.5
"""The shortest time between two inventories that tells how much a broker stores a day: nights differ from days."""
KEPT: Final = (PUT_RATES, AVERAGE_BYTES, LOG_END, COMMIT_LOG, CONSUME_QUEUE)
"""The runtime figures that are looked at."""


class PastLoad(NamedTuple):
    """What the history tells of a broker; None is unknown."""

    seen_msgs_per_s: float | None = None
    seen_bytes_per_s: float | None = None
    bytes_per_day: float | None = None


def only_loads(brokers: Sequence[InventoryBroker]) -> tuple[InventoryBroker, ...]:
    """The masters with these figures alone, and where they listen."""
    return tuple(
        InventoryBroker(
            broker_name=one.broker_name,
            broker_id=one.broker_id,
            broker_addr=one.broker_addr,
            disks=one.disks,
            runtime={name: text for name in KEPT if (text := (one.runtime or {}).get(name)) is not None},
        )
        for one in brokers
        if one.broker_id == 0
    )


def past_loads(inventory: Inventory, history: Sequence[Inventory]) -> dict[str, PastLoad]:
    """By broker name what the history tells of masters; ``history`` is in the order of time."""
    now = inventory.taken_at_utc
    ends = {one.broker_name: figure(one.runtime, LOG_END) for one in inventory.brokers if one.broker_id == 0}
    loads: dict[str, PastLoad] = {}
    last: dict[str, float] = {}
    for earlier in history:
        days = days_between(earlier.taken_at_utc, now)
        for broker in earlier.brokers:
            if broker.broker_id != 0:
                continue
            known = loads.get(broker.broker_name, PastLoad())
            rate, size = put_rate(broker.runtime), mean_bytes(broker.runtime)
            end, end_now = figure(broker.runtime, LOG_END), ends.get(broker.broker_name)
            a_day = _a_day(end, end_now, days)
            if end is not None:
                began_anew = end < last.get(broker.broker_name, end) or (end_now is not None and end_now < end)
                if began_anew:  # what was stored before tells nothing
                    known = known._replace(bytes_per_day=None)
                last[broker.broker_name] = end
            loads[broker.broker_name] = PastLoad(
                most_of((known.seen_msgs_per_s, rate)),
                most_of((known.seen_bytes_per_s, None if rate is None or size is None else rate * size)),
                a_day if known.bytes_per_day is None else known.bytes_per_day,
            )
    return loads


def _a_day(then: float | None, now: float | None, days: float) -> float | None:
    """What was stored in these days, for each of them; None if they are too few, or if the log began anew."""
    return None if then is None or now is None or now < then or days < LEAST_DAYS else (now - then) / days
