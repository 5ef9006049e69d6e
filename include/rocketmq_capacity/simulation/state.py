"""A group before or after a change: who owns what, and what is known of its queues and clients."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from rocketmq_capacity.assessment.current import client_runs
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.loads import QueueWeights
from rocketmq_capacity.model.arrays import Flags
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import NO_OWNERS, Owners
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS

Readers = Mapping[Queue, tuple[str, ...]]
"""The client ids that own each queue that is pulled, sorted."""


@dataclass(frozen=True)
class State:
    """A group before or after a change.

    Attributes:
        division: its queues and clients.
        owners: who owns which queue, as far as that is known.
        runs: by client id, the strategy or mode that its code sets.
    """

    division: Division
    owners: Owners
    runs: Mapping[str, str]

    @property
    def readers(self) -> Readers:
        """Who owns each business queue that clients pull."""
        ids, names = self.division.members.client_ids, self.division.queues.names
        readers: dict[Queue, list[str]] = {names[queue]: [] for queue in np.flatnonzero(self.is_pulled).tolist()}
        for queue, client in zip(self.owners.queue.tolist(), self.owners.client.tolist(), strict=True):
            if (of_queue := readers.get(names[queue])) is not None:
                of_queue.append(ids[client])
        return {name: tuple(sorted(set(own))) for name, own in readers.items()}

    @classmethod
    def of(cls, group: AssessedGroup) -> "State | None":
        """A clustering group as it runs today, with or without clients; None if an owner is unknown."""
        if not group.is_clustering or group.current is None:
            return None
        modes = "".join(f" {reads.topic.topic} {reads.message_request_mode}" for reads in group.business)
        strategies = client_runs(group.division, group.current.strategy, group.policy)
        runs = {one: run + modes for one, run in zip(group.client_ids, strategies, strict=True)}
        if not group.client_ids:
            return cls(group.division, NO_OWNERS, runs)
        return None if group.whole_load is None else cls(group.division, group.whole_load.owners, runs)

    @cached_property
    def is_pulled(self) -> Flags:
        """Whether each queue is of a business topic that clients pull."""
        queues, pops = self.division.queues, self.division.group.pops
        return np.array([one.topic.kind == BUSINESS and not pops(one) for one in queues.topics], bool)[queues.topic]

    @cached_property
    def client_ids(self) -> frozenset[str]:
        """Its different client ids."""
        return frozenset(self.division.members.client_ids)

    @cached_property
    def weights(self) -> QueueWeights:
        """Messages a second and lag of each queue."""
        return QueueWeights.of(self.division)

    @cached_property
    def is_committed(self) -> Flags:
        """Whether the group has committed an offset for each queue."""
        first = self.division.queues.first
        is_committed = self.weights.has_lag.copy()
        for offset in self.division.group.lags:
            if offset.lag is None and offset.consumer_offset is not None:
                begin, readable = first.get(offset.topic, {}).get(offset.broker_name, (0, 0))
                if offset.queue_id < readable:
                    is_committed[begin + offset.queue_id] = True
        return is_committed

    @cached_property
    def has_committed(self) -> bool:
        """Whether the group has committed an offset for any queue, one that nobody can read included."""
        return any(one.consumer_offset is not None for one in self.division.group.lags)

    @cached_property
    def written(self) -> dict[Queue, int]:
        """Messages that each queue holds, where both ends are known."""
        return {
            Queue(reads.topic.topic, one.broker_name, one.queue_id): one.max_offset - one.min_offset
            for reads in self.division.group.business
            for one in reads.topic.written
            if one.max_offset is not None and one.min_offset is not None
        }

    @cached_property
    def consumed(self) -> dict[tuple[str, str], float]:
        """Messages a second that a client id consumes of a topic."""
        ids = {one.consumer_index: one.client_id for one in self.division.members.consumers}
        rates: dict[tuple[str, str], float] = {}
        for row in self.division.group.consumed:
            if row.msgs_per_s is not None and row.consumer_index in ids:
                key = ids[row.consumer_index], row.topic
                rates[key] = rates.get(key, 0.0) + row.msgs_per_s
        return rates

    @cached_property
    def at_once(self) -> dict[str, int]:
        """Messages that a client handles at the same time."""
        return {
            one.client_id: one.consume_threads * one.consume_batch_size
            for one in self.division.members.consumers
            if one.consume_threads is not None and one.consume_batch_size is not None
        }
