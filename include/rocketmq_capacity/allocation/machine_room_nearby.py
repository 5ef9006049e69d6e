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


def sorted_by_room(client_rooms: Column) -> Column:
    """The consumers' places room by room: array<string> by place -> array<struct<room, place>>, places in order."""
    places = F.sequence(F.lit(0), F.size(client_rooms) - 1)
    return F.sort_array(F.arrays_zip(client_rooms.alias("room"), places.alias("place")))


def where_room_stands(rooms: Column, room: Column) -> Column:
    """Of the rooms in :func:`sorted_by_room`: struct<first, clients>, where this one begins and how often it stands."""
    first = F.array_position(rooms, room) - 1
    behind = F.array_position(F.reverse(rooms), room) - 1
    clients = F.when(first >= 0, F.size(rooms) - first - behind)
    return F.struct(first.cast("int").alias("first"), clients.cast("int").alias("clients"))


def owner_place(name: str, queue: Column, queues: Column, clients: Column, room: Column, places: Column) -> Column:
    """Place of each queue's owner among all ``clients`` of the group.

    Shape: int columns, ``room`` of :func:`where_room_stands`, ``places`` of :func:`sorted_by_room` -> one int column.
    Units: ``queue`` and ``queues`` are ranked inside the room.
    Source: AllocateMachineRoomNearby.java, rocketmq-all-5.3.3.
    """
    index = INNER[name](queue, queues, F.coalesce(room["clients"], clients))
    return F.when(room["clients"].isNull(), index).otherwise(F.get(places, room["first"] + index))
