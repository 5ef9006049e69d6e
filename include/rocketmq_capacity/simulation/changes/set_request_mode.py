"""The change `set_request_mode`."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import Group, ScenarioChange, TopicName
from rocketmq_capacity.simulation.parts import dividing_group, topics_read, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventorySubscription
from rocketmq_capacity.snapshot.read import Read
from rocketmq_capacity.vocabulary import DEFAULT_POP_SHARE, POP, RETRY_PREFIX, RequestMode


class SetRequestMode(ScenarioChange):
    """Another request mode of a group for a topic, as ``mqadmin setConsumeMode`` sets it."""

    EXAMPLE = "consumer_group: {group}, topic: {topic}, message_request_mode: POP"
    ALTERS = "owners"

    change: Literal["set_request_mode"]
    consumer_group: Group
    topic: TopicName
    message_request_mode: Annotated[RequestMode, Field(title="Request mode")]
    pop_share_queue_num: (
        Annotated[int, Field(ge=-(2**31), le=2**31 - 1, title="POP share", description="-1 is all queues")] | None
    ) = None

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group with this mode in its subscription to the topic; without a share number the entry keeps its own.

        Errors: :class:`BadInput` for an unknown group, one whose clients are all gRPC ones, a topic that the group
        does not read, or a retry topic (QueryAssignmentProcessor.setMessageRequestMode refuses it, rocketmq-all-5.3.3).
        """
        group = dividing_group(inventory, self.consumer_group, place)
        place.check_known("topic", self.topic, topics_read(group), "topic of the group")
        if self.topic.startswith(RETRY_PREFIX):
            raise place.refusal("topic", f"is {shown(self.topic)}; RocketMQ sets no request mode for retry topics")
        old = _subscription(group, self.topic)
        share = old.pop_share_queue_num if self.pop_share_queue_num is None else self.pop_share_queue_num
        new = replace(old, message_request_mode=self.message_request_mode, pop_share_queue_num=share)
        if _effective(group, new) == _effective(group, old):
            return inventory
        entries = {subscription.topic: subscription for subscription in group.subscriptions or ()} | {new.topic: new}
        return with_group(inventory, without_ownership(replace(group, subscriptions=tuple(entries.values()))))


def _subscription(group: InventoryGroup, topic: str) -> InventorySubscription:
    """The group's subscription to a topic; if only clients have one, the first filter of theirs."""
    of_group = (subscription for subscription in group.subscriptions or () if subscription.topic == topic)
    clients = (s for client in group.clients or () for s in client.subscriptions or () if s.topic == topic)
    theirs = sorted(clients, key=lambda s: (s.expression_type or "", s.expression or ""))
    first = theirs[0] if theirs else InventorySubscription(topic=topic)
    entry = InventorySubscription(topic=topic, expression_type=first.expression_type, expression=first.expression)
    return next(of_group, entry)


def _effective(group: InventoryGroup, subscription: InventorySubscription) -> tuple[str, int]:
    """The mode and the share number of a topic; without POP all share numbers count as equal."""
    read = Read(group, subscription.topic, subscription)
    mode = read.message_request_mode
    return mode, read.pop_share_queue_num if mode == POP else DEFAULT_POP_SHARE
