"""A second process for a part of a step, because Python computes on one core only."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection
from traceback import format_exc
from typing import Any, Final, TypeVar

from rocketmq_capacity.collector import collect_seldom
from rocketmq_capacity.errors import CapacityError, ProcessGone

Result = TypeVar("Result")

_FORK: Final = get_context("fork")


@contextmanager
def beside(work: Callable[[], Result]) -> Iterator[Callable[[], Result]]:
    """Do the work in a copy of this process while the body runs. Both have ended when this ends.

    The copy has all objects of this process, so nothing is sent to it. Other threads do not exist in it, and a lock
    that one of them holds stays locked there for ever. So the work must not use the progress, and must not import a
    module that another thread may just be importing.

    Yields: a function that waits for the work and returns its result.
    Errors: those of the work, at the latest when the body ends; ProcessGone if its process is killed.
    """
    told, tell = _FORK.Pipe(duplex=False)
    process = _FORK.Process(target=_do, args=(work, tell), daemon=True)
    process.start()
    tell.close()  # so that reading ends when the process does
    result = cache(partial(_result, told))
    try:
        yield result
        result()
        process.join()
    finally:
        process.kill()
        process.join()
        told.close()


def _result(told: Connection) -> Any:
    try:
        result, error = told.recv()
    except EOFError:
        problem = "a process of this program was killed before the plan was finished"
        raise ProcessGone(f"{problem}; most often the machine's memory was too small") from None
    if error is not None:
        raise error
    return result


def _do(work: Callable[[], object], tell: Connection) -> None:
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)  # the first process tells that it was stopped
    threading.Thread(target=_end_with_parent, daemon=True).start()
    collect_seldom()
    try:
        tell.send((work(), None))
    except CapacityError as error:
        tell.send((None, error))
    except Exception as error:  # raised again in the first process
        failure = RuntimeError(f"{type(error).__name__}: {error}")
        failure.add_note(format_exc())
        tell.send((None, failure))


def _end_with_parent() -> None:
    """End at once when the first process has ended, however it did: the run is no longer this program's."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
