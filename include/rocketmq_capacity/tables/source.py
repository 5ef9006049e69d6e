"""How Arrow opens the files of a dataset: by their paths, or through the store that they are in."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.fs as pafs
import pyarrow.parquet as pq


def sources(files: Sequence[Path]) -> tuple[list[str], Any]:
    """Paths, and the file system that they are of; None for that of this machine."""
    places: Sequence[Any] = files  # those in a store are of universal-pathlib
    if not places or isinstance(places[0], os.PathLike):
        return [*map(str, places)], None
    return [place.path for place in places], pafs.PyFileSystem(pafs.FSSpecHandler(places[0].fs))


def parquet_file(file: Path) -> pq.ParquetFile:
    """An open parquet file, whose footer has been read."""
    (path,), system = sources([file])
    return pq.ParquetFile(path, filesystem=system)


def number_of_rows(file: Path) -> int:
    """The rows of a parquet file, by its footer."""
    with parquet_file(file) as parquet:
        return int(parquet.metadata.num_rows)
