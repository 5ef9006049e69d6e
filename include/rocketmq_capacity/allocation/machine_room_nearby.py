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

WHOLE_GROUP: Final = ""
"""The scope of an index that counts all consumers of the group; a room's own name is never empty."""


def scope(room: Column, room_clients: Column) -> Column:
    """Which list of consumers shares the queues of a room: the room's own, or everybody where it has none."""
    return F.when(room_clients > 0, room).otherwise(F.lit(WHOLE_GROUP))


def owner_index(name: str, queue: Column, queues: Column, room_clients: Column, clients: Column) -> Column:
    """Index of the owner in the list of its :func:`scope`; ``queue`` and ``queues`` are ranked inside the room.

    Source: AllocateMachineRoomNearby.java, rocketmq-all-5.3.3.
    """
    sharing = F.when(room_clients > 0, room_clients).otherwise(clients)
    return INNER[name](queue, queues, sharing)
