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


def owner_places(queue: Column, queues: Column, consumers: Column, share: Column, copies: Column) -> Column:
    """Places of the consumers that pop each queue, where not every consumer pops every broker.

    Up to as many consumers as queues, a consumer has its own AVG share and the shares of the next ``share`` consumers
    in order; beyond, the consumer at index i has the queue i % queues alone. ``copies`` says at each place how often
    the id stands in the list, null where each stands once: each of its places hands the same share to the consumers
    before it.

    Shape: int columns and an array<int> -> array of int; counted around the list, so that -1 is the last place. Places
    of later copies of an id may occur and belong to nobody.
    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    owner = avg.owner_index(queue, queues, consumers)
    times = F.coalesce(F.get(copies, owner), F.lit(1))
    first, popping = owner - share, F.least(share + times, consumers)
    shared = F.when(times > 0, F.sequence(first, first + popping - 1))
    every_nth = F.sequence(queue, F.greatest(consumers - 1, queue), queues)
    return F.when(consumers <= queues, shared).otherwise(every_nth)
