"""Ordered messages that go to other queues after a what-if's changes."""

from typing import Annotated

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.before_after import BeforeAfterCount


class OrderedTopic(Struct, frozen=True, kw_only=True):
    """A topic that is consumed in order, and whose writable queues change."""

    topic: Annotated[str, means("the topic")]
    write_queues: Annotated[BeforeAfterCount, means("queues that producers see")]
    moved_message_groups_ratio: Annotated[
        float | None,
        means("share of message groups that a Proxy sends to another queue; null for a topic without them"),
    ]
    moved_keys_ratio: Annotated[
        float, means("share of keys that producers with SelectMessageQueueByHash send to another queue")
    ]
    meaning: Annotated[str, means("the same in words")]
