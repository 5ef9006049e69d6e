"""The change `lose_room`."""

from typing import Annotated, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.brokers import without_brokers
from rocketmq_capacity.simulation.change import NAMES, Ending, Name, ScenarioChange
from rocketmq_capacity.simulation.parts import broker_names, without_ownership
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.inventory import Inventory


class LoseRoom(ScenarioChange):
    """A machine room that fails: every broker and every client that is in it by the policy's ``rooms``."""

    EXAMPLE = "room: {room}"

    change: Literal["lose_room"]
    room: Annotated[Name, Field(title="Machine room", json_schema_extra={NAMES: "rooms"})]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The cluster without the brokers and the clients of a machine room; those without a room stay.

        Errors: :class:`BadInput` for a policy without ``rooms``, or a room that neither a broker nor a client is in.
        """
        if policy.rooms is None:
            raise place.refusal(
                "room", f"is {shown(self.room)}, but the policy has no rooms; expected rooms in the policy"
            )
        rooms = policy.rooms
        brokers = {name: rooms.of_broker(name) for name in sorted(broker_names(inventory))}
        staying = []
        known = {room for room in brokers.values() if room}
        for group in inventory.consumer_groups:
            clients = group.clients or ()
            room_of = [rooms.of_client(client.client_id, client.client_addr) for client in clients]
            known |= {room for room in room_of if room}
            left = tuple(client for client, room in zip(clients, room_of, strict=True) if room != self.room)
            staying.append(group if len(left) == len(clients) else without_ownership(replace(group, clients=left)))
        place.check_known("room", self.room, known, "room")
        without_clients = replace(inventory, consumer_groups=tuple(staying))
        return without_brokers(without_clients, {name for name, room in brokers.items() if room == self.room})

    @property
    def ends(self) -> Ending:
        """The clients in it end without a word."""
        return "SILENT"

    @property
    def lost_room(self) -> str:
        """The room."""
        return self.room
