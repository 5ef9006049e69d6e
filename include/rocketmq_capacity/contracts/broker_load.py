"""Dataset ``broker_load``."""

from typing import Annotated, ClassVar

from msgspec import Meta

from rocketmq_capacity.contracts.dataset import Amount, Count, Dataset, one_of


class BrokerLoad(Dataset, frozen=True, kw_only=True):
    """How much each master stores, how much it can, and what the loss of another broker adds.

    Grain: one row a master.
    Units: messages and bytes a second, bytes, days; ratios are parts of 1.
    """

    KEY: ClassVar[tuple[str, ...]] = ("broker_name",)

    broker_name: Annotated[str, Meta(description="name of the broker")]
    topics: Annotated[Count, Meta(description="business topics that have queues there")]
    topic_msgs_per_s: Annotated[
        Amount | None, Meta(description="messages a second written to these topics there; null if unknown")
    ] = None
    put_msgs_per_s: Annotated[
        Amount | None,
        Meta(description="messages a second that it stores, of all topics, as it says itself; else `topic_msgs_per_s`"),
    ] = None
    put_bytes_per_s: Annotated[
        Amount | None, Meta(description="the same in bytes, by the mean size of its messages")
    ] = None
    most_msgs_per_s: Annotated[
        Amount | None, Meta(description="messages a second that it can store; null if unknown")
    ] = None
    most_bytes_per_s: Annotated[
        Amount | None, Meta(description="bytes a second that it can store; null if unknown")
    ] = None
    most_source: Annotated[
        str | None,
        one_of("TOLD", "SEEN"),
        Meta(
            description="TOLD (by the policy) or SEEN (the most in the history: it may be able to store more); else null"
        ),
    ] = None
    busy_ratio: Annotated[
        Amount | None, Meta(description="what it stores / what it can, the larger one of messages and bytes")
    ] = None
    bytes_per_day: Annotated[Amount | None, Meta(description="bytes of messages that it stores a day")] = None
    kept_bytes: Annotated[
        Amount | None, Meta(description="bytes of messages once it has stored so much for its whole retention")
    ] = None
    room_bytes: Annotated[
        Amount | None, Meta(description="bytes of messages that its disk takes before messages are deleted early")
    ] = None
    disk_days: Annotated[
        Amount | None, Meta(description="days until messages are deleted early; null if never, or unknown")
    ] = None
    worst_loss: Annotated[str | None, Meta(description="the other broker whose loss adds most to it")] = None
    loss_msgs_per_s: Annotated[Amount | None, Meta(description="messages a second that it then stores")] = None
    loss_ratio: Annotated[Amount | None, Meta(description="`busy_ratio` then")] = None
    headroom_factor: Annotated[
        Amount | None, Meta(description="so many times its traffic until something breaks; null if unknown")
    ] = None
    headroom_breaks: Annotated[
        str | None,
        one_of("PUT_MESSAGES", "PUT_BYTES", "DISK"),
        Meta(description="what breaks first: PUT_MESSAGES, PUT_BYTES or DISK"),
    ] = None
