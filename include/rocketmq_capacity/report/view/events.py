"""Known events that are not over, and the groups that need more clients for them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rocketmq_capacity.plan_file.coming_event import ComingEvent, EventGroup
from rocketmq_capacity.report.figures import factor, number, per_cent, when
from rocketmq_capacity.report.limits import SAVINGS
from rocketmq_capacity.report.view.answers import Link
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.vocabulary import TOO_FEW


@dataclass(frozen=True, slots=True)
class EventLine:
    """A group at an event."""

    group: Link
    busy: str
    clients: int
    needed: str
    is_short: bool
    """Whether it is known to have too few clients."""


@dataclass(frozen=True, slots=True)
class EventView:
    """An event; ``lines`` are the groups that are not known to have enough clients."""

    name: str
    begins: str
    ends: str
    factor: str
    topics: str | None
    enough: int
    lines: First[EventLine]


def event_views(events: Sequence[ComingEvent], group_anchors: Mapping[str, str]) -> tuple[EventView, ...]:
    """The plan's ``events``, in time."""
    return tuple(
        EventView(
            name=one.name,
            begins=when(one.begins),
            ends=when(one.ends),
            factor=factor(one.factor),
            topics=one.topics,
            enough=one.enough,
            lines=First((_line(group, group_anchors) for group in one.groups[:SAVINGS]), len(one.groups)),
        )
        for one in events
    )


def _line(group: EventGroup, group_anchors: Mapping[str, str]) -> EventLine:
    is_short = group.status == TOO_FEW
    unknown = "no number is known to be enough" if is_short else "unknown"
    return EventLine(
        group=Link(group.consumer_group, group_anchors.get(group.consumer_group)),
        busy=per_cent(None if group.utilisation is None else group.utilisation.estimate),
        clients=group.clients,
        needed=unknown if group.needed_clients is None else number(group.needed_clients),
        is_short=is_short,
    )
