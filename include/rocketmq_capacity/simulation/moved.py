"""Which queues a change moves, from whom and to whom."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.simulation.state import State
from rocketmq_capacity.simulation.views import NONE


@dataclass(frozen=True, slots=True)
class Moved:
    """The queues that get other owners, and the new queues, in order. Arrays have one entry for each of them.

    Attributes:
        queue: its index among the queues afterwards.
        index_before: its index among the queues before; NONE for a new queue.
        gives: the first client that no longer owns it, by index; NONE if there is none.
        takes: the first client that did not own it before, by index; NONE if there is none.
        old: how many clients own it before.
        new: how many clients own it afterwards.
        kept: how many clients own it before and afterwards.
    """

    queue: Integers
    index_before: Integers
    gives: Integers
    takes: Integers
    old: Integers
    new: Integers
    kept: Integers

    @classmethod
    def between(cls, before: State, after: State, client_ids: Iterable[str]) -> "Moved":
        """The queues that a change moves; clients have the index of their id in ``client_ids``."""
        number = {client_id: place for place, client_id in enumerate(client_ids)}
        clients, queues = max(len(number), 1), after.division.queues
        index_before = _indexes_before(before, after)
        index_after = np.full(len(before.division.queues) + 1, NONE)  # the last entry is for the queues that are new
        index_after[index_before] = np.arange(len(queues))
        new = _pairs(after, np.arange(len(queues)), number)
        old = _pairs(before, index_after[:-1], number)
        left, joined = _without(old, new), _without(new, old)
        gives, takes = _first_client(left, clients, len(queues)), _first_client(joined, clients, len(queues))
        owns = np.bincount(new // clients, minlength=len(queues))
        owned = np.bincount(old // clients, minlength=len(queues))
        has_moved = (gives != NONE) | (takes != NONE) | ((owns == 0) & (index_before == NONE))
        queue = np.flatnonzero(has_moved & after.is_pulled)
        kept = owned - np.bincount(left // clients, minlength=len(queues))
        return cls(queue, *(each[queue] for each in (index_before, gives, takes, owned, owns, kept)))

    @property
    def is_new(self) -> Flags:
        """Whether the change creates each queue."""
        return np.equal(self.index_before, NONE)


def _indexes_before(before: State, after: State) -> Integers:
    """For each queue afterwards its index among the queues before; NONE for a new queue."""
    queues, first = after.division.queues, before.division.queues.first
    places = [first.get(reads.topic.topic, {}).get(place.broker_name, (0, 0)) for reads, place in queues.of_topics]
    begin, readable = np.array(places, np.int64).reshape(-1, 2).T
    return np.where(queues.queue_id < readable[queues.place], begin[queues.place] + queues.queue_id, NONE)


def _pairs(state: State, queue: Integers, number: Mapping[str, int]) -> Integers:
    """Who owns the queues that are pulled, a number for each pair: queue times number of clients + client; sorted.

    Args:
        state: the group before or after the change.
        queue: for each of its queues the index afterwards; NONE for a queue that is gone.
        number: by client id its index.
    """
    client = np.array([number[one] for one in state.division.members.client_ids], np.int64)
    keep = (state.is_pulled & (queue != NONE))[state.owners.queue]
    owned, owner = queue[state.owners.queue[keep]], client[state.owners.client[keep]]
    return np.unique(owned * max(len(number), 1) + owner)


def _without(pairs: Integers, others: Integers) -> Integers:
    """The pairs that are not among the others; both are sorted."""
    candidates: Integers = np.append(others, NONE)[np.searchsorted(others, pairs)]
    return pairs[~np.equal(candidates, pairs)]


def _first_client(pairs: Integers, clients: int, queues: int) -> Integers:
    """For each queue the first of the clients that are paired with it; NONE without one."""
    first = np.full(queues, NONE)
    queue, client = np.divmod(pairs[::-1], clients)
    first[queue] = client
    return first
