"""Sums and maxima of figures of which some may be unknown."""

from collections.abc import Iterable
from typing import TypeVar

Number = TypeVar("Number", int, float)


def sum_of(figures: Iterable[Number | None]) -> Number | None:
    """The sum; None if one of them is unknown."""
    every = list(figures)
    known = [one for one in every if one is not None]
    return sum(known) if len(known) == len(every) else None


def most_of(figures: Iterable[Number | None]) -> Number | None:
    """The largest of those that are known; None if none is."""
    return max((one for one in figures if one is not None), default=None)
