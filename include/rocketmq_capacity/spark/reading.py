"""Tables of a lake in an object store as frames: Spark's tasks read them with Arrow, through the store's own package.

Spark's own reader would need the jars of each store, and its credentials a second time.
"""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from rocketmq_capacity.store.place import told_in_one_line
from rocketmq_capacity.tables.source import parquet_file

BATCH_ROWS = 1_000
"""As many as a batch of Spark's has; see `session.SETTINGS`."""


def frame_of(session: SparkSession, files: Sequence[Path], schema: StructType) -> DataFrame:
    """The rows of parquet files, a task a row group."""
    parts: list[tuple[Path, int]] = []
    for file in files:
        with parquet_file(file) as parquet:
            parts += [(file, number) for number in range(parquet.num_row_groups)]
    arrow = to_arrow_schema(schema)

    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for index in batch.column(0).to_pylist():
                file, number = parts[index]
                with told_in_one_line(file), parquet_file(file) as parquet:
                    for rows in parquet.iter_batches(BATCH_ROWS, row_groups=[number]):
                        yield pa.Table.from_batches([rows]).cast(arrow).combine_chunks().to_batches()[0]

    return session.range(0, len(parts), 1, max(1, len(parts))).mapInArrow(read, schema)
