"""Regular expressions of a policy: bounded in length, in the time to compile them, and in the time of a search.

Python's engine tries one way after another: a pattern such as ``(a+)+$`` can take years over a short name. Names and
client ids come from whoever uses the cluster. Times are of the CPU: a busy machine refuses nothing more.
"""

import re
import signal
import threading
import time
from types import FrameType
from typing import Final, NoReturn

from rocketmq_capacity.errors import BadInput, cut, shown

LONGEST: Final = 1_000
"""Characters of a pattern."""
COMPILES_WITHIN_S: Final = 1.0
"""For all patterns of a policy; a usual one takes a thousandth of that."""
SEARCHES_WITHIN_S: Final = 1.0
"""For one pattern in one name; a usual search takes a millionth of that."""


class Compiling:
    """Compiles the patterns of one policy, as many as the time is enough for."""

    def __init__(self) -> None:
        self._left_s = COMPILES_WITHIN_S

    def compile(self, pattern: str) -> re.Pattern[str]:
        """Errors: ValueError for what is no pattern, too long, or one too many."""
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
    """A search has used up its time."""


def search(pattern: re.Pattern[str], name: str) -> re.Match[str] | None:
    """``pattern.search(name)``, which ends.

    Only the main thread of a process can be interrupted. The steps and the command line search in theirs, and the API
    server searches nothing.

    Errors: BadInput for a pattern that takes too long.
    """
    if threading.current_thread() is not threading.main_thread():
        return pattern.search(name)
    before_us = signal.signal(signal.SIGVTALRM, _stop)
    try:
        signal.setitimer(signal.ITIMER_VIRTUAL, SEARCHES_WITHIN_S)
        found = pattern.search(name)
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    except _TooLong:
        problem = f"takes longer than {SEARCHES_WITHIN_S:g} s over {shown(name)}; expected no repeats within repeats"
        raise BadInput("the policy", f"pattern {shown(pattern.pattern)}", problem) from None
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before_us)
    return found


def _stop(_signal: int, _frame: FrameType | None) -> NoReturn:
    raise _TooLong
