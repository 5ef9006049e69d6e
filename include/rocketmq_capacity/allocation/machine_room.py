"""MACHINE_ROOM: only brokers named ``room@name`` of the given rooms; every other queue is left to nobody."""

from collections.abc import Collection
from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

NAME: Final = "MACHINE_ROOM"


def is_kept(broker_name: Column, machine_rooms: Collection[str]) -> Column:
    """Whether the strategy sees a broker: ``split("@")`` gives two parts and the first is one of the rooms.

    Java's split drops trailing empty parts: ``a@b`` and ``a@b@`` have two, ``a@`` one, ``@b`` two with room "".
    """
    room = F.split_part(broker_name, F.lit("@"), F.lit(1))
    has_two_parts = broker_name.rlike(r"^[^@]*@[^@]+@*$")
    return has_two_parts & room.isin(*machine_rooms)


def owner_index(queue: Column, queues: Column, consumers: Column) -> Column:
    """Index of the consumer that owns each kept queue: equal blocks first, the rest one each from the first on.

    Shape: as ``avg.owner_index``, over the kept queues alone; ``queue`` is null where a queue is not kept.
    Source: AllocateMessageQueueByMachineRoom.java, rocketmq-all-5.3.3.
    """
    block = F.floor(queues / consumers).cast("int")
    in_block = F.floor(queue / F.greatest(block, F.lit(1)))
    return F.when(queue < block * consumers, in_block).otherwise(queue - block * consumers).cast("int")
