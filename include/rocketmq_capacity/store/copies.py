"""Copies on this machine of files in a store, for programs that need a path: a small cache with a limit.

The folder of the copies is in the temporary folder, and only this user can read it. A copy is used as long as the store
still tells the same of its file. If the copies take too much room, those that were not used for longest are deleted.
"""

import os
import stat
import tempfile
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final
from uuid import uuid4

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.store.place import errors_in_one_line, file_system, is_local, key_of

MOST_BYTES: Final = 1 << 30
"""Of all copies of a user: eight plans of the largest fleets, with their pages."""
PRIVATE: Final = 0o700
DIGITS: Final = 32


def copy_of(file: Path, most_bytes: int = MOST_BYTES) -> Path:
    """A file of this machine with the bytes that the store has now; a local file is its own copy.

    Args:
        file: in a folder or a store.
        most_bytes: that all copies may take together, this one excepted.

    Errors: FileNotFoundError if there is no such file; StoreUnreachable if the store does not answer.
    """
    if is_local(file):
        return file
    with errors_in_one_line(file):
        about = file_system(file).info(key_of(file))
    if about["type"] != "file":
        raise FileNotFoundError(str(file))
    named = sha256(repr((str(file), about)).encode()).hexdigest()[:DIGITS]
    copy = _folder() / f"{named}{file.suffix}"
    try:
        os.utime(copy)
    except FileNotFoundError:
        _make_room(about["size"], most_bytes)
        part = copy.with_name(f".{named}.{uuid4().hex}")
        try:
            with errors_in_one_line(file):
                file_system(file).get_file(key_of(file), str(part))
            part.replace(copy)
        finally:
            part.unlink(missing_ok=True)
    return copy


def _folder() -> Path:
    """Errors: StoreUnreachable if the folder belongs to somebody else."""
    folder = Path(tempfile.gettempdir()) / f"rocketmq-capacity-copies-{os.getuid()}"
    folder.mkdir(PRIVATE, exist_ok=True)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != os.getuid() or stat.S_IMODE(about.st_mode) != PRIVATE:
        raise StoreUnreachable(f"{folder}: is not a private folder of this user; expected one, or none")
    return folder


def _make_room(size: int, most_bytes: int) -> None:
    """Delete the copies that were not used for longest, until there is room for a new one."""
    held = []
    for copy in _folder().iterdir():
        with suppress(FileNotFoundError):  # another process deletes too
            about = copy.stat()
            held.append((about.st_mtime, about.st_size, copy))
    left = sum(one_size for _, one_size, _ in held) + size
    for _, one_size, copy in sorted(held):
        if left <= most_bytes:
            return
        copy.unlink(missing_ok=True)
        left -= one_size
