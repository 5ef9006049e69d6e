"""A file that a user names, read to its end."""

import os
import stat
from functools import partial
from pathlib import Path
from typing import Final

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.time_limit import TimeLimit, within

PIPE_S: Final = 300.0
"""For a pipe, such as that of a shell's ``<(…)``: perhaps nobody ever writes to it, or never ends."""


def content_of(file: Path, what: str, largest: int) -> bytes:
    """Its bytes.

    Args:
        file: the file, also one in an object store.
        what: what it should be, such as "an inventory file".
        largest: so many bytes are allowed.

    Errors: BadInput if it cannot be read or is too long, for a device, and for a pipe that does not end in time.
    """
    read = partial(_read, file, what, largest)
    try:
        content = within(PIPE_S, read) if _is_on_disk(file) and file.is_fifo() else read()
    except TimeLimit:
        problem = f"is a pipe that has not ended within {PIPE_S:g} s; expected {what}"
        raise BadInput(str(file), "", problem) from None
    except OSError as error:
        raise BadInput(str(file), "", f"cannot be read ({error.strerror}); expected {what}") from None
    if len(content) > largest:
        raise BadInput(str(file), "", f"is too long; expected {what} of at most {largest:,} bytes")
    return content


def _read(file: Path, what: str, largest: int) -> bytes:
    with file.open("rb") as opened:
        if _is_on_disk(file) and stat.S_ISCHR(os.fstat(opened.fileno()).st_mode):  # such as /dev/zero: it never ends
            raise BadInput(str(file), "", f"is a device; expected {what}")
        return opened.read(largest + 1)


def _is_on_disk(file: Path) -> bool:
    """Whether it is no object in a store."""
    return isinstance(file, os.PathLike)
