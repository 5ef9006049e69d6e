"""What several changes do to brokers: some are lost, or the queues of one lose a part of their perm."""

from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryTopic, TopicQueues


def with_perm(topic: InventoryTopic, broker_name: str, bits: int) -> InventoryTopic:
    """The topic with no more than these bits of its perm on a broker; an unknown perm stays unknown."""

    def limited(queues: TopicQueues) -> TopicQueues:
        if queues.broker_name != broker_name or queues.perm is None:
            return queues
        return replace(queues, perm=queues.perm & bits)

    return replace(topic, queues=tuple(map(limited, topic.queues))) if topic.queues else topic


def without_brokers(inventory: Inventory, names: AbstractSet[str]) -> Inventory:
    """The inventory without everything on these brokers, and without their failures to answer.

    The topic that RocketMQ names after a broker is removed too: without the broker it would look like a business topic.
    """
    addresses = {broker.broker_addr for broker in inventory.brokers if broker.broker_name in names}
    failures = inventory.failures and tuple(f for f in inventory.failures if f.broker_addr not in addresses)
    after = replace(
        inventory,
        brokers=tuple(broker for broker in inventory.brokers if broker.broker_name not in names),
        topics=tuple(_topic_without(topic, names) for topic in inventory.topics if topic.topic not in names),
        consumer_groups=tuple(_group_without(group, names) for group in inventory.consumer_groups),
        failures=failures,
    )
    return settled(inventory, after, ProducerSpread.KEEP)


def _topic_without(topic: InventoryTopic, names: AbstractSet[str]) -> InventoryTopic:
    queues = topic.queues and tuple(q for q in topic.queues if q.broker_name not in names)
    offsets = topic.offsets and tuple(o for o in topic.offsets if o.broker_name not in names)
    return replace(topic, queues=queues, offsets=offsets)


def _group_without(group: InventoryGroup, names: AbstractSet[str]) -> InventoryGroup:
    """The group without its offsets on these brokers; for a client that only they named it is unknown who sees it."""
    clients = group.clients and tuple(
        replace(c, seen_on=tuple(name for name in c.seen_on if name not in names) or None) if c.seen_on else c
        for c in group.clients
    )
    offsets = group.offsets and tuple(o for o in group.offsets if o.broker_name not in names)
    return replace(group, clients=clients, offsets=offsets)
