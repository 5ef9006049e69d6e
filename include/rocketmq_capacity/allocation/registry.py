"""The strategies that give a queue to one consumer: name -> the place of the owner."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

from rocketmq_capacity.allocation import avg, avg_by_circle, consistent_hash, machine_room, machine_room_nearby


def _nearby(name: str) -> Column:
    return machine_room_nearby.owner_place(
        name, F.col("room_queue"), F.col("room_queues"), F.col("clients"), F.col("in_room"), F.col("room_places")
    )


OWNER: Final[Mapping[str, Callable[[], Column]]] = {
    avg.NAME: lambda: avg.owner_index(F.col("queue"), F.col("queues"), F.col("clients")),
    avg_by_circle.NAME: lambda: avg_by_circle.owner_index(F.col("queue"), F.col("queues"), F.col("clients")),
    machine_room.NAME: lambda: machine_room.owner_index(F.col("kept_queue"), F.col("kept_queues"), F.col("clients")),
    **{name: partial(_nearby, name) for name in machine_room_nearby.INNER},
    consistent_hash.NAME: lambda: consistent_hash.owner_index(F.col("queue")),
}
"""Each gives an int over the columns of ``allocate._slots``: a place in the group's ``client_ids``; null: nobody."""
