"""The coming events of the policy's calendar, and the groups that are not known to have enough clients for them."""

from collections.abc import Sequence

from rocketmq_capacity.plan_file.coming_event import ComingEvent, EventGroup
from rocketmq_capacity.plan_file.group import Utilisation
from rocketmq_capacity.settings.events import Event, coming_events
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.tables.assess.events import EventNeed
from rocketmq_capacity.vocabulary import ENOUGH, TOO_FEW, UNDECIDED, java_order


def events_of(rows: Sequence[EventNeed], events: Sequence[Event], taken_at: str) -> tuple[ComingEvent, ...]:
    """The events that are not over, in time; of each the groups by status, the busiest first."""
    needs: dict[str, list[EventNeed]] = {}
    for row in rows:
        needs.setdefault(row.event, []).append(row)
    return tuple(
        ComingEvent(
            name=event.name,
            begins=utc_text(event.begins),
            ends=utc_text(event.ends),
            topics=event.topics,
            factor=event.factor,
            enough=sum(row.status == ENOUGH for row in needs.get(event.name, ())),
            groups=tuple(_group(row) for row in sorted(needs.get(event.name, ()), key=_order) if row.status != ENOUGH),
        )
        for event in coming_events(events, taken_at)
    )


def _order(row: EventNeed) -> tuple[bool, float, bytes]:
    return row.status != TOO_FEW, -(row.busy_ratio or 0.0), java_order(row.consumer_group)


def _group(row: EventNeed) -> EventGroup:
    return EventGroup(
        consumer_group=row.consumer_group,
        status=TOO_FEW if row.status == TOO_FEW else UNDECIDED,
        utilisation=Utilisation.of(row.busy_lower, row.busy_ratio, row.busy_upper),
        clients=row.clients,
        needed_clients=row.needed_clients,
    )
