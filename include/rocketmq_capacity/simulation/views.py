"""Clients that do not all know of a change yet: which queues are unread or read twice while some have switched.

A client computes what it owns from its own view: the list of members and the route that it last got. So while a change
spreads, each client owns what it owns before, or what it owns after. Nothing makes clients switch in an order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

MOST_CLIENTS: Final = 10
"""Up to so many clients that give or take queues every interleaving is tried: 1,024 of them."""

NONE: Final = -1
"""A reader's place for a queue that nobody reads."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst moment of a change.

    Attributes:
        queues: how many queues are unread, or read twice, at the same time.
        switched: the clients that have switched at that moment, by index; None where `queues` is a bound.
    """

    queues: int
    switched: tuple[int, ...] | None


NOWHERE: Final = Worst(0, ())


@dataclass(frozen=True, slots=True)
class Interleavings:
    """The moves of queues between clients, each counted.

    Attributes:
        old: of each kind of move the index of the reader before, or NONE.
        new: the index of the reader afterwards, or NONE.
        queues: how many queues move so.
        gone: clients that no longer read when the change begins: those that end.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    queues: tuple[int, ...]
    gone: frozenset[int] = frozenset()

    @classmethod
    def of(cls, old: Sequence[int], new: Sequence[int], gone: frozenset[int] = frozenset()) -> "Interleavings":
        """The moves of some queues; those that keep their reader are left out."""
        pairs: dict[tuple[int, int], int] = {}
        for pair in zip(old, new, strict=True):
            if pair[0] != pair[1]:
                pairs[pair] = pairs.get(pair, 0) + 1
        every = sorted(pairs)
        return cls(tuple(a for a, _ in every), tuple(b for _, b in every), tuple(pairs[one] for one in every), gone)

    def unread(self) -> Worst:
        """The most queues that nobody reads at the same time.

        A queue is unread exactly where its old reader has switched (or is gone) and its new one has not. So at one
        moment this is a sum over moves, each of which hangs on its two clients alone.

        Many clients: no interleaving has more unread queues than there are queues that move to a client, since the sum
        has a term for each of them and none is more than 1. The bound is reached where no client both gives and takes:
        then those that give can all switch first.
        """
        return self._worst(is_unread=True)

    def twice(self) -> Worst:
        """The most queues that two clients read at the same time: the old reader has not switched, the new one has.

        The bound for many clients holds for the same reason. A client that is gone reads nothing twice.
        """
        return self._worst(is_unread=False)

    def _worst(self, *, is_unread: bool) -> Worst:
        old, new, queues = (np.array(part, np.int64) for part in (self.old, self.new, self.queues))
        is_gone = np.isin(old, list(self.gone)) | (old == NONE)
        keep = (new != NONE) & (is_unread | ~is_gone)
        old, new, queues, is_gone = old[keep], new[keep], queues[keep], is_gone[keep]
        ids = np.unique(np.concatenate([old[~is_gone], new]))
        if not len(ids):
            return NOWHERE
        gives, takes = set(old[~is_gone].tolist()), set(new.tolist())
        if not gives & takes:
            first = gives if is_unread else takes
            return Worst(int(queues.sum()), tuple(sorted(first)))
        if len(ids) > MOST_CLIENTS:
            return Worst(int(queues.sum()), None)
        has_switched = (np.arange(2 ** len(ids))[:, None] >> np.arange(len(ids))) & 1 == 1
        of_new = has_switched[:, np.searchsorted(ids, new)]
        of_old = has_switched[:, np.minimum(np.searchsorted(ids, old), len(ids) - 1)] | is_gone
        hit = of_old & ~of_new if is_unread else ~of_old & of_new
        sums = hit @ queues
        best = int(sums.argmax())
        return Worst(int(sums[best]), tuple(ids[has_switched[best]].tolist()))
