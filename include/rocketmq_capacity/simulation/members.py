"""Changes of a group's members: clients that come and clients that go."""

from collections import Counter
from collections.abc import Sequence

from msgspec.structs import replace

from rocketmq_capacity.errors import shown
from rocketmq_capacity.simulation.newcomer import newcomers
from rocketmq_capacity.simulation.parts import group_of, with_group, without_ownership
from rocketmq_capacity.simulation.place import Place
from rocketmq_capacity.simulation.scenario import AddClients, RemoveClients
from rocketmq_capacity.snapshot.inventory import Client, ConsumerGroup, Inventory
from rocketmq_capacity.vocabulary import java_order


def add_clients(inventory: Inventory, change: AddClients, place: Place) -> Inventory:
    """The group with more consumers, each like the typical one; an existing id becomes a duplicate.

    Errors: :class:`BadInput` for an unknown group.
    """
    group = group_of(inventory, change.consumer_group, place)
    ids = change.client_ids or _made_up_ids(group, change.count or 0)
    if not ids:
        return inventory
    added = newcomers(group, ids, inventory)
    return with_group(inventory, without_ownership(replace(group, clients=(*(group.clients or ()), *added))))


def remove_clients(inventory: Inventory, change: RemoveClients, place: Place) -> Inventory:
    """The group with fewer consumers: one for each mention of an id, or the last ``count`` in Java's order.

    Of consumers with equal ids, the last one in the inventory leaves first.
    Errors: :class:`BadInput` for an unknown group or id, or for more consumers than there are.
    """
    group = group_of(inventory, change.consumer_group, place)
    clients = group.clients or ()
    if change.client_ids is None:
        leaving = _last_in_java_order(clients, change.count or 0, place)
    else:
        leaving = _named(clients, change.client_ids, place)
    if not leaving:
        return inventory
    staying = tuple(client for index, client in enumerate(clients) if index not in leaving)
    return with_group(inventory, without_ownership(replace(group, clients=staying)))


def _made_up_ids(group: ConsumerGroup, count: int) -> list[str]:
    """New ids for the group that are recognisable as made up.

    They have no hyphen, because a room rule such as ``^(?P<room>[a-z]+)-`` would find a machine room in it.
    """
    taken = {client.client_id for client in group.clients or ()}
    ids: list[str] = []
    number = 0
    while len(ids) < count:
        number += 1
        if (client_id := f"what_if_{number}@{group.consumer_group}") not in taken:
            ids.append(client_id)
    return ids


def _last_in_java_order(clients: Sequence[Client], count: int, place: Place) -> set[int]:
    if count > len(clients):
        raise place.refusal("count", f"is {count}; expected at most {len(clients)}, the clients that the group has")
    order = sorted(range(len(clients)), key=lambda index: (java_order(clients[index].client_id), index))
    return set(order[len(order) - count :])


def _named(clients: Sequence[Client], client_ids: Sequence[str], place: Place) -> set[int]:
    places: dict[str, list[int]] = {}
    for index, client in enumerate(clients):
        places.setdefault(client.client_id, []).append(index)
    mentions: Counter[str] = Counter()
    for k, client_id in enumerate(client_ids):
        place.check_known(f"client_ids[{k}]", client_id, places, "client of the group")
        mentions[client_id] += 1
        if mentions[client_id] > len(places[client_id]):
            problem = f"is {shown(client_id)} once more than the group has it ({len(places[client_id])})"
            raise place.refusal(f"client_ids[{k}]", problem)
    return {index for client_id, times in mentions.items() for index in places[client_id][-times:]}
