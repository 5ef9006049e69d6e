"""The search for a number of clients that fits."""

from collections.abc import Callable, Generator, Iterator
from typing import Final

NEAR: Final = 32
"""The search tries each of so many numbers from the first one; beyond them, halving may miss a lower one that fits."""
EVERY: Final = 4
"""Each number up to this one is in the table of sizes; from here each is a half or a third more than the one before."""


def or_shown(fits: Callable[[int], bool], start: int, most: int) -> "Search":
    """The lowest number that fits; where halving finds none, the lowest that the table of sizes shows to fit.

    If queues get different traffic, more clients may make the busiest one busier, and halving misses a lower number
    that fits. So the first NEAR numbers below the one that halving finds are tried, too.
    """
    by_halving = yield from least_number(fits, start, most)
    near = range(start, min(start + NEAR, most + 1 if by_halving is None else by_halving))
    yield near
    lowest = next(filter(fits, near), by_halving)
    if lowest is not None:
        return lowest
    for clients in shown_numbers(most):
        if clients >= start:
            yield range(clients, clients + 1)
            if fits(clients):
                return clients
    return None


def shown_numbers(most: int) -> Iterator[int]:
    """The numbers of clients of the table of sizes: 1, 2, 3, 4, 6, 8, 12, 16, 24, … up to a number."""
    yield from range(1, min(EVERY, most) + 1)
    step = EVERY
    while step < most:
        yield from (number for number in (step * 3 // 2, step * 2) if number <= most)
        step *= 2


Search = Generator[range, None, int | None]
"""A search for a number of clients: it yields the numbers whose sizes it asks for next, and returns what it finds.

So the sizes that the searches of many groups ask for next can be computed together.
"""


def result(search: Search) -> int | None:
    """What a search finds."""
    while True:
        try:
            next(search)
        except StopIteration as end:
            number: int | None = end.value
            return number


def least_number(fits: Callable[[int], bool], start: int, most: int, *, fewer: int = 0) -> Search:
    """The lowest number that fits, searched from ``start`` by halving; None if ``most`` does not fit.

    Halving finds it because more clients hardly ever make the busiest one busier.

    Args:
        fits: whether a number fits.
        start: the first number that is tried.
        most: the highest one.
        fewer: how many clients fewer than the number ``fits`` looks at as well.
    """
    low, high, step = start - 1, start, 1
    while high < most:
        yield range(high - fewer, high + 1)
        if fits(high):
            break
        low, high, step = high, high + step, step * 2
    high = min(high, most)
    if low >= high:
        return None
    yield range(high - fewer, high + 1)
    if not fits(high):
        return None
    while high - low > 1:
        probe = (low + high) // 2
        yield range(probe - fewer, probe + 1)
        if fits(probe):
            high = probe
        else:
            low = probe
    return high
