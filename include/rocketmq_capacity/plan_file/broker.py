"""A broker of the plan: what it stores and what it can."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from rocketmq_capacity.plan_file.client_cost import ClientRequests, PoolUse
from rocketmq_capacity.vocabulary import Breaks


class BrokerPlan(Struct, frozen=True, kw_only=True):
    """How much a master stores, how much it can, and what the loss of another broker adds; null is unknown."""

    broker_name: Annotated[str, Meta(description="name of the broker")]
    topics: Annotated[int, Meta(description="business topics that have queues there")]
    put_msgs_per_s: Annotated[float | None, Meta(description="messages a second that it stores, of all topics")]
    put_bytes_per_s: Annotated[float | None, Meta(description="the same in bytes")]
    most_msgs_per_s: Annotated[float | None, Meta(description="messages a second that it can store")]
    most_bytes_per_s: Annotated[float | None, Meta(description="bytes a second that it can store")]
    most_source: Annotated[
        Literal["TOLD", "SEEN"] | None,
        Meta(description="TOLD by the policy, or SEEN: the most in the history; it may be able to store more"),
    ]
    busy_ratio: Annotated[float | None, Meta(description="what it stores / what it can")]
    bytes_per_day: Annotated[float | None, Meta(description="bytes of messages that it stores a day")]
    kept_bytes: Annotated[float | None, Meta(description="bytes of messages after its whole retention")]
    room_bytes: Annotated[
        float | None, Meta(description="bytes of messages that its disk takes before it deletes them early")
    ]
    disk_days: Annotated[float | None, Meta(description="days until it deletes early; null if never, or unknown")]
    worst_loss: Annotated[str | None, Meta(description="the other broker whose loss adds most to it")]
    loss_msgs_per_s: Annotated[float | None, Meta(description="messages a second that it then stores")]
    loss_ratio: Annotated[float | None, Meta(description="`busy_ratio` then")]
    headroom_factor: Annotated[float | None, Meta(description="so many times its traffic until something breaks")]
    headroom_breaks: Annotated[Breaks | None, Meta(description="what breaks first")]
    clients: Annotated[
        ClientRequests | None, Meta(description="what clients ask of it; null in plans of earlier versions")
    ] = None
    counted_reads_per_s: Annotated[
        float | None,
        Meta(description="look-ups in its queues, as it counts them itself; a pull or a pop that waits makes two"),
    ] = None
    pools: Annotated[
        tuple[PoolUse, ...], Meta(description="its thread pools that answer clients, by name; none if unknown")
    ] = ()
