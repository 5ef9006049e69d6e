"""Brokers that earlier inventories have with traffic, and that are lost now, or do not answer."""

from collections.abc import Container, Iterable, Iterator, Sequence
from functools import partial
from math import fsum
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.model.facts import lag_of
from rocketmq_capacity.settings.policy import Exclude
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryBroker,
    InventoryGroup,
    InventoryTopic,
    MissingBroker,
    MissingReader,
    MissingTopic,
    TopicQueues,
    parse_utc,
)
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.snapshot.seconds import days_between
from rocketmq_capacity.vocabulary import BUSINESS, is_open

MOST: Final = 2**63 - 1
"""The largest offset of an inventory."""


def gone_brokers(inventory: Inventory, history: Sequence[Inventory], days: float) -> list[MissingBroker]:
    """The missing brokers that are in no route now: no name server lists them, and no topic has queues there."""
    listed = {one.broker_name for one in inventory.brokers}
    listed |= {queues.broker_name for topic in inventory.topics for queues in topic.queues or ()}
    return [one for one in missing_brokers(inventory, history, days) if one.broker_name not in listed]


def missing_brokers(inventory: Inventory, history: Sequence[Inventory], days: float) -> list[MissingBroker]:
    """The brokers whose master is not there now, or does not answer, as it was when it last did; sorted by name.

    A broker that was drained before is left out: nothing was written to its queues any more, or they could not be both
    written and read.

    Args:
        inventory: the cluster now; those that it has itself, of a run before or of a changed cluster, count too.
        history: earlier inventories of it, oldest first; each tells those that it has itself as well.
        days: for how many days somebody waits for a broker.
    """
    silent = {failure.broker_addr for failure in inventory.unanswered}
    known = {one.broker_name for one in inventory.brokers if one.broker_id == 0 and one.broker_addr not in silent}
    missing: dict[str, MissingBroker] = {}
    for moment in (inventory, *reversed(history)):
        masters = [one for one in moment.brokers if one.broker_id == 0] if moment is not inventory else []
        seen = [_seen(master, moment) for master in masters if master.broker_name not in known]
        for broker in (*filter(None, seen), *(moment.missing_brokers or ())):
            if broker.broker_name not in known and any(topic.put_msgs_per_s for topic in broker.topics):
                missing[broker.broker_name] = broker
            known.add(broker.broker_name)
    now = inventory.taken_at_utc
    ago = {name: days_between(parse_utc(broker.seen_at), now) for name, broker in missing.items()}
    return [missing[name] for name in sorted(missing) if 0 <= ago[name] < days]


def with_missing_brokers(inventory: Inventory, history: Sequence[Inventory], days: float) -> Inventory:
    """The inventory with them: the next run needs no run that has their topics, and a what-if knows them as well."""
    return replace(inventory, missing_brokers=tuple(missing_brokers(inventory, history, days)) or None)


def _seen(master: InventoryBroker, inventory: Inventory) -> MissingBroker | None:
    """The broker in this inventory, with the business topics that could be written and read there.

    None if the inventory does not tell what was written to it.
    """
    kinds, name = Kinds(inventory, Exclude()), master.broker_name
    topics = [
        MissingTopic(topic=topic.topic, put_msgs_per_s=_rate(topic, name))
        for topic in inventory.topics
        if any(map(partial(_is_open, name), topic.queues or ())) and kinds.of_topic(topic.topic) == BUSINESS
    ]
    has_routes = any(topic.queues for topic in inventory.topics)
    if not has_routes or (topics and all(topic.put_msgs_per_s is None for topic in topics)):
        return None
    names = {topic.topic for topic in topics}
    return MissingBroker(
        broker_name=name,
        broker_addr=master.broker_addr,
        seen_at=inventory.taken_at,
        topics=tuple(topics),
        readers=tuple(one for group in inventory.consumer_groups for one in _readers(group, name, names)),
    )


def _is_open(broker_name: str, queues: TopicQueues) -> bool:
    """Whether the queues are on the broker, and can be both written and read, as far as it is known."""
    has_queues = queues.read_queue_nums != 0 and queues.write_queue_nums != 0
    return queues.broker_name == broker_name and is_open(queues.perm) and has_queues


def _rate(topic: InventoryTopic, broker_name: str) -> float | None:
    """What was written to its queues on the broker; None if nothing is known."""
    rates = [one.put_msgs_per_s for one in topic.offsets or () if one.broker_name == broker_name]
    known = [rate for rate in rates if rate is not None]
    return fsum(known) if known else None


def _readers(group: InventoryGroup, broker_name: str, topics: Container[str]) -> Iterator[MissingReader]:
    """What the group had not read there, by topic; None where it is unknown."""
    unread: dict[str, list[int | None]] = {}
    for offset in group.offsets or ():
        if offset.broker_name == broker_name and offset.topic in topics:
            unread.setdefault(offset.topic, []).append(lag_of(offset.broker_offset, offset.consumer_offset))
    for topic, lags in unread.items():
        yield MissingReader(consumer_group=group.consumer_group, topic=topic, unread_msgs=all_unread(lags))


def all_unread(lags: Iterable[int | None]) -> int | None:
    """The sum of those that are known; None if none is."""
    known = [lag for lag in lags if lag is not None]
    return min(sum(known), MOST) if known else None
