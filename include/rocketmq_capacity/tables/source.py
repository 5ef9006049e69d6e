"""How Arrow reads the files of a dataset: by their paths, or from the store that they are in.

A question to a store takes as long as a small file. So a file is asked for as a whole, by one question. Who needs a
part of it asks for its length first, and then for the part.
"""

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from rocketmq_capacity.store.place import contents, is_local, opened


def parquet_files(files: Sequence[Path]) -> Iterator[pq.ParquetFile]:
    """Open parquet files, one after the other, of which everything will be read; each is closed when the next comes."""
    for source in _sources(files):
        with pq.ParquetFile(source, page_checksum_verification=True) as parquet:
            yield parquet


def parquet_file_in_part(file: Path) -> pq.ParquetFile:
    """An open parquet file, of which the footer has been read, and a part may be."""
    source = os.fspath(file) if is_local(file) else pa.PythonFile(opened(file), mode="r")
    return pq.ParquetFile(source, pre_buffer=True, page_checksum_verification=True)


def read_files(files: Sequence[Path], **options: Any) -> pa.Table:
    """The rows of some files, at least one, one after the other; ``options`` are of Arrow's `read_table`."""
    if is_local(files[0]):
        return pq.read_table([*map(os.fspath, files)], page_checksum_verification=True, **options)
    return pa.concat_tables([
        pq.read_table(source, page_checksum_verification=True, **options) for source in _sources(files)
    ])


def number_of_rows(file: Path) -> int:
    """The rows of a parquet file, by its footer."""
    with parquet_file_in_part(file) as parquet:
        return int(parquet.metadata.num_rows)


def _sources(files: Sequence[Path]) -> Iterator[Any]:
    """What Arrow reads of each file."""
    if files and is_local(files[0]):
        return map(os.fspath, files)
    return map(pa.BufferReader, contents(files))
