"""The change `add_clients`."""

from typing import Literal

from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import ChangeOfClients
from rocketmq_capacity.simulation.newcomer import newcomers
from rocketmq_capacity.simulation.parts import group_of, with_group, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup


class AddClients(ChangeOfClients):
    """New consumers of a group: with these ids, or ``count`` of them with made-up ids."""

    EXAMPLE = "consumer_group: {group}, count: 2"

    change: Literal["add_clients"]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The group with more consumers, each like the typical one; an existing id becomes a duplicate.

        Errors: :class:`BadInput` for an unknown group.
        """
        group = group_of(inventory, self.consumer_group, place)
        ids = self.client_ids or _made_up_ids(group, self.count or 0)
        if not ids:
            return inventory
        added = newcomers(group, ids, inventory)
        return with_group(inventory, without_ownership(replace(group, clients=(*(group.clients or ()), *added))))


def _made_up_ids(group: InventoryGroup, count: int) -> list[str]:
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
