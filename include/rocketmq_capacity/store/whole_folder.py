"""A folder that appears complete or not at all, also if its writer is killed.

It is written in ``.<name>.part/``, next to its target, and then swapped in. The writer holds a lock on that folder,
which ends with the process. The next writer deletes what a killed one left.

The folder carries a marker, a hidden file that lists what was written. Only an empty folder, or one that has a marker
and nothing that the marker does not list, is ever replaced. What is new is on the disk before that.
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

from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.store.writing import make_folder, sync

MARKER: Final = ".rocketmq-capacity"
"""The file that lists the files in a folder of ours, and the folders with a slash at the end, one a line.

An earlier version of this program listed only the names on top, for all that is below them.
"""
LONGEST_NAME: Final = 200
"""Characters of the target's name in the name of the folder next to it; a file system allows 255."""

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_NOT_HERE: Final = (errno.EINVAL, errno.ENOSYS, errno.ENOTSUP)


@contextmanager
def whole_folder(place: Path, *, overwrite: bool) -> Iterator[Path]:
    """A new folder for the body to fill. It replaces the target when the body ends without an error.

    Args:
        place: the target. What is there stays until then.
        overwrite: whether the target may exist and have content.

    Errors: BadInput if the target has something that is not ours, if its folder cannot be written to, if another
    process is writing the same folder, or if a killed writer's old folder had to be restored and must not be replaced.
    """
    place = place.resolve()
    work = place.with_name(f".{place.name[:LONGEST_NAME]}.part")
    try:
        make_folder(work.parent)
        work.mkdir(mode=0o700, exist_ok=True)
    except OSError as error:
        problem = f"{place.parent} cannot be written to ({error.strerror}); expected a folder that can, for {place}"
        raise BadInput("--out", "", problem) from None
    with _only_writer(work, place):
        new, old = work / "new", work / "old"
        try:
            _put_back(old, place, overwrite=overwrite)
            for left in work.iterdir():
                if left.is_dir():
                    shutil.rmtree(left, ignore_errors=True)
            new.mkdir()
            yield new
            listed = "".join(f"{name}\n" for name in sorted(_names(new)))
            (new / MARKER).write_text(listed, encoding="utf-8")
            check_ours(place)
            sync(new)
            _put(new, place, old)
            sync(place.parent, deep=False)
        finally:
            if old.exists() and not place.exists():
                old.replace(place)
            shutil.rmtree(work, ignore_errors=True)


def check_ours(place: Path) -> None:
    """Check that a folder may be replaced: it does not exist, is empty, or has only what was written here.

    Errors: BadInput naming what is not ours.
    """
    if not place.is_dir() or next(place.iterdir(), None) is None:
        return
    try:
        ours = {MARKER, *(place / MARKER).read_text(encoding="utf-8").splitlines()}
    except (OSError, UnicodeDecodeError):
        problem = f"{place} has no marker of a plan ({MARKER}); expected a new or empty folder, or an earlier plan"
        raise BadInput("--out", "", problem) from None
    if foreign := sorted(name for name in _names(place) if name not in ours and name.partition("/")[0] not in ours):
        problem = (
            f"{place} has {shown(foreign[0].rstrip('/'))}, which is no part of a plan; expected a folder without it"
        )
        raise BadInput("--out", "", problem)


def _names(folder: Path) -> Iterator[str]:
    """Every file and link below a folder, by its path in it, and every folder, with a slash at the end."""
    for path in folder.rglob("*"):
        is_folder = path.is_dir() and not path.is_symlink()
        yield f"{path.relative_to(folder).as_posix()}{'/' if is_folder else ''}"


@contextmanager
def _only_writer(work: Path, place: Path) -> Iterator[None]:
    """The folder next to the target, used by no other process."""
    lock = FileLock(work / "lock", preserve_lock_file=True)
    while not lock.is_locked:
        work.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):  # the other writer has just ended
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
            raise BadInput("--out", "", f"{place} was restored after an interrupted run; expected --overwrite")


def _put(new: Path, place: Path, old: Path) -> None:
    """Replace the target by the folder in one step, whatever is there.

    A file system that cannot exchange two folders needs two steps. A writer that is killed between them leaves both
    folders next to the target; the next writer restores the old one.
    """
    if not (place.is_dir() and any(place.iterdir())):
        new.replace(place)  # an empty folder is replaced in one step as well
    elif not _exchanged(new, place):
        place.replace(old)
        new.replace(place)


def _exchanged(first: Path, second: Path) -> bool:
    """Exchange two folders in one step; False if the system or the file system cannot.

    Source: renameat2(2), Linux 3.15; Python has no function for it.
    """
    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except AttributeError:
        return False
    if rename(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_HERE:
        return False
    raise OSError(number, os.strerror(number), str(first), None, str(second))
