"""A broker of the plan: what it stores and what it can."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from rocketmq_capacity.plan_file.client_cost import ClientRequests, PoolUse
from rocketmq_capacity.vocabulary import Breaks


class DiskLevel(Struct, frozen=True, kw_only=True):
    """When a disk that fills reaches a level."""

    used_ratio: Annotated[float, Meta(description="the level: used share of the disk")]
    earliest_days: Annotated[float, Meta(description="days until then, at the earliest; 0 if it is reached")]
    likely_days: Annotated[float, Meta(description="the same, most likely")]
    latest_days: Annotated[float | None, Meta(description="the same, at the latest; null if perhaps never")] = None


class DiskForecast(Struct, frozen=True, kw_only=True):
    """How a disk fills, by the trend of its used share over days."""

    known_days: Annotated[int, Meta(description="days of which the used share is known")]
    per_day_ratio: Annotated[float, Meta(description="share of the disk that is used more each day")]
    least_per_day_ratio: Annotated[float, Meta(description="the same at least, with 95 % confidence")]
    most_per_day_ratio: Annotated[float, Meta(description="the same at most")]
    levels: Annotated[
        tuple[DiskLevel, ...],
        Meta(description="above 0.75 RocketMQ deletes early, above 0.85 at once, and above 0.9 it refuses messages"),
    ]


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
    disk_forecast: Annotated[
        DiskForecast | UnsetType,
        Meta(description="how its disk fills by the trend of at least seven days; only if it fills for certain"),
    ] = UNSET
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
