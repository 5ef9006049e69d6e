"""Python over the Arrow batches of a frame: in the executors, or in the driver where the rows are few."""

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import StructType

OnBatch = Callable[[pa.RecordBatch], pa.RecordBatch]
"""Rows to rows; what it returns for some rows does not hang on which others are in the batch."""

MapBatches = Callable[[DataFrame, OnBatch, StructType], DataFrame]
"""The rows that a function makes of a frame's, as a frame of the given schema."""


def in_executors(frame: DataFrame, function: OnBatch, schema: StructType) -> DataFrame:
    """Python workers beside the executors, which take a second to start."""

    def each(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        return map(function, batches)

    return frame.mapInArrow(each, schema)


def in_driver(frame: DataFrame, function: OnBatch) -> pa.Table | None:
    """All rows at once, in this process; None where the frame has none."""
    batches = frame.toArrow().combine_chunks().to_batches()
    return pa.Table.from_batches([function(batch) for batch in batches]) if batches else None
