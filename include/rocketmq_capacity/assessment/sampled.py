"""The offsets of a group's queues over time, as arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import MOST_LAG, UNKNOWN, GroupFacts
from rocketmq_capacity.model.queue_index import NO_QUEUE, NamedQueues, QueueIndex
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS


@dataclass(frozen=True)
class Sampled:
    """The samples of a group's queues: those of each queue one after the other, oldest first.

    Attributes:
        group: whose samples they are.
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
        of_groups = [group.sampled for group in groups]
        topics = [frozenset() if group.is_broadcasting else business_topics(group) for group in groups]
        is_judged = np.array(
            [topic in own for samples, own in zip(of_groups, topics, strict=True) for topic in samples.topics], bool
        )
        counts = np.array(list(chain.from_iterable([one.counts for one in of_groups])), np.int64)
        at_s = np.frombuffer(b"".join([one.at_s for one in of_groups]), "<f8")
        broker_offset = np.frombuffer(b"".join([one.broker_offset for one in of_groups]), "<i8")
        consumer_offset = np.frombuffer(b"".join([one.consumer_offset for one in of_groups]), "<i8")
        is_judged &= counts > 0
        index = QueueIndex([division.queues for division in divisions])
        queue = index.find(
            NamedQueues(
                lengths([one.topics for one in of_groups]),
                list(chain.from_iterable([one.topics for one in of_groups])),
                list(chain.from_iterable([one.brokers for one in of_groups])),
                list(chain.from_iterable([one.queue_ids for one in of_groups])),
            )
        )
        sampled, first, begin = [], 0, 0
        for group, first_queue in zip(groups, index.first_of_group.tolist(), strict=True):
            of_group = slice(first, first + len(group.sampled.topics))
            of_queue = np.where(queue[of_group] == NO_QUEUE, NO_QUEUE, queue[of_group] - first_queue)
            end = np.cumsum(counts[of_group])
            samples = slice(begin, begin + int(counts[of_group].sum()))
            of_sample = at_s[samples], broker_offset[samples], consumer_offset[samples]
            sampled.append(cls(group, is_judged[of_group], of_queue, end, counts[of_group], *of_sample))
            first, begin = of_group.stop, samples.stop
        return sampled

    @cached_property
    def names(self) -> list[Queue]:
        """The queues."""
        sampled = self.group.sampled
        return [Queue(*name) for name in zip(sampled.topics, sampled.brokers, sampled.queue_ids, strict=True)]

    @cached_property
    def places(self) -> dict[Queue, int]:
        """The index of each queue."""
        return {name: index for index, name in enumerate(self.names)}

    def stands_s(self, queue: Queue) -> float | None:
        """For how many seconds of the last samples messages waited and the offset did not move.

        None if it moved, and without samples.
        """
        index = self.places.get(queue)
        if index is None or not self.counts[index]:
            return None
        end = int(self.end[index])
        samples = slice(end - int(self.counts[index]), end)
        at_s, lag = self.at_s[samples].tolist(), self.lag[samples]
        stands = (self.consumer_offset[samples] == self.consumer_offset[end - 1]) & (lag > 0)
        number = int((~stands[::-1]).argmax()) if not stands.all() else len(stands)
        return float(at_s[-1] - at_s[-number]) if number > 1 else None

    def standing(self, bound_s: float) -> list[Queue]:
        """The judged queues that stand for longer than a bound, sorted; see ``stands_s``."""
        index = np.flatnonzero(self.is_judged & (self.counts > 1))
        last = self.end[index] - 1
        has_stood = (self.consumer_offset[last] == self.consumer_offset[last - 1]) & (self.lag[last - 1] > 0)
        stood = index[has_stood & (self.lag[last] > 0)]
        names = [self.names[one] for one in stood.tolist()]
        return sorted(queue for queue in names if (self.stands_s(queue) or 0.0) > bound_s)

    def moved_last(self, queue: Queue) -> bool | None:
        """Whether the group's offset was another one in the sample before the last; None if there are not two."""
        index = self.places.get(queue)
        if index is None or self.counts[index] < 2:
            return None
        end = int(self.end[index])
        return bool(self.consumer_offset[end - 1] != self.consumer_offset[end - 2])

    @property
    def lag(self) -> Integers:
        """Messages not read at each sample, or UNKNOWN; see :func:`~rocketmq_capacity.model.facts.lag_of`."""
        consumer, lag = self.consumer_offset, self.broker_offset - self.consumer_offset
        return np.where((consumer != UNKNOWN) & (lag >= 0) & (lag <= MOST_LAG), lag, UNKNOWN)


def business_topics(group: GroupFacts) -> frozenset[str]:
    """Business topics that the group subscribes to: it may still have offsets on others.

    The subscriptions of an offline group are unknown; its unit has samples only of business topics.
    """
    if not group.reads and not group.consumers:
        return frozenset(group.sampled.topics)
    return frozenset(reads.topic.topic for reads in group.reads if reads.topic.kind == BUSINESS)
