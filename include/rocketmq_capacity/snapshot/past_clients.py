"""How many clients groups had, as the history and the hours of samples tell."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Final

from rocketmq_capacity.model.facts import LastClients
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, parse_utc
from rocketmq_capacity.snapshot.seconds import days_between

USUAL: Final = 0.9
"""The share of the moments until then in which a group that runs all the time had clients; a job that comes and goes
has less, and an outage or two leave more."""


def most_clients(inventory: Inventory, history: Sequence[Inventory]) -> dict[str, int | None]:
    """By topic, the most different client ids of a group that subscribed to it or had offsets on it.

    None if an inventory of the history does not say who the clients of such a group were.

    Args:
        inventory: the cluster now; its hours of samples count.
        history: earlier inventories without failures, oldest first.
    """
    counts = [(group, _distinct(group)) for earlier in history for group in earlier.consumer_groups]
    for group in inventory.consumer_groups:
        sampled = [clients for _, clients in _hours(group, inventory.taken_at_utc)]
        counts += [(group, max(sampled))] if sampled else []
    most: dict[str, int | None] = {}
    for group, clients in counts:
        for topic in _topics(group):
            so_far = most.get(topic, 0)
            most[topic] = None if clients is None or so_far is None else max(so_far, clients)
    return most


def days_of(inventory: Inventory, history: Sequence[Inventory]) -> float:
    """Days from the oldest inventory of the history to this one; 0 without a history."""
    return days_between(min(one.taken_at_utc for one in history), inventory.taken_at_utc) if history else 0.0


def _distinct(group: InventoryGroup) -> int | None:
    return None if group.clients is None else len({client.client_id for client in group.clients})


def _topics(group: InventoryGroup) -> set[str]:
    of_clients = (one.topic for client in group.clients or () for one in client.subscriptions or ())
    return {*(one.topic for one in group.subscriptions or ()), *of_clients, *(one.topic for one in group.offsets or ())}


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
            clients = _distinct(group) if group.consumer_group in gone else None
            if clients is not None and (clients or has_read(group)):
                courses[group.consumer_group].append((earlier.taken_at_utc, clients))
    last = ((name, _last(course, now)) for name, course in courses.items())
    return {name: one for name, one in last if one is not None}


def last_sampled_clients(group: InventoryGroup, now: datetime) -> datetime | None:
    """The end of the last hour in which a sample saw a client of the group; None if none did."""
    return max((at + timedelta(hours=1) for at, clients in _hours(group, now) if clients), default=None)


def _hours(group: InventoryGroup, now: datetime) -> Iterator[tuple[datetime, int]]:
    """The begin of each hour of the group's samples, and the most clients that it had in that hour."""
    if group.hourly is not None:
        first = parse_utc(group.hourly.first_at)
        for hour, clients in enumerate(group.hourly.clients):
            at = first + timedelta(hours=hour)
            if clients is not None and at < now:
                yield at, clients


def has_read(group: InventoryGroup) -> bool:
    """Whether the group has committed an offset."""
    return any(one.consumer_offset is not None for one in group.offsets or ())


def _last(course: Sequence[tuple[datetime, int]], now: datetime) -> LastClients | None:
    seen = [moment for moment in course if moment[1]]
    if not seen:
        return None
    at, clients = max(seen)
    before = sum(moment[0] <= at for moment in course)
    return LastClients(clients=clients, ago_s=(now - at).total_seconds()) if len(seen) >= USUAL * before else None
