"""POP: the broker shares queues out; a consumer also pops the queues of the next ``share`` consumers."""

from typing import Final

import pyspark.sql.functions as F
from pyspark.sql import Column

from rocketmq_capacity.allocation import avg

NAME: Final = "POP"


def pops_every_broker(share: Column, consumers: Column) -> Column:
    """Whether every consumer pops every queue of every broker (written as queue -1).

    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    return (share <= 0) | (share >= consumers - 1)


def owner_indexes(queue: Column, queues: Column, consumers: Column, share: Column, copies: Column) -> Column:
    """Indexes of the consumers that pop each queue, where not every consumer pops every broker.

    Up to as many consumers as queues, a consumer has its own AVG share and the shares of the next ``share`` consumers
    in order; beyond, the consumer at index i has the queue i % queues alone. ``copies`` says how often the id of the
    AVG owner stands in the list: each of its places hands the same share to the consumers before it.

    Shape: int columns -> array of int; indexes of later copies of an id may occur and belong to nobody.
    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    owner = avg.owner_index(queue, queues, consumers)
    places = F.sequence(owner - share, owner + copies - 1)
    shared = F.array_distinct(F.transform(places, lambda place: F.pmod(place, consumers)))
    every_nth = F.sequence(queue, F.greatest(consumers - 1, queue), queues)
    return F.when(consumers <= queues, shared).otherwise(every_nth)
