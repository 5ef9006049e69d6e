"""Changes of how a group consumes: its allocation strategy and its request mode."""

from msgspec.structs import replace

from rocketmq_capacity.errors import shown
from rocketmq_capacity.simulation.parts import group_of, topics_read, with_group, without_ownership
from rocketmq_capacity.simulation.place import Place
from rocketmq_capacity.simulation.scenario import SetRequestMode, SetStrategy
from rocketmq_capacity.snapshot.inventory import ConsumerGroup, Inventory, Subscription
from rocketmq_capacity.snapshot.read import Read
from rocketmq_capacity.vocabulary import DEFAULT_POP_SHARE, GRPC, POP, RETRY_PREFIX


def set_strategy(inventory: Inventory, change: SetStrategy, place: Place) -> Inventory:
    """The group with clients that all report this strategy.

    Errors: :class:`BadInput` for an unknown group, or one whose clients are all gRPC ones.
    """
    group = _dividing(inventory, change.consumer_group, place)
    clients = group.clients or ()
    if all(client.allocate_strategy == change.strategy for client in clients):
        return inventory
    changed = tuple(replace(client, allocate_strategy=change.strategy) for client in clients)
    return with_group(inventory, without_ownership(replace(group, clients=changed)))


def set_request_mode(inventory: Inventory, change: SetRequestMode, place: Place) -> Inventory:
    """The group with this mode in its subscription to the topic; without a share number the entry keeps its own.

    Errors: :class:`BadInput` for an unknown group, one whose clients are all gRPC ones, a topic that the group does not
    read, or a retry topic (QueryAssignmentProcessor.setMessageRequestMode refuses it, rocketmq-all-5.3.3).
    """
    group = _dividing(inventory, change.consumer_group, place)
    place.check_known("topic", change.topic, topics_read(group), "topic of the group")
    if change.topic.startswith(RETRY_PREFIX):
        raise place.refusal("topic", f"is {shown(change.topic)}; RocketMQ sets no request mode for retry topics")
    old = _subscription(group, change.topic)
    share = old.pop_share_queue_num if change.pop_share_queue_num is None else change.pop_share_queue_num
    new = replace(old, message_request_mode=change.message_request_mode, pop_share_queue_num=share)
    if _effective(group, new) == _effective(group, old):
        return inventory
    entries = {subscription.topic: subscription for subscription in group.subscriptions or ()} | {new.topic: new}
    return with_group(inventory, without_ownership(replace(group, subscriptions=tuple(entries.values()))))


def _dividing(inventory: Inventory, name: str, place: Place) -> ConsumerGroup:
    """The group of this name. Errors: BadInput if it has only gRPC clients, which run no strategy and no mode."""
    group = group_of(inventory, name, place)
    if group.clients and all(client.protocol == GRPC for client in group.clients):
        raise place.refusal(
            "consumer_group", f"is {shown(name)}, whose clients are gRPC ones; expected one of other clients"
        )
    return group


def _subscription(group: ConsumerGroup, topic: str) -> Subscription:
    """The group's subscription to a topic; if only clients have one, the first filter of theirs."""
    own = (subscription for subscription in group.subscriptions or () if subscription.topic == topic)
    clients = (s for client in group.clients or () for s in client.subscriptions or () if s.topic == topic)
    theirs = sorted(clients, key=lambda s: (s.expression_type or "", s.expression or ""))
    first = theirs[0] if theirs else Subscription(topic=topic)
    entry = Subscription(topic=topic, expression_type=first.expression_type, expression=first.expression)
    return next(own, entry)


def _effective(group: ConsumerGroup, subscription: Subscription) -> tuple[str, int]:
    """The mode and the share number of a topic; without POP all share numbers count as equal."""
    read = Read(group, subscription.topic, subscription)
    mode = read.message_request_mode
    return mode, read.pop_share_queue_num if mode == POP else DEFAULT_POP_SHARE
