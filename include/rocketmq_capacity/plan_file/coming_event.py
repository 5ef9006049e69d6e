"""A known event that is not over, and the groups that are not known to have enough clients for it."""

from typing import Annotated, Literal

from msgspec import Struct

from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.plan_file.group import Utilisation


class EventGroup(Struct, frozen=True, kw_only=True):
    """A group that has too few clients for an event, or of which that is unknown."""

    consumer_group: Annotated[str, means("name of the consumer group")]
    status: Annotated[Literal["TOO_FEW", "UNDECIDED"], means("TOO_FEW clients, or UNDECIDED")]
    utilisation: Annotated[
        Utilisation | None, means("busy share of its busiest client then, 1 is always busy; null if unknown")
    ]
    clients: Annotated[int, means("of the group today")]
    needed_clients: Annotated[
        int | None, means("that are enough; null if unknown, or if more clients alone are not enough")
    ]


class ComingEvent(Struct, frozen=True, kw_only=True, rename={"begins": "from", "ends": "to"}):
    """An event of the policy's calendar that is not over, and what it does to the groups of its topics."""

    name: Annotated[str, means("its name in the policy")]
    begins: Annotated[str, means("its first moment, UTC ISO-8601")]
    ends: Annotated[str, means("its end, UTC ISO-8601")]
    topics: Annotated[str | None, means("pattern of the names of its topics; null is every topic")]
    factor: Annotated[float, means("how many times the messages of the peak come to them")]
    enough: Annotated[int, means("number of groups that have enough clients for it")]
    groups: Annotated[tuple[EventGroup, ...], means("the others that read its topics, the busiest first")]
