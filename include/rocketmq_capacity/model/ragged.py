"""Arrays of several parts of different lengths, one after the other: a batch of groups has one of each kind."""

from collections.abc import Iterable, Sequence, Sized

import numpy as np

from rocketmq_capacity.model.arrays import Integers


def lengths(parts: Sequence[Sized]) -> Integers:
    """How many entries each part has.

    >>> lengths(["ab", "", "cde"])
    array([2, 0, 3])
    """
    return np.fromiter(map(len, parts), np.int64, len(parts))


def begins_of(counts: Sequence[int] | Integers) -> Integers:
    """Where each part begins if parts of so many entries follow one another.

    >>> begins_of([2, 0, 3])
    array([0, 2, 2])
    """
    return np.cumsum(counts, dtype=np.int64) - counts


def within(counts: Integers) -> Integers:
    """The index of each entry within its part.

    >>> within(np.array([2, 0, 3]))
    array([0, 1, 0, 1, 2])
    """
    return np.arange(counts.sum()) - np.repeat(begins_of(counts), counts)


def joined(parts: Iterable[Integers]) -> Integers:
    """The entries of all parts; empty without parts."""
    return np.concatenate([np.empty(0, np.int64), *parts])


def joined_from(parts: Sequence[Integers], begins: Integers) -> Integers:
    """Indexes of several parts, each counted from where its part begins."""
    return joined(parts) + np.repeat(begins, lengths(parts))
