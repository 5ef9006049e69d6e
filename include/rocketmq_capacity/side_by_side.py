"""Independent parts of a plan at the same time: to build and run a small Spark query keeps one core busy."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

AT_A_TIME: Final = 2

T = TypeVar("T")


def side_by_side(*parts: Callable[[], T]) -> list[T]:
    """What each part returns, in their order; the first error of a part is raised once all have ended."""
    with ThreadPoolExecutor(AT_A_TIME) as pool:
        return list(pool.map(lambda part: part(), parts))
