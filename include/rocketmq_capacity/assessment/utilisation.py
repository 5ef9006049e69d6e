"""How busy clients are: the share of their time in which their threads handle messages; 1 is always busy.

The busy share of a client is the sum over its topics of: incoming msg/s x consume_rt_ms / (1000 x messages a call x
calls at once). The calls at once are its threads; for an orderly listener, which handles each queue by one thread, at
most its queues. A call counts as a full batch, because that is what a client under load handles.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Owners


@dataclass(frozen=True)
class Work:
    """The work of the clients of a group for given owners of its queues.

    Arrays of two dimensions have a row a client id and a column a topic of the division; NaN is unknown.

    Attributes:
        queues: how many of a topic's queues a client owns.
        incoming_msgs_per_s: messages a second from them.
        threads: listener threads of each client.
        batch: messages of a call, for each client.
        is_orderly: whether the clients handle each queue by one thread.
        times: milliseconds a call.
    """

    queues: Integers
    incoming_msgs_per_s: Numbers
    threads: Numbers
    batch: Numbers
    is_orderly: bool
    times: ResponseTimes

    @classmethod
    def of(cls, division: Division, msgs_per_s: Numbers, owners: Owners, times: ResponseTimes) -> "Work | None":
        """The work of the clients if these own the queues; None if they own queues that do not exist.

        Args:
            division: the queues and the clients.
            msgs_per_s: messages a second that the group gets from each queue of the division.
            owners: the owners of the queues.
            times: the response times of these clients.
        """
        if owners.strangers:
            return None
        queues, shape = division.queues, times.estimate.shape
        cell = owners.client * shape[1] + queues.topic[owners.queue]
        share = msgs_per_s[owners.queue] / _readers(owners, len(queues))
        owned = np.bincount(cell, minlength=shape[0] * shape[1]).reshape(shape)
        incoming = np.asarray(np.bincount(cell, share, shape[0] * shape[1]), np.float64).reshape(shape)
        return cls(
            owned,
            incoming,
            least_threads(division),
            least_batches(division),
            bool(division.group.is_orderly),
            times,
        )

    @cached_property
    def at_once(self) -> Numbers:
        """Messages that each client handles at the same time: calls at once x messages a call."""
        calls = np.fmin(self.threads, self.queues.sum(axis=1)) if self.is_orderly else self.threads
        return calls * self.batch

    @cached_property
    def has_queues(self) -> Flags:
        """Whether each client owns a queue."""
        return np.asarray(self.queues.any(axis=1))

    def busy(self, times: Numbers) -> Numbers:
        """The busy share of each client with these times of calls; 0 without queues, NaN if unknown."""
        return np.where(self.has_queues, self.parts(times).sum(axis=1), 0.0)

    def parts(self, times: Numbers) -> Numbers:
        """The same by topic."""
        seconds = np.where(self._is_quiet, 0.0, self.incoming_msgs_per_s * times / 1000)
        return seconds / self._known_at_once

    @cached_property
    def _is_quiet(self) -> Flags:
        return np.asarray(self.incoming_msgs_per_s == 0)

    @cached_property
    def _known_at_once(self) -> Numbers:
        """``at_once`` as a column; NaN for a client that handles nothing."""
        return np.where(self.at_once > 0, self.at_once, np.nan)[:, None]

    def busiest(self) -> tuple[Interval, int] | None:
        """The busy share of the busiest client, and its index; None if a part is unknown, or if nobody has work."""
        return self._busiest

    @cached_property
    def _busiest(self) -> tuple[Interval, int] | None:
        if not self.has_queues.any():
            return None
        estimate = self.busy(self.times.estimate)
        if np.isnan(estimate).any():
            return None
        if self.times.is_exact:
            most = float(estimate.max())
            return Interval(most, most, most), int(estimate.argmax())
        lower, upper = self.busy(self.times.lower), self.busy(self.times.upper)
        return Interval(float(lower.max()), float(estimate.max()), float(upper.max())), int(estimate.argmax())

    def typical_clients(self) -> float:
        """The work in clients that are always busy, if each topic took what its median client needs for a message."""
        return self._by_median(self.incoming_msgs_per_s.sum(axis=0))

    def median_share(self, client: int) -> float:
        """How busy the median client of each topic would be with the messages of this one."""
        return self._by_median(self.incoming_msgs_per_s[client])

    def _by_median(self, msgs_per_s: Numbers) -> float:
        """The busy share that these messages make, if the median client of each topic handles them."""
        comes = msgs_per_s > 0
        at_once = np.where(self.at_once > 0, self.at_once, np.nan)
        ms_per_message = (self.times.estimate[:, comes] / at_once[:, None])[self.has_queues]
        return float((msgs_per_s[comes] * np.median(ms_per_message, axis=0)).sum() / 1000)

    def least_clients(self) -> float:
        """The least work in clients that are always busy, by the quickest client of each topic and the most threads.

        0 if a client's threads are unknown.
        """
        at_once = self.threads * self.batch
        least = self.evenly() * float(at_once.sum() / at_once.max())
        return least if np.isfinite(least) else 0.0

    def evenly(self) -> float:
        """A lower limit of the busiest client's share, for any division of the same messages; NaN if unknown.

        It assumes that every client handles every topic as quickly as the quickest one, with all of its threads.
        """
        quickest = np.fmin.reduce(self.times.estimate, axis=0)
        rates = self.incoming_msgs_per_s.sum(axis=0)
        at_once = float((self.threads * self.batch).sum())
        return float(np.where(rates == 0, 0.0, rates * quickest / 1000).sum()) / at_once if at_once else np.nan

    @property
    def is_untimed(self) -> Flags:
        """Whether each client has work for a topic whose response time it does not report."""
        return np.asarray(((self.incoming_msgs_per_s > 0) & ~self.times.is_reported).any(axis=1))


def every_client_owns_all(division: Division) -> Owners:
    """The owners in a broadcasting group: every client owns every queue of the business topics that it reads."""
    queue = np.flatnonzero(division.queues.is_business)
    clients = len(division.members.client_ids)
    owners = Owners(np.tile(queue, clients), np.repeat(np.arange(clients), len(queue)))
    if not division.members.has_readers_of_some:
        return owners
    topics = [reads.topic.topic for reads in division.queues.topics]
    reads = division.members.readers(topics)[:, division.members.first] > 0
    does_read = reads[division.queues.topic[owners.queue], owners.client]
    return Owners(owners.queue[does_read], owners.client[does_read])


def _readers(owners: Owners, queues: int) -> Integers | int:
    """The number of clients that share a queue's messages, for each pair of a queue and an owner; 1 if it is pulled."""
    if owners.is_popped is False:
        return 1
    is_popped = np.broadcast_to(owners.is_popped, owners.queue.shape)
    poppers = np.bincount(owners.queue[is_popped], minlength=queues)
    return np.where(is_popped, poppers[owners.queue], 1)


def least_threads(division: Division) -> Numbers:
    """The consume threads of each client id: the lowest known figure among its consumers; NaN if none is known."""
    return _least(division, [one.consume_threads for one in division.members.consumers])


def least_batches(division: Division) -> Numbers:
    """The messages per call of each client id, likewise the lowest known figure."""
    return _least(division, [one.consume_batch_size for one in division.members.consumers])


def _least(division: Division, figures: list[int | None]) -> Numbers:
    """The lowest known figure among the consumers of each client id."""
    members = division.members
    known = np.array([np.nan if figure is None else figure for figure in figures], np.float64)
    return np.fmin.reduceat(known, members.first) if members.has_copies else known
