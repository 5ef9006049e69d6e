"""The traffic of topics: producers spread messages round robin over the writable queues."""

from collections import Counter
from collections.abc import Collection, Iterable
from enum import Enum
from math import fsum

from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import InventoryBroker, InventoryGroup, InventoryTopic, InventoryTopicOffset
from rocketmq_capacity.vocabulary import PERM_WRITE, PRIORITY, is_readable

QueueKey = tuple[str, int]
"""Broker and queue id, within one topic."""
Routes = tuple[frozenset[QueueKey] | None, frozenset[QueueKey] | None]
"""The writable queues of a topic before and after a change; None if unknown."""


class ProducerSpread(Enum):
    """How producers spread messages when a topic's writable queues change."""

    EVEN = "all traffic of the topic is spread evenly: how uneven it was says nothing about another set of queues"
    KEEP = "queues that stay keep their traffic, and what the others had is spread evenly over them"


def readable_queues(topic: InventoryTopic) -> frozenset[QueueKey]:
    """The queues that consumers see; none on a broker whose perm or count is unknown."""
    return frozenset(
        (queues.broker_name, queue_id)
        for queues in topic.queues or ()
        if is_readable(queues.perm, queues.read_queue_nums)
        for queue_id in range(queues.read_queue_nums or 0)
    )


def masterless(brokers: Iterable[InventoryBroker]) -> frozenset[str]:
    """The brokers that have only slaves."""
    ids = [(broker.broker_name, broker.broker_id) for broker in brokers]
    return frozenset({name for name, _ in ids} - {name for name, broker_id in ids if broker_id == 0})


def writable_queues(topic: InventoryTopic, brokers: Iterable[InventoryBroker]) -> frozenset[QueueKey] | None:
    """The queues that producers see, without those of brokers that have only slaves; None if unknown.

    For a broker that is not in the inventory, only its perm decides.
    Source: MQClientInstance.topicRouteData2TopicPublishInfo, rocketmq-all-5.3.3.
    """
    without = masterless(brokers)
    candidates = [
        q for q in topic.queues or () if q.broker_name not in without and (q.perm is None or q.perm & PERM_WRITE)
    ]
    if topic.queues is None or any(q.perm is None or q.write_queue_nums is None for q in candidates):
        return None
    return frozenset((q.broker_name, queue_id) for q in candidates for queue_id in range(q.write_queue_nums or 0))


def respread(old: InventoryTopic, new: InventoryTopic, routes: Routes, spread: ProducerSpread) -> InventoryTopic:
    """The topic with the rates that follow from its changed queues.

    The sum of ``put_msgs_per_s`` stays the same: a queue that is no longer written has 0, and the written queues share
    its rate by ``spread``. If a rate that must be shared is unknown, so are the rates of the queues that share it. If
    no queue is writable any more, producers fail, and all rates are 0. Each level of a PRIORITY topic keeps its
    traffic, spread over the brokers; if brokers' numbers of levels change or differ, all rates are unknown.

    Args:
        old: the topic before.
        new: the topic after, with the offsets of the queues that it has then.
        routes: its writable queues before and after.
        spread: how producers spread messages.
    """
    before, after = routes
    rates = {(offset.broker_name, offset.queue_id): offset.put_msgs_per_s for offset in old.offsets or ()}
    gone = rates.keys() - {(offset.broker_name, offset.queue_id) for offset in new.offsets or ()}
    if new.offsets is None or not moves_traffic(old, new, routes):
        return new
    is_by_level = new.message_type == PRIORITY
    if before is None or after is None or (is_by_level and not _has_same_levels(before, after)):
        return replace(new, offsets=tuple(replace(offset, put_msgs_per_s=None) for offset in new.offsets))

    def rate(queue: QueueKey) -> float | None:
        """The rate of a queue before; 0 for a queue that was not writable, unless a rate was measured."""
        known = rates.get(queue)
        return known if known is not None or queue in before else 0.0

    def level(queue: QueueKey) -> int:
        """The level within which messages are spread: the queue id for a PRIORITY topic, else the same for all."""
        return queue[1] if is_by_level else 0

    leaving = (before - after) | gone
    moved = leaving if spread is ProducerSpread.KEEP else leaving | before | after
    rates_of: dict[int, list[float | None]] = {level(queue): [] for queue in after}
    for queue in moved:
        rates_of.setdefault(level(queue), []).append(rate(queue))
    queues_of = Counter(map(level, after))
    shares = {one: _share(rates_of[one], number) for one, number in queues_of.items()}
    kept = {queue: 0.0 if spread is ProducerSpread.EVEN else rate(queue) for queue in after}
    put: dict[QueueKey, float | None] = dict.fromkeys(before - after, 0.0)
    put |= {q: None if (share := shares[level(q)]) is None or own is None else own + share for q, own in kept.items()}
    return replace(new, offsets=_with_rates(new.offsets, put))


def _has_same_levels(*sides: frozenset[QueueKey]) -> bool:
    """Whether all brokers have the same queue ids."""
    ids_of: dict[tuple[int, str], set[int]] = {}
    for number, side in enumerate(sides):
        for name, queue_id in side:
            ids_of.setdefault((number, name), set()).add(queue_id)
    return len({frozenset(ids) for ids in ids_of.values()}) <= 1


def moves_traffic(old: InventoryTopic, new: InventoryTopic, routes: Routes) -> bool:
    """Whether the traffic changes: the writable queues differ or are unknown, or a queue that was written is gone.

    The arguments are those of :func:`respread`.
    """
    before, after = routes
    staying = {(offset.broker_name, offset.queue_id) for offset in new.offsets or ()}
    gone = (o for o in old.offsets or () if (o.broker_name, o.queue_id) not in staying)
    return before is None or before != after or any(offset.put_msgs_per_s for offset in gone)


def without_samples(group: InventoryGroup, topics: Collection[str]) -> InventoryGroup:
    """The group without the samples of these topics, which do not apply to the new traffic."""
    if not any(offset.samples is not None and offset.topic in topics for offset in group.offsets or ()):
        return group
    offsets = (replace(o, samples=None) if o.topic in topics else o for o in group.offsets or ())
    return replace(group, offsets=tuple(offsets))


def _share(rates: Iterable[float | None], queues: int) -> float | None:
    """The sum of the rates / the number of queues; None if a rate is unknown.

    The sum is exact, so that it does not depend on the order of a set.
    """
    known: list[float] = []
    for rate in rates:
        if rate is None:
            return None
        known.append(rate)
    try:
        return fsum(known) / queues if queues else 0.0
    except OverflowError:
        return None


def _with_rates(
    offsets: tuple[InventoryTopicOffset, ...], put: dict[QueueKey, float | None]
) -> tuple[InventoryTopicOffset, ...]:
    """The offsets with these rates; a queue with traffic but without an entry gets one with unknown offsets."""
    changed = [replace(o, put_msgs_per_s=put.pop((o.broker_name, o.queue_id), o.put_msgs_per_s)) for o in offsets]
    missing = (
        InventoryTopicOffset(broker_name=b, queue_id=q, put_msgs_per_s=put[b, q]) for b, q in sorted(put) if put[b, q]
    )
    return (*changed, *missing)
