"""Tables of a lake in an object store as frames: Spark's tasks read them with Arrow, through the store's own package.

Spark's own reader would need the jars of each store, and its credentials a second time.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rocketmq_capacity.store.place import AT_A_TIME, told_in_one_line
from rocketmq_capacity.tables.source import parquet_file_in_part, parquet_files

BATCH_ROWS = 1_000
"""As many as a batch of Spark's has; see `session.SETTINGS`."""


def frame_of(session: SparkSession, files: Sequence[Path], schema: StructType) -> DataFrame:
    """The rows of parquet files, a task a row group."""
    with ThreadPoolExecutor(AT_A_TIME) as threads:
        counts = [*threads.map(_row_groups, files)]
    parts = [(file, number, count) for file, count in zip(files, counts, strict=True) for number in range(count)]
    arrow = to_arrow_schema(schema)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                with told_in_one_line(parts[index][0]):
                    for rows in _row_group(*parts[index]):
                        yield pa.Table.from_batches([rows]).cast(arrow).combine_chunks().to_batches()[0]

    return session.range(0, len(parts), 1, max(1, len(parts))).mapInArrow(read, schema)


def _row_groups(file: Path) -> int:
    with parquet_file_in_part(file) as parquet:
        return int(parquet.num_row_groups)


def _row_group(file: Path, number: int, count: int) -> Iterator[pa.RecordBatch]:
    """The rows of one of a file's row groups; the only one is the whole file."""
    if count == 1:
        for parquet in parquet_files([file]):
            yield from parquet.iter_batches(BATCH_ROWS)
        return
    with parquet_file_in_part(file) as parquet:
        yield from parquet.iter_batches(BATCH_ROWS, row_groups=[number])
