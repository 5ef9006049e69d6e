"""A folder in memory for readers that take a file."""

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Final

MEMORY: Final = Path("/dev/shm")  # noqa: S108  # a folder of ours is made in it


@cache
def scratch_folder() -> Path:
    """A folder of this process, which is deleted at its end."""
    folder = Path(tempfile.mkdtemp(prefix="rmqc-fuzz-", dir=MEMORY if MEMORY.is_dir() else None))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def scratch_file(data: bytes, name: str = "given") -> Path:
    """A file with these bytes, which only its owner may read; the next one of the same name replaces it."""
    file = scratch_folder() / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    file.chmod(0o600)
    return file
