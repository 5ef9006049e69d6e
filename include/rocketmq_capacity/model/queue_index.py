"""Where the queues that observations name are in the divisions of a batch of groups."""

from collections.abc import Sequence
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.facts import Lag
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.model.ragged import begins_of, lengths

NO_QUEUE: Final = -1
"""In place of the index of a queue that consumers cannot see."""


class NamedQueues(NamedTuple):
    """The names of some queues of each of several groups.

    Attributes:
        counts: how many names each group has.
        topics: the topic of each name, those of all groups one after the other.
        brokers: the broker.
        queue_ids: the id on the broker.
    """

    counts: Integers
    topics: Sequence[str]
    brokers: Sequence[str]
    queue_ids: Sequence[int]

    @classmethod
    def of(cls, observed: Sequence[Sequence[Lag]]) -> "NamedQueues":
        """The names of the queues of which something is observed, by group."""
        every = list(chain.from_iterable(observed))
        return cls(
            lengths(observed),
            [one.topic for one in every],
            [one.broker_name for one in every],
            [one.queue_id for one in every],
        )


class QueueIndex:
    """Finds the queues of several groups by name.

    Attributes:
        queues: how many queues all groups have.
        first_of_group: the index of each group's first queue.
    """

    def __init__(self, groups: Sequence[Queues]) -> None:
        every = Queues.joined(groups)
        self._topics = [reads.topic.topic for reads in every.topics]
        self._brokers = [place.broker_name for place in every.facts]
        self._of_place = every.topic_of_place, every.facts_of_place
        self._readable = np.bincount(every.place, minlength=len(every.topic_of_place))
        self._places = lengths([queues.facts_of_place for queues in groups])
        self.first_of_group = begins_of(lengths([queues.place for queues in groups]))
        self.queues = len(every.place)

    def find(self, named: NamedQueues) -> Integers:
        """The index of each queue among the queues of all groups, or :data:`NO_QUEUE`."""
        topic, topics = _numbered(self._topics, named.topics)
        broker, brokers = _numbered(self._brokers, named.brokers)
        group = np.arange(len(self._places))

        def key(of: Integers, topic: Integers, broker: Integers) -> Integers:
            return (of * topics + topic) * brokers + broker

        topic_of_place, facts_of_place = self._of_place
        places = key(np.repeat(group, self._places), topic[topic_of_place], broker[facts_of_place])
        wanted = key(np.repeat(group, named.counts), topic[len(self._topics) :], broker[len(self._brokers) :])
        order = np.argsort(places, kind="stable")
        # Before the first place comes a place without queues, which is the last entry.
        at = np.append(order, NO_QUEUE)[np.searchsorted(places, wanted, "right", order) - 1]
        is_place = np.append(places, NO_QUEUE)[at] == wanted
        queue_id = np.array(named.queue_ids, np.int64)
        is_readable = is_place & (queue_id >= 0) & (queue_id < np.append(self._readable, 0)[at])
        return np.where(is_readable, np.append(begins_of(self._readable), 0)[at] + queue_id, NO_QUEUE)


def _numbered(*texts: Sequence[str]) -> tuple[Integers, int]:
    """A number for each text, equal ones for equal texts, and how many there are."""
    every = list(chain.from_iterable(texts))
    number = {text: index for index, text in enumerate(dict.fromkeys(every))}
    return np.array([number[text] for text in every], np.int64), len(number)
