"""The change `remove_clients`."""

from collections import Counter
from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import ChangeOfClients, Ending, HowTheyEnd
from rocketmq_capacity.simulation.parts import group_of, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Client, Inventory
from rocketmq_capacity.vocabulary import java_order


class RemoveClients(ChangeOfClients):
    """Consumers of a group that leave: one for each mention of an id, or the last ``count`` in Java's order."""

    EXAMPLE = "consumer_group: {group}, client_ids: [{client}]"

    change: Literal["remove_clients"]
    ending: HowTheyEnd = "SHUTDOWN"

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group with fewer consumers: one for each mention of an id, or the last ``count`` in Java's order.

        Of consumers with equal ids, the last one in the inventory leaves first.
        Errors: :class:`BadInput` for an unknown group or id, or for more consumers than there are.
        """
        group = group_of(inventory, self.consumer_group, place)
        clients = group.clients or ()
        if self.client_ids is None:
            leaving = _last_in_java_order(clients, self.count or 0, place)
        else:
            leaving = _named(clients, self.client_ids, place)
        if not leaving:
            return inventory
        staying = tuple(client for index, client in enumerate(clients) if index not in leaving)
        return with_group(inventory, without_ownership(replace(group, clients=staying)))

    @property
    def ends(self) -> Ending:
        """How the clients end."""
        return self.ending


def _last_in_java_order(clients: Sequence[Client], count: int, place: ChangePlace) -> set[int]:
    if count > len(clients):
        raise place.refusal("count", f"is {count}; expected at most {len(clients)}, the clients that the group has")
    order = sorted(range(len(clients)), key=lambda index: (java_order(clients[index].client_id), index))
    return set(order[len(order) - count :])


def _named(clients: Sequence[Client], client_ids: Sequence[str], place: ChangePlace) -> set[int]:
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
