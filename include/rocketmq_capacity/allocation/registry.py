"""The strategies that give a queue to one consumer: name -> the index of the owner."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

from rocketmq_capacity.allocation import avg, avg_by_circle, consistent_hash, machine_room, machine_room_nearby


def _whole_group(index: Column) -> Column:
    return F.struct(F.lit(machine_room_nearby.WHOLE_GROUP).alias("scope"), index.alias("index"))


def _nearby(name: str) -> Column:
    clients, room_clients = F.col("clients"), F.col("room_clients")
    index = machine_room_nearby.owner_index(name, F.col("room_queue"), F.col("room_queues"), room_clients, clients)
    scope = machine_room_nearby.scope(F.col("room"), room_clients)
    return F.struct(scope.alias("scope"), index.alias("index"))


OWNER: Final[Mapping[str, Callable[[], Column]]] = {
    avg.NAME: lambda: _whole_group(avg.owner_index(F.col("queue"), F.col("queues"), F.col("clients"))),
    avg_by_circle.NAME: lambda: _whole_group(
        avg_by_circle.owner_index(F.col("queue"), F.col("queues"), F.col("clients"))
    ),
    machine_room.NAME: lambda: _whole_group(
        machine_room.owner_index(F.col("kept_queue"), F.col("kept_queues"), F.col("clients"))
    ),
    **{name: partial(_nearby, name) for name in machine_room_nearby.INNER},
    consistent_hash.NAME: lambda: _whole_group(consistent_hash.owner_index(F.col("queue_id"))),
}
"""Each gives a struct<scope string, index int> over the columns of ``allocate._Fleet``'s slots; null: nobody."""
