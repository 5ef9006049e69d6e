"""What this project computes in Airflow's API server: one thing at a time, in a thread of its own.

All threads of the server share one lock of Python, so each thread that computes makes every other request slower, and
forty of them stop the server. A request that waits for its turn has no thread. Beyond some requests that wait, another
one is refused.
"""

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, Final, ParamSpec, TypeVar

from anyio import CapacityLimiter, to_thread
from anyio.lowlevel import RunVar

P = ParamSpec("P")
Result = TypeVar("Result")


class TooManyWaiting(Exception):
    """Too many requests wait already."""


class OneAtATime:
    """Runs functions one after another, in the order in which they are asked for.

    Args:
        name: what it is for.
        most_waiting: the most that may wait; one more is refused.
    """

    def __init__(self, name: str, most_waiting: int) -> None:
        # A server has one event loop in each process.
        self._limiter: RunVar[CapacityLimiter] = RunVar(f"rocketmq-capacity {name}")
        self._most_waiting = most_waiting

    async def run(self, function: Callable[[], Result]) -> Result:
        """What the function gives. Errors: Busy; those of the function."""
        limiter = self._limiter.get(None)
        if limiter is None:
            limiter = CapacityLimiter(1)
            self._limiter.set(limiter)
        if limiter.statistics().tasks_waiting >= self._most_waiting:
            raise TooManyWaiting
        return await to_thread.run_sync(function, limiter=limiter)

    def each(self, function: Callable[P, Result]) -> Callable[P, Any]:
        """The function as a coroutine that runs it so."""

        @wraps(function)
        async def run(*args: P.args, **kwargs: P.kwargs) -> Result:
            return await self.run(partial(function, *args, **kwargs))

        return run


SMALL: Final = OneAtATime("pages and forms", 64)
"""Pages and forms, each of which takes milliseconds, and half a second at most."""
LARGE: Final = OneAtATime("processes", 32)
"""What a process of its own does: comparisons, trends, answers and what-ifs. Each takes a second or a few."""
AGAIN_AFTER_S: Final = 10
"""Seconds after which a refused request may come again (Retry-After)."""
