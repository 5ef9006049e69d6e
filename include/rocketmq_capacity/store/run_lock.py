"""The lock of a run: only one process works on it at a time."""

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from rocketmq_capacity.errors import RunBusy
from rocketmq_capacity.store.lease import LEASE_S, Lease
from rocketmq_capacity.store.place import errors_in_one_line
from rocketmq_capacity.store.writing import make_folder

LOCK: Final = ".lock"
"""The file in a run's folder that is locked by the process that works on the run."""
ASK_S: Final = 1.0
"""Seconds between two questions for the lock of a run in a store."""
WAIT_S: Final = 60.0
"""Seconds to wait for the lock. A driver whose JVM is gone ends within seconds; one whose task was killed may go on."""


def busy(folder: Path) -> RunBusy:
    """The error that another process works on the run in this folder."""
    problem = "another process still works on this run; expected that it ends, or is ended, before the next try"
    return RunBusy(f"{folder}: {problem}")


def _tell(folder: Path, wait_s: float) -> None:
    """Say why nothing happens for a while, if it is waited at all."""
    if wait_s:
        logging.getLogger(__name__).warning("%s: waits up to %.0f s for another process to end", folder, wait_s)


@contextmanager
def locked(folder: Path, wait_s: float) -> Iterator[None]:
    """The lock of a run on a disk. Errors: :class:`RunBusy` if another process has it when the time is up."""
    lock = FileLock(folder / LOCK, preserve_lock_file=True)
    try:
        while not lock.is_locked:
            make_folder(folder)
            with suppress(FileNotFoundError):  # retention has just deleted the run
                try:
                    lock.acquire(timeout=0)
                except Timeout:
                    _tell(folder, wait_s)
                    lock.acquire(timeout=wait_s)
    except Timeout:
        raise busy(folder) from None
    try:
        yield
    finally:
        lock.release()


@contextmanager
def leased(folder: Path, wait_s: float, held: list[Lease]) -> Iterator[None]:
    """The same in a store; the lease is in ``held`` meanwhile. Errors: as :func:`locked`.

    A lock of a process that was killed ends by itself, so it is waited for longer.
    """
    wait_s += LEASE_S if wait_s else 0
    ends_at = time.monotonic() + wait_s
    lease = Lease(folder)
    with errors_in_one_line(folder):
        if not lease.take():
            _tell(folder, wait_s)
            while not lease.take():
                if time.monotonic() >= ends_at:
                    raise busy(folder)
                time.sleep(ASK_S)
    held.append(lease)
    try:
        yield
    finally:
        held.remove(lease)
        with errors_in_one_line(folder):
            lease.give_back()
