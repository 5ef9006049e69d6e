"""What follows from changed queues of topics: for offsets, rates and owners."""

from collections.abc import Mapping
from dataclasses import dataclass

from msgspec.structs import replace

from rocketmq_capacity.simulation.parts import topics_read, with_scaled_rates, without_ownership
from rocketmq_capacity.simulation.traffic import (
    ProducerSpread,
    QueueKey,
    masterless,
    moves_traffic,
    readable_queues,
    respread,
    without_samples,
    writable_queues,
)
from rocketmq_capacity.snapshot.filters import put_msgs_per_s
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventoryTopic,
    InventoryTopicOffset,
    TopicQueues,
)
from rocketmq_capacity.vocabulary import RETRY_PREFIX, is_broadcasting


def settled(before: Inventory, after: Inventory, spread: ProducerSpread) -> Inventory:
    """The inventory ``after``, with the consequences of the queues in which its topics differ from ``before``.

    - Queues that are gone (ids from max(read, write) on) lose their offsets, the topic's and the groups'.
    - New queues start with offsets 0, and with lag 0 for every group that has offsets on the topic.
    - The traffic moves by ``spread``. The samples of lag are dropped for topics whose traffic differs.
    - Owned queues become unknown for groups of a topic whose readable queues differ, except for retry topics.

    A broker that lost its master, or got one, has other writable queues although its topics are the same.
    """
    old_topics = {topic.topic: topic for topic in before.topics}
    turned = masterless(before.brokers) ^ masterless(after.brokers)
    effects = {
        topic.topic: _Effect.of(old_topics[topic.topic], topic, before, after, spread)
        for topic in after.topics
        if topic != old_topics[topic.topic] or any(queues.broker_name in turned for queues in topic.queues or ())
    }
    # RocketMQ divides a retry topic by itself, so the owners of business queues stay.
    reassigned = {n for n, effect in effects.items() if effect.moves_ownership and not n.startswith(RETRY_PREFIX)}
    diverted = {name for name, effect in effects.items() if effect.moves_traffic}

    def follows(group: InventoryGroup) -> InventoryGroup:
        group = without_samples(_with_settled_offsets(group, effects), diverted)
        read = topics_read(group)
        if is_broadcasting(group.message_model):
            group = with_scaled_rates(group, {name: effects[name].times for name in read & effects.keys()})
        return without_ownership(group) if read & reassigned else _without_lost_queues(group, effects)

    return replace(
        after,
        topics=tuple(effects[t.topic].topic if t.topic in effects else t for t in after.topics),
        consumer_groups=tuple(follows(group) for group in after.consumer_groups),
    )


@dataclass(frozen=True, slots=True)
class _Effect:
    """The consequences of a change of one topic's queues."""

    topic: InventoryTopic
    ids_on: Mapping[str, int]
    """The number of queue ids on each broker whose queues changed."""
    new_readable: tuple[QueueKey, ...]
    moves_ownership: bool
    moves_traffic: bool
    times: float | None
    """How many times the messages come to all readable queues together; None if unknown."""

    @classmethod
    def of(
        cls, old: InventoryTopic, new: InventoryTopic, before: Inventory, after: Inventory, spread: ProducerSpread
    ) -> "_Effect":
        """From the topic before and after; ``new`` may still have offsets of queues that are gone."""
        queues_before = {queues.broker_name: queues for queues in old.queues or ()}
        queues_after = {queues.broker_name: queues for queues in new.queues or ()}
        changed = sorted(
            name
            for name in queues_before.keys() | queues_after.keys()
            if queues_before.get(name) != queues_after.get(name)
        )
        ids_on = {name: _ids(queues_after.get(name)) for name in changed}
        new_ids = [
            (name, queue_id)
            for name in changed
            for queue_id in _new_ids(queues_before.get(name), queues_after.get(name))
        ]
        routes = writable_queues(old, before.brokers), writable_queues(new, after.brokers)
        settled_new = replace(new, offsets=_settled_offsets(new.offsets, ids_on, new_ids, routes[1]))
        was_readable, is_readable = readable_queues(old), readable_queues(new)
        spread_out = respread(old, settled_new, routes, spread)
        return cls(
            topic=spread_out,
            ids_on=ids_on,
            new_readable=tuple(queue for queue in new_ids if queue in is_readable),
            moves_ownership=was_readable != is_readable,
            moves_traffic=moves_traffic(old, settled_new, routes),
            times=_times(old, spread_out),
        )

    def has_lost(self, broker_name: str, queue_id: int) -> bool:
        """Whether the queue is gone; a queue of a broker that did not change stays, whatever its id."""
        return queue_id >= self.ids_on.get(broker_name, queue_id + 1)


def _times(old: InventoryTopic, new: InventoryTopic) -> float | None:
    """How many times the messages come to all readable queues together; None if unknown."""
    before = put_msgs_per_s(old) if readable_queues(old) else 0.0
    after = put_msgs_per_s(new) if readable_queues(new) else 0.0
    if before is None or after is None:
        return None
    if before == 0:
        return 1.0 if after == 0 else None
    return after / before


def _without_lost_queues(group: InventoryGroup, effects: Mapping[str, _Effect]) -> InventoryGroup:
    """The group whose clients own no queue that is gone."""

    def is_lost(queue: InventoryOwnedQueue) -> bool:
        return queue.topic in effects and effects[queue.topic].has_lost(queue.broker_name, queue.queue_id)

    if not any(is_lost(queue) for client in group.clients or () for queue in client.owned_queues or ()):
        return group
    clients = (
        replace(client, owned_queues=tuple(queue for queue in client.owned_queues if not is_lost(queue)))
        if client.owned_queues
        else client
        for client in group.clients or ()
    )
    return replace(group, clients=tuple(clients))


def _ids(queues: TopicQueues | None) -> int:
    """The number of queue ids of a broker, which are 0 to max(read, write) - 1."""
    return 0 if queues is None else max(queues.read_queue_nums or 0, queues.write_queue_nums or 0)


def _new_ids(before: TopicQueues | None, after: TopicQueues | None) -> range:
    """The ids that were not there before; none if the number before is unknown."""
    is_unknown = before is not None and before.read_queue_nums is None and before.write_queue_nums is None
    return range(0) if is_unknown else range(_ids(before), _ids(after))


def _settled_offsets(
    offsets: tuple[InventoryTopicOffset, ...] | None,
    ids_on: Mapping[str, int],
    new_ids: list[QueueKey],
    writable: frozenset[QueueKey] | None,
) -> tuple[InventoryTopicOffset, ...] | None:
    """The topic's offsets, without those of queues that are gone, and with those of new ones; None stays None."""
    if offsets is None:
        return None
    staying = [o for o in offsets if o.queue_id < ids_on.get(o.broker_name, o.queue_id + 1)]
    known = {(o.broker_name, o.queue_id) for o in staying}
    new = (
        InventoryTopicOffset(
            broker_name=broker_name,
            queue_id=queue_id,
            min_offset=0,
            max_offset=0,
            put_msgs_per_s=0.0 if writable is not None and (broker_name, queue_id) not in writable else None,
        )
        for broker_name, queue_id in new_ids
        if (broker_name, queue_id) not in known
    )
    return (*staying, *new)


def _with_settled_offsets(group: InventoryGroup, effects: Mapping[str, _Effect]) -> InventoryGroup:
    """The group, without offsets on queues that are gone, and with lag 0 on new queues of topics that it consumed."""
    consumed = {offset.topic for offset in group.offsets or ()} & effects.keys()
    if not consumed:
        return group
    staying = [
        offset
        for offset in group.offsets or ()
        if offset.topic not in consumed or not effects[offset.topic].has_lost(offset.broker_name, offset.queue_id)
    ]
    known = {(offset.topic, offset.broker_name, offset.queue_id) for offset in staying}
    new = (
        InventoryGroupOffset(
            topic=topic, broker_name=broker_name, queue_id=queue_id, broker_offset=0, consumer_offset=0
        )
        for topic in sorted(consumed)
        for broker_name, queue_id in effects[topic].new_readable
        if (topic, broker_name, queue_id) not in known
    )
    return replace(group, offsets=(*staying, *new))
