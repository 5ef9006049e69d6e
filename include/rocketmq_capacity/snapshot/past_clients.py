"""How many clients read each topic in the inventories of the history."""

from collections.abc import Sequence
from typing import Final

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, parse_utc

DAY_S: Final = 86_400


def most_clients(history: Sequence[Inventory]) -> dict[str, int | None]:
    """By topic, the most different client ids of a group that subscribed to it or had offsets on it.

    None if an inventory does not say who the clients of such a group were.
    """
    most: dict[str, int | None] = {}
    for inventory in history:
        for group in inventory.consumer_groups:
            clients = None if group.clients is None else len({client.client_id for client in group.clients})
            for topic in _topics(group):
                so_far = most.get(topic, 0)
                most[topic] = None if clients is None or so_far is None else max(so_far, clients)
    return most


def days_of(inventory: Inventory, history: Sequence[Inventory]) -> float:
    """Days from the oldest inventory of the history to this one; 0 without a history."""
    if not history:
        return 0.0
    oldest = min(parse_utc(one.taken_at) for one in history)
    return (parse_utc(inventory.taken_at) - oldest).total_seconds() / DAY_S


def _topics(group: InventoryGroup) -> set[str]:
    of_clients = (one.topic for client in group.clients or () for one in client.subscriptions or ())
    return {*(one.topic for one in group.subscriptions or ()), *of_clients, *(one.topic for one in group.offsets or ())}
