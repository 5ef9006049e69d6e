"""How long a client's listener takes for a call of a topic: as it reports it, else as the others of its group do."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.division import Division


@dataclass(frozen=True)
class ResponseTimes:
    """Milliseconds a call. Shape of each array: a row a client id, a column a topic of the division.

    If a client reports none, ``estimate`` is the mean of its group's clients for the topic, and ``lower`` and ``upper``
    are their least and largest. NaN if no client reports any.

    Attributes:
        lower: the least value.
        estimate: the most likely value.
        upper: the largest value.
        is_reported: whether the client itself reports it.
    """

    lower: Numbers
    estimate: Numbers
    upper: Numbers
    is_reported: Flags

    @cached_property
    def is_exact(self) -> bool:
        """Whether every client reports every topic."""
        return bool(self.is_reported.all())

    @classmethod
    def of(cls, division: Division) -> "ResponseTimes":
        """The response times of a group."""
        clients = {client_id: index for index, client_id in enumerate(division.members.client_ids)}
        topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
        shape = len(clients), len(topics)
        # RocketMQ reports 0 if nothing was handled in the last hour.
        timed = [one for one in division.group.consumed if one.consume_rt_ms and one.topic in topics]
        topic = np.array([topics[one.topic] for one in timed], np.int64)
        cell = np.array([clients[one.client_id] for one in timed], np.int64) * shape[1] + topic
        times = np.array([one.consume_rt_ms for one in timed], np.float64)
        reported_ms = _mean(cell, times, shape[0] * shape[1]).reshape(shape)
        is_reported = ~np.isnan(reported_ms)
        least, most = np.full(shape[1], np.nan), np.full(shape[1], np.nan)
        np.fmin.at(least, topic, times)
        np.fmax.at(most, topic, times)
        return cls(
            np.where(is_reported, reported_ms, least),
            np.where(is_reported, reported_ms, _mean(topic, times, shape[1])),
            np.where(is_reported, reported_ms, most),
            is_reported,
        )

    def of_clients(self, rows: Integers) -> "ResponseTimes":
        """The response times of other clients; each has those of the client in a row."""
        if self.is_exact:
            exact = self.estimate[rows]
            return ResponseTimes(exact, exact, exact, self.is_reported[rows])
        return ResponseTimes(self.lower[rows], self.estimate[rows], self.upper[rows], self.is_reported[rows])

    def of_topics(self, columns: Integers) -> "ResponseTimes":
        """The response times of other topics; each has those of the topic in a column."""
        if self.is_exact:
            exact = self.estimate[:, columns]
            return ResponseTimes(exact, exact, exact, self.is_reported[:, columns])
        return ResponseTimes(
            self.lower[:, columns], self.estimate[:, columns], self.upper[:, columns], self.is_reported[:, columns]
        )


def _mean(place: Integers, values: Numbers, places: int) -> Numbers:
    """The mean of the values with the same index; NaN for an index without values."""
    counts = np.bincount(place, minlength=places)
    return np.bincount(place, values, places) / np.where(counts > 0, counts, np.nan)
