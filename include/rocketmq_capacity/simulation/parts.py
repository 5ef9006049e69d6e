"""Finds the parts of an inventory that a change names, and replaces them."""

from collections.abc import Collection, Mapping

from msgspec.structs import replace

from rocketmq_capacity.errors import shown
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryTopic,
)
from rocketmq_capacity.vocabulary import GRPC, is_broadcasting


def broker_names(inventory: Inventory) -> set[str]:
    """Every broker in the inventory or in the route of a topic, which may name brokers that the inventory lacks."""
    routed = {queues.broker_name for topic in inventory.topics for queues in topic.queues or ()}
    return routed | {broker.broker_name for broker in inventory.brokers}


def group_of(inventory: Inventory, name: str, place: ChangePlace) -> InventoryGroup:
    """The consumer group of this name.

    Errors: :class:`BadInput` if there is none.
    """
    groups = {group.consumer_group: group for group in inventory.consumer_groups}
    place.check_known("consumer_group", name, groups, "consumer group")
    return groups[name]


def dividing_group(inventory: Inventory, name: str, place: ChangePlace) -> InventoryGroup:
    """The group of this name. Errors: BadInput if it has only gRPC clients, which run no strategy and no mode."""
    group = group_of(inventory, name, place)
    if group.clients and all(client.protocol == GRPC for client in group.clients):
        raise place.refusal(
            "consumer_group", f"is {shown(name)}, whose clients are gRPC ones; expected one of other clients"
        )
    return group


def topic_of(inventory: Inventory, name: str, place: ChangePlace) -> InventoryTopic:
    """The topic of this name.

    Errors: :class:`BadInput` if the inventory does not have it; a subscription to it is not enough.
    """
    topics = {topic.topic: topic for topic in inventory.topics}
    place.check_known("topic", name, topics, "topic")
    return topics[name]


def with_group(inventory: Inventory, changed: InventoryGroup) -> Inventory:
    """The inventory with another group of the same name."""
    groups = inventory.consumer_groups
    return replace(
        inventory,
        consumer_groups=tuple(changed if g.consumer_group == changed.consumer_group else g for g in groups),
    )


def with_topic(inventory: Inventory, changed: InventoryTopic) -> Inventory:
    """The inventory with another topic of the same name."""
    return replace(inventory, topics=tuple(changed if t.topic == changed.topic else t for t in inventory.topics))


def topics_read(group: InventoryGroup) -> set[str]:
    """The topics that the group or a client subscribes to, or of which a client owns a queue."""
    topics = {subscription.topic for subscription in group.subscriptions or ()}
    for client in group.clients or ():
        topics |= {subscription.topic for subscription in client.subscriptions or ()}
        topics |= {queue.topic for queue in client.owned_queues or ()}
    return topics


def without_ownership(group: InventoryGroup) -> InventoryGroup:
    """The group without what other owners of its queues change.

    Owned queues, rates of clients, and the offsets that clients reached in the samples are unknown after a rebalance.
    What was written to the queues stays known. Nobody reads for a group without clients: its offsets stay as they are.
    A client of a broadcasting group handles what it handled, whoever else reads.
    """
    if not group.clients:
        return group
    if is_broadcasting(group.message_model):
        return replace(group, clients=tuple(replace(client, owned_queues=None) for client in group.clients))
    offsets = group.offsets and tuple(map(_without_reached, group.offsets))
    clients = (replace(client, owned_queues=None, status=without_rates(client.status)) for client in group.clients)
    return replace(group, clients=tuple(clients), offsets=offsets)


def with_scaled_rates(group: InventoryGroup, factors: Mapping[str, float | None]) -> InventoryGroup:
    """A broadcasting group whose clients handle so many times the messages of each of these topics; None is unknown."""
    if not any(one.topic in factors for client in group.clients or () for one in client.status or ()):
        return group
    clients = (
        replace(client, status=client.status and tuple(_scaled(one, factors) for one in client.status))
        for client in group.clients or ()
    )
    return replace(group, clients=tuple(clients))


def _scaled(status: InventoryConsumeStatus, factors: Mapping[str, float | None]) -> InventoryConsumeStatus:
    factor = factors.get(status.topic, 1.0)
    ok, failed = (
        None if rate is None or factor is None else rate * factor
        for rate in (status.consume_ok_msgs_per_s, status.consume_failed_msgs_per_s)
    )
    return replace(status, consume_ok_msgs_per_s=ok, consume_failed_msgs_per_s=failed)


def _without_reached(offset: InventoryGroupOffset) -> InventoryGroupOffset:
    """The offset, whose samples say only what was written."""
    samples = offset.samples and tuple(replace(one, consumer_offset=None) for one in offset.samples)
    return offset if samples == offset.samples else replace(offset, samples=samples)


def without_rates(
    status: tuple[InventoryConsumeStatus, ...] | None, topics: Collection[str] | None = None
) -> tuple[InventoryConsumeStatus, ...] | None:
    """The status without messages a second, for these topics or for all; response times stay."""
    if status is None:
        return None
    unknown = {"consume_ok_msgs_per_s": None, "consume_failed_msgs_per_s": None}
    return tuple(replace(one, **unknown) if topics is None or one.topic in topics else one for one in status)
