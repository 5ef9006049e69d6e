"""A new file of a dataset, under a name that no other file has or will have."""

import re
from hashlib import sha256
from io import RawIOBase
from pathlib import Path
from typing import Final
from uuid import uuid4

from rocketmq_capacity.store.manifest import File
from rocketmq_capacity.store.place import is_local

PART: Final = re.compile(r"part-[0-9]{5,9}-[0-9a-f]{32}\.parquet")
"""The names of files."""


class NewFile(RawIOBase):
    """A file to write from its beginning to its end; what is written is counted and digested.

    Nobody reads it before a manifest lists it. So it has its final name from the beginning, and what a dead or
    repeated writer leaves is never read.

    Args:
        folder: of the dataset.
        part: the number of the file among those of the dataset. Readers take files in the order of their names.
    """

    def __init__(self, folder: Path, part: int) -> None:
        super().__init__()
        self.place = folder / f"part-{part:05}-{uuid4().hex}.parquet"
        self._file = self.place.open("xb" if is_local(self.place) else "wb")
        self._digest = sha256()
        self._size_bytes = 0

    def writable(self) -> bool:
        """Always."""
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]  # only Arrow writes, and it gives bytes
        """Append bytes."""
        self._file.write(data)
        self._digest.update(data)
        self._size_bytes += len(data)
        return len(data)

    def close(self) -> None:
        """Give the rest to the file's system."""
        if not self.closed:
            self._file.close()
        super().close()

    def written(self, rows: int) -> File:
        """What the manifest lists, once it is closed."""
        return File(self._size_bytes, rows, self._digest.hexdigest())
