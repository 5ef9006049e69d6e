"""What a group subscribes to, in an inventory: looked up, added and taken away, for the group and for each client."""

from msgspec.structs import replace

from rocketmq_capacity.errors import shown
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.filters import EVERYTHING
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, InventorySubscription, PassRatio
from rocketmq_capacity.vocabulary import LITE, LITE_SELECTIVE, filter_text


def check_reads_queues(group: InventoryGroup, inventory: Inventory, place: ChangePlace) -> None:
    """Refuse a group that is bound to a LITE topic: its clients choose lite topics while they run, and read no queues.

    Errors: :class:`BadInput` about the group.
    """
    lite = {topic.topic for topic in inventory.topics if topic.message_type == LITE}
    reads_lite = any(one.topic in lite for one in group.subscriptions or ())
    if group.message_model == LITE_SELECTIVE or (group.message_model is None and reads_lite):
        problem = f"is {shown(group.consumer_group)}, which is bound to a LITE topic for ever; expected another group"
        raise place.refusal("consumer_group", problem)


def filters_of(group: InventoryGroup, topic: str) -> set[str | None]:
    """The filters that its clients read a topic by; None for clients that do not read it.

    A client without subscriptions has its group's. A group without clients has its own alone.
    """
    of_group = group.subscriptions or ()
    subscriptions = [
        of_group if client.subscriptions is None else client.subscriptions for client in group.clients or ()
    ]
    filters = (
        [filter_text(one.expression_type, one.expression) for one in entries if one.topic == topic]
        for entries in subscriptions or [of_group]
    )
    return {one[0] if one else None for one in filters}


def with_subscription(group: InventoryGroup, new: InventorySubscription) -> InventoryGroup:
    """The group of which every client reads a topic so; its request mode for the topic stays.

    The share of messages that the filter lets through is unknown, because nobody has counted it.
    """
    clients = group.clients and tuple(
        one if one.subscriptions is None else replace(one, subscriptions=_with(one.subscriptions, new))
        for one in group.clients
    )
    ratios = _other_ratios(group, new.topic)
    if new.expression not in EVERYTHING:
        ratios += (PassRatio(topic=new.topic),)
    return replace(
        group, subscriptions=_with(group.subscriptions or (), new), clients=clients, pass_ratios=ratios or None
    )


def without_subscription(group: InventoryGroup, topic: str) -> InventoryGroup:
    """The group of which no client reads a topic; its offsets stay, as on a broker."""
    clients = group.clients and tuple(_without(client, topic) for client in group.clients)
    subscriptions = (
        None if group.subscriptions is None else tuple(one for one in group.subscriptions if one.topic != topic)
    )
    return replace(group, subscriptions=subscriptions, clients=clients, pass_ratios=_other_ratios(group, topic) or None)


def _with(entries: tuple[InventorySubscription, ...], new: InventorySubscription) -> tuple[InventorySubscription, ...]:
    """The entries, in their order, with another filter of the topic, or with the topic at the end."""
    if all(one.topic != new.topic for one in entries):
        return (*entries, new)
    return tuple(
        replace(one, expression_type=new.expression_type, expression=new.expression) if one.topic == new.topic else one
        for one in entries
    )


def _without(client: Client, topic: str) -> Client:
    """The client without its subscription to a topic, and without what it reported about it."""
    subscriptions, status, owned = (
        None if entries is None else tuple(one for one in entries if one.topic != topic)
        for entries in (client.subscriptions, client.status, client.owned_queues)
    )
    return replace(client, subscriptions=subscriptions, status=status, owned_queues=owned)


def _other_ratios(group: InventoryGroup, topic: str) -> tuple[PassRatio, ...]:
    return tuple(one for one in group.pass_ratios or () if one.topic != topic)
