"""A folder that appears whole or not at all, also where its writer is killed.

It is written beside its place, in ``.<name>.part/``, and put there in one step. Whoever writes holds a lock on that
folder, which ends with the process: what a killed writer left is cleared by the next one.
"""

import ctypes
import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from filelock import FileLock, Timeout

from rocketmq_capacity.errors import BadInput

LONGEST_NAME: Final = 200
"""Characters of the place's name in that of the folder beside it; a file system allows 255."""

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_NOT_HERE: Final = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def whole_folder(place: Path, *, overwrite: bool) -> Iterator[Path]:
    """A new folder for the body to fill; it takes its place when the body ends without an error.

    Args:
        place: where it goes. What is there stays until then.
        overwrite: whether something may be there.

    Errors: BadInput where another process is writing the same folder, and where a killed writer's old folder had to be
    put back and may not be replaced.
    """
    place = place.resolve()
    place.parent.mkdir(parents=True, exist_ok=True)
    work = place.with_name(f".{place.name[:LONGEST_NAME]}.part")
    with _only_writer(work, place):
        new, old = work / "new", work / "old"
        try:
            _put_back(old, place, overwrite=overwrite)
            for left in work.iterdir():
                if left.is_dir():
                    shutil.rmtree(left, ignore_errors=True)
            new.mkdir()
            yield new
            _put(new, place, old)
        finally:
            if old.exists() and not place.exists():
                old.replace(place)
            shutil.rmtree(work, ignore_errors=True)


@contextmanager
def _only_writer(work: Path, place: Path) -> Iterator[None]:
    """The folder beside the place, and nobody else in it."""
    lock = FileLock(work / "lock", preserve_lock_file=True)
    while not lock.is_locked:
        work.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # whoever wrote here has just ended
            try:
                lock.acquire(timeout=0)
            except Timeout:
                raise BadInput(
                    "--out", "", f"{place} is being written by another run; expected another folder"
                ) from None
    try:
        yield
    finally:
        lock.release()


def _put_back(old: Path, place: Path, *, overwrite: bool) -> None:
    """Undo the first of the two steps of a killed writer; see :func:`_put`."""
    if old.exists() and not place.exists():
        old.replace(place)
        if not overwrite:
            raise BadInput("--out", "", f"{place} was put back after an interrupted run; expected --overwrite")


def _put(new: Path, place: Path, old: Path) -> None:
    """Put the folder in its place in one step, whatever is there.

    A file system that cannot exchange two folders needs two steps; a writer killed between them leaves both folders
    beside the place, and the next one puts the old one back.
    """
    if not (place.is_dir() and any(place.iterdir())):
        new.replace(place)  # an empty folder is replaced in one step as well
    elif not _exchanged(new, place):
        place.replace(old)
        new.replace(place)


def _exchanged(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system or the file system cannot.

    Source: renameat2(2), Linux 3.15; Python has no function for it.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(one), None, str(other))
