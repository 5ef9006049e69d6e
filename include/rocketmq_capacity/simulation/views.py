"""The queues that are unread or read twice while some clients have noticed a change and others have not.

A client computes its queues from its own view: the last list of members and the last route that it got. So while a
change spreads, each client owns its queues from before or from afterwards. Clients may switch in any order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

MOST_CLIENTS: Final = 10
"""Up to this number of clients that give or take queues, all sets of switched clients are tried, at most 1,024."""

NONE: Final = -1
"""The index of the reader of a queue that nobody reads."""


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst moment of a change.

    Attributes:
        queues: how many queues are unread, or read twice, at the same time.
        switched: the clients that have switched at that moment, by index; None if `queues` is a bound.
    """

    queues: int
    switched: tuple[int, ...] | None


NOWHERE: Final = Worst(0, ())


@dataclass(frozen=True, slots=True)
class Interleavings:
    """The moves of queues between clients. Arrays have one entry for each different pair of an old and a new reader.

    Attributes:
        old: the index of the reader before, or NONE.
        new: the index of the reader afterwards, or NONE.
        queues: how many queues move from the one to the other.
        gone: clients that end, so that they no longer read when the change begins.
    """

    old: tuple[int, ...]
    new: tuple[int, ...]
    queues: tuple[int, ...]
    gone: frozenset[int] = frozenset()

    @classmethod
    def of(cls, old: Sequence[int], new: Sequence[int], gone: frozenset[int] = frozenset()) -> "Interleavings":
        """The moves of some queues; queues that keep their reader are left out."""
        pairs: dict[tuple[int, int], int] = {}
        for pair in zip(old, new, strict=True):
            if pair[0] != pair[1]:
                pairs[pair] = pairs.get(pair, 0) + 1
        every = sorted(pairs)
        return cls(tuple(a for a, _ in every), tuple(b for _, b in every), tuple(pairs[one] for one in every), gone)

    def unread(self) -> Worst:
        """The most queues that nobody reads at the same time.

        A queue is unread if its old reader has switched (or is gone) and its new one has not. So the number at one
        moment is a sum over moves, and each term depends only on two clients.

        With many clients, the number of queues that move to a client is a bound, because each of them is unread or not.
        The bound is reached if no client both gives and takes queues: then all that give can switch first.
        """
        return self._worst(is_unread=True)

    def twice(self) -> Worst:
        """The most queues that two clients read at the same time: the old reader has not switched, the new one has.

        There is a bound for many clients for the same reason. A client that is gone reads nothing, so nothing twice.
        """
        return self._worst(is_unread=False)

    def _worst(self, *, is_unread: bool) -> Worst:
        gone = self.gone | {NONE}
        pairs = zip(self.old, self.new, self.queues, strict=True)
        kept = [one for one in pairs if one[1] != NONE and (is_unread or one[0] not in gone)]
        gives, takes = {old for old, _, _ in kept} - gone, {new for _, new, _ in kept}
        ids, total = sorted(gives | takes), sum(queues for _, _, queues in kept)
        if not ids:
            return NOWHERE
        if not gives & takes:
            return Worst(total, tuple(sorted(gives if is_unread else takes)))
        if len(ids) > MOST_CLIENTS:
            return Worst(total, None)
        old, new, queues = np.array(kept).T
        is_gone = np.isin(old, list(gone))
        has_switched = (np.arange(2 ** len(ids))[:, None] >> np.arange(len(ids))) & 1 == 1
        of_new = has_switched[:, np.searchsorted(ids, new)]
        of_old = has_switched[:, np.minimum(np.searchsorted(ids, old), len(ids) - 1)] | is_gone
        hit = of_old & ~of_new if is_unread else ~of_old & of_new
        sums = hit @ queues
        best = int(sums.argmax())
        return Worst(int(sums[best]), tuple(np.array(ids)[has_switched[best]].tolist()))
