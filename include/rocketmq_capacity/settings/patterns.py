"""Regular expressions of a policy, with limits: their length, the time to compile them, the time of a search.

Python's engine tries one way after another: a pattern such as ``(a+)+$`` can take years over a short name. Names and
client ids come from any user of the cluster. Times are CPU times, so a busy machine does not refuse more.
"""

import re
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Final

from rocketmq_capacity.errors import BadInput, cut, shown

LONGEST: Final = 1_000
"""Characters of a pattern."""
COMPILES_WITHIN_S: Final = 1.0
"""Limit for all patterns of a policy; a usual pattern takes a thousandth of it."""
SEARCHES_WITHIN_S: Final = 1.0
"""Limit for one pattern in one name; a usual search takes a millionth of it."""


class Compiling:
    """Compiles the patterns of one policy within the time limit."""

    def __init__(self) -> None:
        self._left_s = COMPILES_WITHIN_S

    @classmethod
    def of(cls, context: object) -> "Compiling":
        """The one that all parts of a policy share while it is validated; a new one for a part by itself."""
        return context if isinstance(context, cls) else cls()

    def compile(self, pattern: str) -> re.Pattern[str]:
        """Compile a pattern.

        Errors: ValueError for a text that is not a pattern or too long, and if the time is used up.
        """
        if len(pattern) > LONGEST:
            raise ValueError(f"pattern is too long; expected at most {LONGEST:,} characters")
        if self._left_s <= 0:
            raise ValueError(f"patterns take longer to compile than {COMPILES_WITHIN_S:g} s; expected simpler ones")
        began = time.thread_time()
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, RecursionError) as error:
            reason = cut(str(error), 200)
            raise ValueError(f"is not a regular expression ({reason}); expected one of Python's") from None
        finally:
            self._left_s -= time.thread_time() - began


class _TooLong(Exception):
    """A search has exceeded its time limit."""


class _Clock:
    """Ticks while there are searches. At a tick, a search that was there at the tick before as well is too long."""

    def __init__(self) -> None:
        self.runs = False
        self.searches = 0
        self.is_searching = False
        self._seen = 0

    def start(self) -> None:
        self.runs, self._seen = True, self.searches + 1  # the first search begins now
        self._before_us = signal.signal(signal.SIGVTALRM, self._tick)
        signal.setitimer(signal.ITIMER_VIRTUAL, SEARCHES_WITHIN_S, SEARCHES_WITHIN_S)

    def stop(self) -> None:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, self._before_us)
        self.runs = False

    def _tick(self, _signal: int, _frame: FrameType | None) -> None:
        if self.is_searching and self._seen == self.searches:
            raise _TooLong
        self._seen = self.searches


_CLOCK: Final = _Clock()


@contextmanager
def many_searches() -> Iterator[None]:
    """The searches of the body share a timer: to set one takes ten times as long as a usual search.

    A search that is not the first may take twice its limit. The body must not fork: a timer does not tick in a copy.
    """
    if _CLOCK.runs or threading.current_thread() is not threading.main_thread():
        yield
        return
    _CLOCK.start()
    try:
        yield
    finally:
        _CLOCK.stop()


def search(pattern: re.Pattern[str], name: str) -> re.Match[str] | None:
    """``pattern.search(name)`` with a time limit.

    Only the main thread of a process can be interrupted. The steps and the command line search in their main thread;
    the API server does not search.

    Errors: BadInput for a pattern that takes too long.
    """
    if threading.current_thread() is not threading.main_thread():
        return pattern.search(name)
    if not _CLOCK.runs:
        with many_searches():
            return search(pattern, name)
    try:
        _CLOCK.searches += 1
        _CLOCK.is_searching = True
        return pattern.search(name)
    except _TooLong:
        problem = f"takes longer than {SEARCHES_WITHIN_S:g} s over {shown(name)}; expected no repeats within repeats"
        raise BadInput("the policy", f"pattern {shown(pattern.pattern)}", problem) from None
    finally:
        _CLOCK.is_searching = False
