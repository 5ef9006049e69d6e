"""When groups that have no clients now last had some, as the history and the hours of samples tell."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from rocketmq_capacity.model.facts import LastClients
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, parse_utc

USUAL: Final = 0.9
"""The share of the moments until then in which a group that runs all the time had clients; a job that comes and goes
has less, and an outage or two leave more."""


def last_clients(inventory: Inventory, history: Sequence[Inventory]) -> dict[str, LastClients]:
    """By group that usually had clients and has none now: how many it had last, and how long ago.

    A group that is without clients now and then may be a job, and is missing; so is each group if a server did not say
    who its clients are. A moment without clients counts only if the group had read before.

    Args:
        inventory: the cluster now.
        history: earlier inventories without failures, oldest first.
    """
    now = inventory.taken_at_utc
    if inventory.unanswered:
        return {}
    gone = {one.consumer_group: one for one in inventory.consumer_groups if one.clients == ()}
    courses = {name: list(_hours(group, now)) for name, group in gone.items()}
    for earlier in history:
        for group in earlier.consumer_groups if gone else ():
            if group.consumer_group in gone and group.clients is not None and (group.clients or _has_read(group)):
                clients = len({client.client_id for client in group.clients})
                courses[group.consumer_group].append((earlier.taken_at_utc, clients))
    last = ((name, _last(course, now)) for name, course in courses.items())
    return {name: one for name, one in last if one is not None}


def _hours(group: InventoryGroup, now: datetime) -> Iterator[tuple[datetime, int]]:
    """The begin of each hour of the group's samples, and the most clients that it had in that hour."""
    if group.hourly is not None:
        first = parse_utc(group.hourly.first_at)
        for hour, clients in enumerate(group.hourly.clients):
            at = first + timedelta(hours=hour)
            if clients is not None and at < now:
                yield at, clients


def _has_read(group: InventoryGroup) -> bool:
    return any(one.consumer_offset is not None for one in group.offsets or ())


def _last(course: Sequence[tuple[datetime, int]], now: datetime) -> LastClients | None:
    seen = [moment for moment in course if moment[1]]
    if not seen:
        return None
    at, clients = max(seen)
    before = sum(moment[0] <= at for moment in course)
    return LastClients(clients=clients, ago_s=(now - at).total_seconds()) if len(seen) >= USUAL * before else None
