"""What a lost name server means: which clients have which route until when, and what stops."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.numbers import JsonObject

Loss = Literal["SILENT", "KILL", "CUT_OFF"]
"""How a name server is lost.

SILENT: its machine or its network is gone, and no connection is closed. KILL: its process ends, and the system closes
its connections. CUT_OFF: brokers do not reach it any more, but clients do."""
Asking = Literal["ASK_ANOTHER", "ASK_IT", "KNOW_IT_ALONE", "NEW"]
HeldRoute = Literal["CURRENT", "AS_BEFORE", "SHRINKING", "LAST", "NONE"]


class RouteSpan(Struct, frozen=True, kw_only=True):
    """Which route some clients have for some time; in seconds since the loss."""

    clients: Annotated[
        Asking,
        means(
            "that ask another name server, that ask this one (if it is dead: and know others), that know "
            "this one alone, or that start after the loss"
        ),
    ]
    from_s: Annotated[float, means("begin, at the earliest")]
    until_s: Annotated[float | None, means("end, at the latest; null: until the name server is back")]
    route: Annotated[
        HeldRoute,
        means(
            "CURRENT, AS_BEFORE (the loss), SHRINKING (without the brokers that are expired so far), LAST "
            "(the last one that the client got) or NONE"
        ),
    ]
    meaning: Annotated[str, means("what that means for these clients, in words")]


class PartialLists(Struct, frozen=True, kw_only=True):
    """Topics of which clients may keep a list of queues that lacks brokers, because these expire one by one."""

    topics: Annotated[int, means("business topics with readable queues on several brokers")]
    topic_names: Annotated[tuple[str, ...], means("the first of them, by name")]
    queues: Annotated[int, means("their readable queues: any of them may be unread, or read twice")]
    groups: Annotated[int, means("groups that read them")]
    group_names: Annotated[tuple[str, ...], means("the first of them, by name")]


class LostNameserver(Struct, frozen=True, kw_only=True):
    """A name server that is dead, or cut off from the brokers. Times are in seconds."""

    nameserver_addr: Annotated[str, means("host:port")]
    loss: Annotated[
        Loss,
        means(
            "SILENT (its machine or network is gone), KILL (its process ends) or CUT_OFF (brokers do not "
            "reach it, clients do)"
        ),
    ]
    nameservers_left: Annotated[tuple[str, ...], means("name servers that are left after all changes")]
    lost_brokers: Annotated[
        tuple[str, ...] | None,
        means("brokers that register only with lost ones, if others are left; null if a broker does not tell"),
    ]
    expires_first_s: Annotated[
        float | None, means("when it expires the first broker, at the earliest; null unless it is CUT_OFF")
    ]
    expires_last_s: Annotated[float | None, means("when it has expired every broker, at the latest")]
    back_s: Annotated[float, means("after it is back: until every client that asks it has all routes, at the latest")]
    routes: Annotated[tuple[RouteSpan, ...], means("who has which route, and until when")]
    goes_on: Annotated[tuple[str, ...], means("what goes on, in words")]
    stops: Annotated[tuple[str, ...], means("what stops, in words")]
    advice: Annotated[tuple[str, ...], means("what to do, in words")]
    partial_lists: Annotated[PartialLists | None, means("null unless it is CUT_OFF")]
    timers: Annotated[JsonObject, means("the timers behind the figures, in seconds")]
