"""A topic that a group reads, and how."""

from typing import NamedTuple

from rocketmq_capacity.snapshot.inventory import InventoryGroup, InventorySubscription
from rocketmq_capacity.vocabulary import DEFAULT_POP_SHARE, DEFAULT_REQUEST_MODE, POP


class Read(NamedTuple):
    """A topic that a group reads, with the group's own subscription to it, if there is one."""

    group: InventoryGroup
    topic: str
    subscription: InventorySubscription | None
    is_proxied: bool = False
    """All consumers of the group are behind a Proxy, so they pop, whatever mode the broker has for the topic."""

    @property
    def message_request_mode(self) -> str:
        """The topic's own mode, else the group's, else RocketMQ's default."""
        if self.is_proxied:
            return POP
        mode = self.subscription.message_request_mode if self.subscription else None
        return mode or self.group.message_request_mode or DEFAULT_REQUEST_MODE

    @property
    def pop_share_queue_num(self) -> int:
        """The topic's own number, else the group's, else RocketMQ's default."""
        if self.is_proxied:
            return DEFAULT_POP_SHARE
        number = self.subscription.pop_share_queue_num if self.subscription else None
        share = self.group.pop_share_queue_num if number is None else number
        return DEFAULT_POP_SHARE if share is None else share
