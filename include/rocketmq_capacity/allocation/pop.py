"""POP: the broker shares queues out; a consumer also pops the queues of the next ``share`` consumers."""

from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.allocation import avg
from rocketmq_capacity.contracts.division import Division, Flags, Integers, Shares
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import RETRY

NAME: Final = vocabulary.POP


def refusal(division: Division, _: Policy) -> str | None:
    """Why the strategy cannot run."""
    if division.group.is_orderly:
        return "orderly consumers always rebalance themselves: RocketMQ does not let them pop"
    return None


def pops_every_broker(share: Integers, consumers: int) -> Flags:
    """Whether every consumer pops every queue of every broker (written as queue -1).

    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    return (share <= 0) | (share >= consumers - 1)


def owners(
    queue: Integers, queues: Integers, consumers: int, share: Integers, takers: Integers
) -> tuple[Integers, Integers]:
    """Places of the consumers that pop each queue, where not every consumer pops every broker.

    Up to as many consumers as queues, a consumer has its own AVG share and the shares of the next ``share`` consumers
    in order; beyond, the consumer at index i has the queue i % queues alone. ``takers`` says of each place how many
    consumers take what falls to it: each copy of an id hands the same share to the consumers before it.

    Shape: one entry a queue -> pairs of an index into these entries and a place. Places of later copies of an id may
    occur, and belong to nobody.
    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    owner = avg.owner_index(queue, queues, consumers)
    shares_out = consumers <= queues
    times = takers[owner]
    first = np.where(shares_out, owner - share, queue)
    step = np.where(shares_out, 1, queues)
    shared = np.where(times > 0, np.minimum(share + times, consumers), 0)
    every_nth = (np.maximum(consumers - 1, queue) - queue) // queues + 1
    count = np.where(shares_out, shared, every_nth)
    entry = np.repeat(np.arange(len(queue)), count)
    turn = np.arange(len(entry)) - np.repeat(np.cumsum(count) - count, count)
    return entry, np.remainder(first[entry] + turn * step[entry], consumers)


def shares(division: Division, _: Policy) -> Shares:
    """What each consumer takes.

    A retry topic is never popped: QueryAssignmentProcessor gives it the mode PULL, whatever its group's is.
    """
    queues, members = division.queues, division.members
    of_topic = np.array([reads.pop_share_queue_num for reads in queues.topics], np.int64)
    is_retry = np.array([reads.topic.kind == RETRY for reads in queues.topics], bool)
    pops_all = pops_every_broker(of_topic, len(members)) & ~is_retry
    rank, number = queues.in_topic
    pulled = np.flatnonzero(is_retry[queues.topic])
    some = np.flatnonzero(~(pops_all | is_retry)[queues.topic])
    entry, place = owners(rank[some], number[some], len(members), of_topic[queues.topic[some]], members.takers)
    return Shares(
        np.concatenate([some[entry], pulled]),
        np.concatenate([place, avg.owner_index(rank[pulled], number[pulled], len(members))]),
        popped=tuple(np.flatnonzero(pops_all).tolist()),
    )
