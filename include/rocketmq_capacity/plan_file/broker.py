"""A broker of the plan: what it stores and what it can."""

from typing import Annotated, Literal

from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.client_cost import ClientRequests, PoolUse
from rocketmq_capacity.vocabulary import Breaks


class DiskLevel(Struct, frozen=True, kw_only=True):
    """When a disk that fills reaches a level."""

    used_ratio: Annotated[float, means("the level: used share of the disk")]
    earliest_days: Annotated[float, means("days until then, at the earliest; 0 if it is reached")]
    likely_days: Annotated[float, means("the same, most likely")]
    latest_days: Annotated[float | None, means("the same, at the latest; null if perhaps never")] = None


class DiskForecast(Struct, frozen=True, kw_only=True):
    """How a disk fills, by the trend of its used share over days."""

    known_days: Annotated[int, means("days of which the used share is known")]
    per_day_ratio: Annotated[float, means("share of the disk that is used more each day")]
    least_per_day_ratio: Annotated[float, means("the same at least, with 95 % confidence")]
    most_per_day_ratio: Annotated[float, means("the same at most")]
    levels: Annotated[
        tuple[DiskLevel, ...],
        means("above 0.75 RocketMQ deletes early, above 0.85 at once, and above 0.9 it refuses messages"),
    ]


class BrokerPlan(Struct, frozen=True, kw_only=True):
    """How much a master stores, how much it can, and what the loss of another broker adds; null is unknown."""

    broker_name: Annotated[str, means("name of the broker")]
    topics: Annotated[int, means("business topics that have queues there")]
    put_msgs_per_s: Annotated[float | None, means("messages a second that it stores, of all topics")]
    put_bytes_per_s: Annotated[float | None, means("the same in bytes")]
    most_msgs_per_s: Annotated[float | None, means("messages a second that it can store")]
    most_bytes_per_s: Annotated[float | None, means("bytes a second that it can store")]
    most_source: Annotated[
        Literal["TOLD", "SEEN"] | None,
        means("TOLD by the policy, or SEEN: the most in the history; it may be able to store more"),
    ]
    busy_ratio: Annotated[float | None, means("what it stores / what it can")]
    bytes_per_day: Annotated[float | None, means("bytes of messages that it stores a day")]
    kept_bytes: Annotated[float | None, means("bytes of messages after its whole retention")]
    room_bytes: Annotated[float | None, means("bytes of messages that its disk takes before it deletes them early")]
    disk_days: Annotated[float | None, means("days until it deletes early; null if never, or unknown")]
    disk_forecast: Annotated[
        DiskForecast | UnsetType,
        means("how its disk fills by the trend of at least seven days; only if it fills for certain"),
    ] = UNSET
    worst_loss: Annotated[str | None, means("the other broker whose loss adds most to it")]
    loss_msgs_per_s: Annotated[float | None, means("messages a second that it then stores")]
    loss_ratio: Annotated[float | None, means("`busy_ratio` then")]
    headroom_factor: Annotated[float | None, means("so many times its traffic until something breaks")]
    headroom_breaks: Annotated[Breaks | None, means("what breaks first")]
    clients: Annotated[ClientRequests | None, means("what clients ask of it; null in plans of earlier versions")] = None
    counted_reads_per_s: Annotated[
        float | None, means("look-ups in its queues, as it counts them itself; a pull or a pop that waits makes two")
    ] = None
    pools: Annotated[tuple[PoolUse, ...], means("its thread pools that answer clients, by name; none if unknown")] = ()
