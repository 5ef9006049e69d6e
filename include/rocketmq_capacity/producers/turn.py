"""The queues that a producer uses one after the other while nothing changes.

While every message is stored at its first try and no broker becomes avoided or usable, a producer goes through the
usable queues of its list again and again. So these messages need not be chosen one by one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.producers.route import WritePlace, WriteQueue, write_queues


@dataclass(frozen=True, slots=True)
class Listed:
    """A producer's list of queues as arrays, one entry a queue.

    Attributes:
        names: the brokers in the order of their first queue.
        number: the number of each queue's broker among the names.
        queue_id: the id of each queue.
        every: the positions of all queues.
    """

    names: tuple[str, ...]
    number: Integers
    queue_id: Integers
    every: Integers

    @classmethod
    def of(cls, queues: Sequence[WriteQueue]) -> "Listed":
        """The arrays of a list."""
        names = tuple(dict.fromkeys(queue.broker_name for queue in queues))
        numbers = {name: number for number, name in enumerate(names)}
        return cls(
            names,
            np.array([numbers[queue.broker_name] for queue in queues], np.int64),
            np.array([queue.queue_id for queue in queues], np.int64),
            np.arange(len(queues)),
        )

    def usable(self, avoided: Iterable[str]) -> Integers:
        """The positions of the queues whose brokers are not avoided, ascending."""
        bad = set(avoided)
        if bad.isdisjoint(self.names):
            return self.every
        return np.flatnonzero(np.array([name not in bad for name in self.names], np.bool_)[self.number])


class CountedQueues:
    """The queues that a producer or a Proxy counts through: the route's, but for displaced ones."""

    def _take(self, route: Iterable[WritePlace]) -> None:
        """Begin with the queues of a route."""
        self._queues = write_queues(route)
        self._listed: Listed | None = None

    @property
    def queues(self) -> tuple[WriteQueue, ...]:
        """All of them."""
        return tuple(self._queues)

    @property
    def listed(self) -> Listed:
        """The same as arrays."""
        if self._listed is None:
            self._listed = Listed.of(self._queues)
        return self._listed


class Turn(NamedTuple):
    """The messages that follow while nothing changes.

    Attributes:
        positions: the positions in the list, which repeat for ever.
        begins: how many steps the index takes to the first of them.
        skips: the index also counts the queues that it passes over.
        size: the number of queues in the list.
        until_ms: when the first avoided broker is usable again; None if no broker is avoided for a time.
        most: at most so many messages, because the index overflows after them.
    """

    positions: Integers
    begins: int
    skips: bool
    size: int
    until_ms: int | None
    most: int

    def steps(self, count: int) -> int:
        """How many steps the index takes for the first ``count`` messages; at least one message."""
        if not self.skips:
            return count - 1 + self.begins
        rounds, rest = divmod(count - 1, len(self.positions))
        return self.begins + rounds * self.size + int(self.positions[rest] - self.positions[0]) % self.size


def turn_of(
    usable: Integers, size: int, first: int, *, steps_before: int, skips: bool, until_ms: int | None, steps_left: int
) -> Turn | None:
    """The turn of a producer that looks at position ``first`` next; None if no queue is usable.

    Args:
        usable: the positions of usable queues, ascending.
        size: the number of queues in the list.
        first: the first position that is looked at.
        steps_before: how many steps the index takes to look at that position.
        skips: the next message begins behind the queue of the last one; else one behind where the last one began.
        until_ms: see :class:`Turn`.
        steps_left: how many steps the index may take before it overflows.
    """
    if not len(usable):
        return None
    most = steps_left // size
    if skips or len(usable) == size:
        place = int(np.searchsorted(usable, first))
        positions = np.concatenate((usable[place:], usable[:place]))
        passed = int(positions[0] - first) % size
        return Turn(positions, steps_before + passed, True, size, until_ms, most)
    looked_at = (first + np.arange(size)) % size
    positions = usable[np.searchsorted(usable, looked_at) % len(usable)]
    return Turn(positions, steps_before, False, size, until_ms, most)
