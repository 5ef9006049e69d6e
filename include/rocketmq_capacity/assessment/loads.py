"""The loads of a division of queues: load of every client, idle clients, orphan queues, and skew."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.skew import floors, metrics
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.model.queue_index import NO_QUEUE, NamedQueues, QueueIndex
from rocketmq_capacity.model.ragged import lengths
from rocketmq_capacity.tables.dataset import Metrics, Queue

NO_LAG: Final = -1
"""In place of an unknown lag."""


@dataclass(frozen=True)
class QueueWeights:
    """The weight of each readable business queue of a group: its messages a second and its lag.

    Attributes:
        queue: indexes of these queues in the division.
        msgs_per_s: messages a second that the group gets from each queue of the division: what is written, times the
            pass ratio of the group's filter; NaN if unknown.
        lag: messages not read on each queue of the division; 0 if unknown.
        has_lag: whether the lag of each queue is known.
    """

    queue: Integers
    msgs_per_s: Numbers
    lag: Integers
    has_lag: Flags

    @classmethod
    def of(cls, division: Division) -> "QueueWeights":
        """The weights of a group's queues."""
        return cls.of_each([division])[0]

    @classmethod
    def of_each(cls, divisions: "Sequence[Division]") -> "list[QueueWeights]":
        """The weights of the queues of several groups."""
        index = QueueIndex([division.queues for division in divisions])
        ends = [*index.first_of_group[1:].tolist(), index.queues]
        rate, lag = _rates(divisions, index), _lags(divisions, index)
        has_lag = lag != NO_LAG
        lag = np.where(has_lag, lag, 0)
        return [
            cls(np.flatnonzero(division.queues.is_business), rate[begin:end], lag[begin:end], has_lag[begin:end])
            for division, begin, end in zip(divisions, index.first_of_group.tolist(), ends, strict=True)
        ]

    def without(self, left_out: Flags) -> "QueueWeights":
        """The weights, with 0 for some queues of the division."""
        return replace(
            self,
            queue=self.queue[~left_out[self.queue]],
            msgs_per_s=np.where(left_out, 0.0, self.msgs_per_s),
            lag=np.where(left_out, 0, self.lag),
            has_lag=self.has_lag | left_out,
        )

    @cached_property
    def total_msgs_per_s(self) -> float | None:
        """Messages a second from all business queues; None if a rate is unknown, or if there is no queue."""
        total = float(self.msgs_per_s[self.queue].sum())
        return None if np.isnan(total) or not len(self.queue) else total

    @cached_property
    def total_lag(self) -> int | None:
        """The lag on all business queues; None if a lag is unknown, or if there is no queue."""
        return int(self.lag[self.queue].sum()) if len(self.queue) and self.has_lag[self.queue].all() else None

    def floors(self, clients: int) -> Numbers:
        """FLOOR by queues, by messages a second and by lag, for this number of clients."""
        if clients not in self._floors:
            lag = np.where(self.has_lag, self.lag, np.nan)
            loads = np.stack([np.ones(len(lag)), self.msgs_per_s, lag])
            self._floors[clients] = floors(loads[:, self.queue], clients)
        return self._floors[clients]

    @cached_property
    def _floors(self) -> dict[int, Numbers]:
        return {}


@dataclass(frozen=True)
class GroupLoad:
    """The load of a group's clients under one division of the queues.

    Attributes:
        division: the queues and the consumers.
        owners: the owners of the queues; topics whose owners are unknown do not count.
        queues: how many queues each client id owns.
        msgs_per_s: messages a second written to each client id's queues; NaN if unknown, 0 for an idle client.
        lag: messages not read on each client id's queues; see ``has_lag``.
        has_lag: whether each client id's lag is known.
        orphans: indexes of the readable business queues that nobody owns.
        count: METRICS by number of queues; all METRICS are None if the owners of a topic are unknown.
        traffic: METRICS by messages a second.
        lag_metrics: METRICS by messages of lag.
    """

    division: Division
    owners: Owners
    queues: Integers
    msgs_per_s: Numbers
    lag: Integers
    has_lag: Flags
    orphans: Integers
    count: Metrics | None
    traffic: Metrics | None
    lag_metrics: Metrics | None

    @classmethod
    def of(cls, division: Division, weights: QueueWeights, owners: Owners) -> "GroupLoad":
        """The load if these own the queues."""
        return next(loads_of(division, weights, [owners]))

    @property
    def is_whole(self) -> bool:
        """Whether the owners of every topic are known."""
        return not self.owners.unknown

    @cached_property
    def all_queues(self) -> int:
        """How many readable business queues there are."""
        return int(np.count_nonzero(self.division.queues.is_business))

    @cached_property
    def popped(self) -> int:
        """How many pairs there are of a queue that several clients may read and a client that reads it."""
        return int(np.count_nonzero(np.broadcast_to(self.owners.is_popped, self.owners.queue.shape)))

    @cached_property
    def idle(self) -> Integers:
        """Indexes of the client ids that own nothing; empty if the owners of a topic are unknown."""
        return np.flatnonzero((self.queues == 0) & self.is_whole)

    @cached_property
    def pulled(self) -> Integers:
        """How many queues of pulled business topics each client id owns."""
        is_pulled = self.division.queues.is_business & ~self.division.is_popped
        return np.bincount(self.owners.client[is_pulled[self.owners.queue]], minlength=len(self.queues))

    @cached_property
    def pulls_none(self) -> int:
        """How many client ids own no queue of a pulled topic; if all topics are popped, or none, no queue at all."""
        if not self.division.is_mixed:
            return len(self.idle)
        return int(np.count_nonzero((self.pulled == 0) & self.is_whole))

    @cached_property
    def doubly_owned(self) -> list[Queue]:
        """Queues of which more than one consumer reads every message, in order; clients that pop a queue share it."""
        members, queues, owners = self.division.members, self.division.queues, self.owners
        has_one_reader = owners.owner is not None or owners.is_popped is True
        if has_one_reader and not members.has_copies and not owners.strangers:
            return []
        is_popped = np.zeros(len(owners.queue), bool) | owners.is_popped
        of_owner = self.division.readers(owners.queue, owners.client)
        readers = np.bincount(owners.queue, of_owner * ~is_popped, len(queues))
        readers[owners.queue[is_popped]] += 1  # clients that pop a queue share its messages
        twice = [queues.names[queue] for queue in np.flatnonzero(readers > 1).tolist()]
        if not owners.strangers:
            return twice
        strange: dict[Queue, int] = {}
        for client, queue in owners.strangers:
            readers_of = members.readers([queue.topic])[0]
            strange[queue] = strange.get(queue, 0) + int(readers_of[members.first[client]])
        return sorted([*twice, *(queue for queue, consumers in strange.items() if consumers > 1)])


def _rates(divisions: Sequence[Division], index: QueueIndex) -> Numbers:
    """Messages a second that the groups get from each of their queues; NaN if unknown."""
    msgs_per_s = np.full(index.queues, np.nan)
    written = [
        [(reads, one) for reads in division.queues.topics for one in reads.topic.written] for division in divisions
    ]
    every = list(chain.from_iterable(written))
    queue = index.find(
        NamedQueues(
            lengths(written),
            [reads.topic.topic for reads, _ in every],
            [one.broker_name for _, one in every],
            [one.queue_id for _, one in every],
        )
    )
    put = np.array([one.put_msgs_per_s for _, one in every], np.float64)
    rate = put * np.array([reads.pass_ratio for reads, _ in every], np.float64)
    is_known = (queue != NO_QUEUE) & ~np.isnan(rate)
    msgs_per_s[queue[is_known]] = rate[is_known]
    return msgs_per_s


def _lags(divisions: Sequence[Division], index: QueueIndex) -> Integers:
    """The groups' lag on each of their queues, or :data:`NO_LAG`."""
    lag_of_queue = np.full(index.queues, NO_LAG)
    of_groups = [division.group.lags for division in divisions]
    queue = index.find(NamedQueues.of(of_groups))
    lag = np.array([NO_LAG if one.lag is None else one.lag for lags in of_groups for one in lags], np.int64)
    is_readable = queue != NO_QUEUE
    lag_of_queue[queue[is_readable]] = lag[is_readable]
    return lag_of_queue


def loads_of(division: Division, weights: QueueWeights, owner_sets: Sequence[Owners]) -> Iterator[GroupLoad]:
    """The loads under several owners. They are computed together, because single calls cost more than the sums."""
    clients = len(division.members.client_ids)
    shape = len(owner_sets), clients
    row = np.repeat(np.arange(len(owner_sets)), lengths([owners.queue for owners in owner_sets]))
    queue = np.concatenate([*(owners.queue for owners in owner_sets), np.empty(0, np.int64)])
    cell = row * clients + np.concatenate([*(owners.client for owners in owner_sets), np.empty(0, np.int64)])
    strange = _counted(
        (number * clients + client for number, owners in enumerate(owner_sets) for client, _ in owners.strangers), shape
    )
    queues = _counted(cell, shape) + strange
    rates = np.bincount(cell, weights.msgs_per_s[queue], len(owner_sets) * clients).reshape(shape)
    msgs_per_s = np.where(strange > 0, np.nan, rates)
    lag = np.zeros(len(owner_sets) * clients, np.int64)
    np.add.at(lag, cell, weights.lag[queue])
    lag = lag.reshape(shape)
    has_lag = (_counted(cell[~weights.has_lag[queue]], shape) == 0) & (strange == 0)
    is_owned = np.zeros((len(owner_sets), len(division.queues)), bool)
    is_owned[row, queue] = True
    x = np.concatenate([queues, msgs_per_s, np.where(has_lag, lag, np.nan)])
    is_shared = np.array([np.any(owners.is_popped) for owners in owner_sets], bool)
    figures = metrics(x, np.repeat(weights.floors(clients), len(owner_sets)), np.tile(is_shared, 3))
    topics = division.queues.topic[weights.queue]
    for number, owners in enumerate(owner_sets):
        is_orphan = ~is_owned[number, weights.queue]
        if owners.unknown:
            is_orphan &= ~np.isin(topics, list(owners.unknown))
        yield GroupLoad(
            division,
            owners,
            queues[number],
            msgs_per_s[number],
            lag[number],
            has_lag[number],
            weights.queue[is_orphan],
            *([None] * 3 if owners.unknown else figures[number :: len(owner_sets)]),
        )


def _counted(cells: Iterable[int] | Integers, shape: tuple[int, int]) -> Integers:
    """How often each cell occurs."""
    numbers = cells if isinstance(cells, np.ndarray) else np.fromiter(cells, np.int64)
    return np.bincount(numbers, minlength=shape[0] * shape[1]).reshape(shape)
