"""Tables of a lake in an object store as frames: Spark's tasks read them with Arrow, through the store's own package.

Spark's own reader would need the jars of each store, and its credentials a second time.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rocketmq_capacity.store.place import errors_in_one_line
from rocketmq_capacity.tables.source import parquet_files

Reader = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""What a task reads: the batches of its frame -> rows."""
FILES_A_TASK: Final = 4
"""A file of units has at most 250, so a task gets up to 1,000, like one that reads a folder; see `session.SETTINGS`.

Each task writes a file of each table, and each file is a question to the store for everybody who reads the table.
"""
BATCH_ROWS: Final = 1_000
"""As many as a batch of Spark's has; see `session.SETTINGS`."""


def frame_of(session: SparkSession, files: Sequence[Path], schema: StructType) -> DataFrame:
    """The rows of parquet files, at least one, in equal shares of the files for each task."""
    shares, read = shares_of(session, files, schema.names)
    arrow = to_arrow_schema(schema)

    def cast(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for rows in read(batches):
            yield pa.Table.from_batches([rows]).cast(arrow).combine_chunks().to_batches()[0]

    return shares.mapInArrow(cast, schema)


def shares_of(session: SparkSession, files: Sequence[Path], columns: Sequence[str]) -> tuple[DataFrame, Reader]:
    """The same rows for tasks that read them on their own: a row a share, and what gives some columns of its rows.

    The rows then come into the process that needs them, and not into another one and through the JVM.
    """
    tasks = max(min(len(files), session.sparkContext.defaultParallelism), -(-len(files) // FILES_A_TASK))
    ends = [len(files) * task // tasks for task in range(tasks + 1)]

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                with errors_in_one_line(files[0]):
                    for parquet in parquet_files(files[ends[task] : ends[task + 1]]):
                        # Whole files: a function gets more units at once than a row group has.
                        yield from parquet.read(columns).combine_chunks().to_batches(BATCH_ROWS)

    return session.range(0, tasks, 1, tasks), read
