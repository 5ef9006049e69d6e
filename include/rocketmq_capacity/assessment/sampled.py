"""The offsets of a group's queues over time, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.model.division import Division, Flags, Integers
from rocketmq_capacity.model.facts import GroupFacts
from rocketmq_capacity.model.queue_index import NO_QUEUE, Named, QueueIndex
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.vocabulary import BUSINESS

UNKNOWN: Final = -1
"""In place of an offset or a lag."""


@dataclass(frozen=True, slots=True)
class Sampled:
    """The samples of a group's queues: those of each queue one after the other, oldest first.

    Attributes:
        group: whose samples they are; its ``samples`` name the queues.
        is_judged: whether each queue has samples, and is of a business topic that the group subscribes to; none of a
            broadcasting group, whose clients keep their own offsets.
        queue: the index of each queue in the group's division, or NO_QUEUE.
        end: where the samples of each queue end.
        counts: how many samples each queue has.
        at_s: when each sample was taken, in seconds since 1970.
        broker_offset: that the next message would be written at, or UNKNOWN.
        consumer_offset: that the group would read next, as committed, or UNKNOWN.
    """

    group: GroupFacts
    is_judged: Flags
    queue: Integers
    end: Integers
    counts: Integers
    at_s: Numbers
    broker_offset: Integers
    consumer_offset: Integers

    @classmethod
    def of(cls, division: Division) -> "Sampled":
        """The samples of a group."""
        return cls.of_each([division])[0]

    @classmethod
    def of_each(cls, divisions: Sequence[Division]) -> "list[Sampled]":
        """The samples of several groups."""
        groups = [division.group for division in divisions]
        each = [group.samples for group in groups]
        every = list(chain.from_iterable(each))
        topics = [frozenset() if group.is_broadcasting else business_topics(group) for group in groups]
        is_judged = np.array(
            [one.topic in own for samples, own in zip(each, topics, strict=True) for one in samples], bool
        )
        moments = [one.at_s for one in every]
        counts = lengths(moments)
        at_s = np.array(list(chain.from_iterable(moments)), np.float64)
        broker_offset = _flat([one.broker_offset for one in every])
        consumer_offset = _flat([one.consumer_offset for one in every])
        is_judged &= counts > 0
        index = QueueIndex([division.queues for division in divisions])
        queue = index.find(Named.of(each))
        found, first, begin = [], 0, 0
        for group, first_queue in zip(groups, index.first_of_group.tolist(), strict=True):
            own = slice(first, first + len(group.samples))
            of_queue = np.where(queue[own] == NO_QUEUE, NO_QUEUE, queue[own] - first_queue)
            end = np.cumsum(counts[own])
            samples = slice(begin, begin + int(counts[own].sum()))
            of_sample = at_s[samples], broker_offset[samples], consumer_offset[samples]
            found.append(cls(group, is_judged[own], of_queue, end, counts[own], *of_sample))
            first, begin = own.stop, samples.stop
        return found

    @property
    def lag(self) -> Integers:
        """Messages not read at each sample, or UNKNOWN; see :func:`~rocketmq_capacity.model.facts.lag_of`."""
        broker, consumer = self.broker_offset, self.consumer_offset
        return np.where((consumer != UNKNOWN) & (consumer <= broker), broker - consumer, UNKNOWN)


def business_topics(group: GroupFacts) -> frozenset[str]:
    """Business topics that the group subscribes to: it may still have offsets on others.

    The subscriptions of an offline group are unknown; its unit has samples only of business topics.
    """
    if not group.reads and not group.consumers:
        return frozenset(queue.topic for queue in group.samples)
    return frozenset(reads.topic.topic for reads in group.reads if reads.topic.kind == BUSINESS)


def _flat(lists: Sequence[Sequence[int | None]]) -> Integers:
    """The items of all lists; UNKNOWN in place of None."""
    return np.array([UNKNOWN if item is None else item for item in chain.from_iterable(lists)], np.int64)
