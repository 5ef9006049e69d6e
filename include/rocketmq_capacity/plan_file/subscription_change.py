"""What it means that a group subscribes to a topic, or takes one away, while and after the deployment."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means


class SubscriptionChange(Struct, frozen=True, kw_only=True):
    """One such change."""

    change: Annotated[Literal["subscribe", "unsubscribe"], means("name of the change")]
    consumer_group: Annotated[str, means("the group")]
    topic: Annotated[str, means("the topic")]
    queues: Annotated[int, means("readable queues of the topic")]
    mismatch_s: Annotated[
        float | None,
        means(
            "seconds of the deployment (policy: rollout_s), in which clients of the group read different "
            "topics; null if it has at most one client"
        ),
    ]
    unread_meanwhile: Annotated[
        int | None, means("queues of the topic that nobody may read meanwhile, at most; null if owners are unknown")
    ]
    waiting_messages: Annotated[
        int | None, means("of unsubscribe: messages of the topic that the group leaves unread; null if unknown")
    ] = None
    queues_with_offsets: Annotated[
        int | None, means("of unsubscribe: queues whose offsets stay on the brokers; null if unknown")
    ] = None
    meaning: Annotated[tuple[str, ...], means("what that means, in words")]
