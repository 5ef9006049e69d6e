"""POP: the broker assigns queues; a consumer also pops the queues of the next ``share`` consumers."""

from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.allocation import avg
from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import RETRY

NAME: Final = vocabulary.POP


def refusal(division: Division, _: Policy) -> str | None:
    """Why the strategy cannot run."""
    if division.group.is_orderly:
        return "orderly consumers always rebalance themselves: RocketMQ does not let them pop"
    return None


def pops_every_broker(share: Integers, consumers: Integers) -> Flags:
    """Whether every consumer pops every queue of every broker (written as queue -1).

    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    return (share <= 0) | (share >= consumers - 1)


def owners(
    queue: Integers, queues: Integers, consumers: Integers, share: Integers, times: Integers
) -> tuple[Integers, Integers]:
    """Places of the consumers that pop each queue, for topics of which not every consumer pops every broker.

    With at most as many consumers as queues, a consumer has its own AVG share and those of the next ``share``
    consumers. With more consumers than queues, the consumer at index i has only the queue i % queues.

    Args:
        queue: 0-based rank of each queue in its topic.
        queues: number of queues of its topic.
        consumers: number of consumers among which it is divided.
        share: ``pop_share_queue_num`` of its topic.
        times: the number of consumers that take the share of its AVG owner; several consumers with one id pass the same
            share on to the consumers before them.

    Shape: one entry for each queue -> two arrays of one length, an index into these
    entries and a place. A place of a later consumer with the same id may occur; it belongs to nobody.
    Source: QueryAssignmentProcessor.allocate4Pop, rocketmq-all-5.3.3.
    """
    owner = avg.owner_index(queue, queues, consumers)
    shares_out = consumers <= queues
    first = np.where(shares_out, owner - share, queue)
    step = np.where(shares_out, 1, queues)
    shared = np.where(times > 0, np.minimum(share + times, consumers), 0)
    every_nth = (np.maximum(consumers - 1, queue) - queue) // queues + 1
    count = np.where(shares_out, shared, every_nth)
    entry = np.repeat(np.arange(len(queue)), count)
    turn = np.arange(len(entry)) - np.repeat(np.cumsum(count) - count, count)
    return entry, np.remainder(first[entry] + turn * step[entry], consumers[entry])


def shares(division: Division, _: Policy) -> Shares:
    """The share of each consumer.

    A retry topic is never popped: QueryAssignmentProcessor gives it the mode PULL, whatever mode its group has.
    """
    queues = division.queues
    share = np.array([reads.pop_share_queue_num for reads in queues.topics], np.int64)[queues.topic]
    is_retry = np.array([reads.topic.kind == RETRY for reads in queues.topics], bool)[queues.topic]
    consumers, first_place = division.consumers, division.first_place
    pops_all = pops_every_broker(share, consumers) & ~is_retry
    rank, number = queues.in_topic
    owner = first_place + avg.owner_index(rank, number, consumers)
    pulled = np.flatnonzero(is_retry)
    shared = np.flatnonzero(~(pops_all | is_retry))
    times = np.concatenate([part.members.takers for part in division.parts])[owner[shared]]
    entry, place = owners(rank[shared], number[shared], consumers[shared], share[shared], times)
    return Shares(
        np.concatenate([shared[entry], pulled]),
        np.concatenate([first_place[shared][entry] + place, owner[pulled]]),
        popped=tuple(np.unique(queues.topic[pops_all]).tolist()),
    )
