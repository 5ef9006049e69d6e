"""MACHINE_ROOM_NEARBY-<inner>: queues go to consumers of their own room; a room without consumers is shared by all."""

from collections.abc import Callable, Mapping
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

from rocketmq_capacity.allocation import avg, avg_by_circle

INNER: Final[Mapping[str, Callable[[Column, Column, Column], Column]]] = {
    f"MACHINE_ROOM_NEARBY-{inner.NAME}": inner.owner_index for inner in (avg, avg_by_circle)
}
"""The strategy's name with each inner strategy -> what allocates inside a room."""


def places_of_rooms(client_rooms: Column) -> Column:
    """Where the consumers of each room stand: array<string> by place -> map<string, array<int>>, places in order."""
    places = F.sequence(F.lit(0), F.size(client_rooms) - 1)
    rooms = F.array_compact(F.array_distinct(client_rooms))

    def here(room: Column) -> Column:
        return F.filter(places, lambda place: F.get(client_rooms, place) == room)

    return F.map_from_arrays(rooms, F.transform(rooms, here))


def owner_place(name: str, queue: Column, queues: Column, room_places: Column, clients: Column) -> Column:
    """Place of each queue's owner among all consumers of the group.

    Shape: int columns, and the array of places of the queue's room, null where no consumer is there -> one int column.
    Units: ``queue`` and ``queues`` are ranked inside the room.
    Source: AllocateMachineRoomNearby.java, rocketmq-all-5.3.3.
    """
    index = INNER[name](queue, queues, F.coalesce(F.size(room_places), clients))
    return F.coalesce(F.get(room_places, index), index)
