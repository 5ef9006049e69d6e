"""When Python's garbage collector looks for cycles, and when free memory goes back to the system.

Counting references frees almost everything here: a plan and its units are trees of rows. Each pass of the collector
looks at all of them again and frees nothing.
"""

import atexit
import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Final

SELDOM: Final = (50_000, 10, 10)
"""New objects until a pass over the young ones, and such passes until one over older ones; Python has 700, 10, 10."""


def collect_seldom() -> None:
    """From now on the collector of this process looks seldom, and never at what is imported already.

    It is for processes that do many units. Memory stays bounded, because the collector still frees cycles. It saves
    about a seventh of the CPU time of assessing groups.
    """
    if gc.get_threshold() != SELDOM:
        gc.freeze()
        gc.set_threshold(*SELDOM)


@contextmanager
def without_collector() -> Iterator[None]:
    """The body without the collector: for millions of objects that are all needed to the end.

    It saves a quarter of the time of publishing a plan, and some of a snapshot's.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def give_memory_back() -> None:
    """Give free memory back to the system, after something large such as an inventory has been freed.

    After the snapshot of 10,000 groups it is 1.2 GB, a third of what the plan needs. Python keeps a part until the
    collector has looked at everything, and the C library keeps another.
    """
    gc.collect()
    give_blocks_back()


def give_blocks_back() -> None:
    """Give back only the part that the C library keeps: texts, and lists of more than 60 items.

    Source: malloc_trim(3) of glibc; other C libraries do not have it.
    """
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def end_without_collector() -> None:
    """When this process ends, the collector does not look at everything once more.

    The system frees all memory anyway. With Arrow and pandas imported, that look takes some tenths of a second.
    """
    atexit.register(gc.freeze)
