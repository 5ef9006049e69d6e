"""What every dataset is: a pandera model that knows its name and its Spark schema."""

import re
from pathlib import Path

import pandera.pyspark as pa
import pyarrow.parquet as pq
import pyspark.sql.types as T
from pyspark.sql import DataFrame

from rocketmq_capacity.errors import ContractBroken

QUEUE = T.StructType([
    T.StructField("topic", T.StringType()),
    T.StructField("broker_name", T.StringType()),
    T.StructField("queue_id", T.IntegerType()),
])
"""A queue, wherever one is named inside a row."""

METRICS = T.MapType(T.StringType(), T.DoubleType())
"""Skew of one load over the clients of a group: peak, floor, excess, gini, cv, and max, min, mean in the load's unit.

Null where it is not defined: under two clients, no load, or an unknown part of it."""


class Dataset(pa.DataFrameModel):
    """A table of the lake; subclasses are the contracts."""

    @classmethod
    def dataset_name(cls) -> str:
        """The folder name: the class name in snake_case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def spark_schema(cls) -> T.StructType:
        """Names, types and nullability in the contract's order."""
        columns = cls.to_schema().columns
        return T.StructType([T.StructField(n, c.dtype.type, bool(c.nullable)) for n, c in columns.items()])


def enforce(df: DataFrame, dataset: type[Dataset]) -> DataFrame:
    """The frame with the contract's columns in the contract's order; checks names and types, runs no job.

    What is null is seen in what was written (:func:`refuse_nulls`), without computing it twice.
    Errors: :class:`ContractBroken` naming the dataset and every column that is missing or of another type.
    """
    schema = dataset.spark_schema()
    missing = [name for name in schema.names if name not in df.columns]
    if missing:
        raise ContractBroken(f"{dataset.dataset_name()}: missing columns {missing}; it has {df.columns}")
    framed = df.select(*schema.names)
    # pandera would count the nulls of each column in a job of its own.
    promised = [T.StructField(f.name, f.dataType, schema[f.name].nullable) for f in framed.schema]
    checked = dataset.validate(df.sparkSession.createDataFrame([], T.StructType(promised)))
    errors = dict(checked.pandera.errors)
    if errors:
        raise ContractBroken(f"{dataset.dataset_name()}: {errors}")
    return framed


def refuse_nulls(folder: Path, dataset: type[Dataset]) -> None:
    """Look through the statistics of a dataset's parquet files.

    Errors: :class:`ContractBroken` naming the dataset and a column that holds null and must not.
    """
    needed = {field.name for field in dataset.spark_schema() if not field.nullable}
    for file in folder.glob("*.parquet"):
        metadata = pq.read_metadata(file)
        for group in range(metadata.num_row_groups):
            for number in range(metadata.num_columns):
                column = metadata.row_group(group).column(number)
                if column.path_in_schema in needed and column.statistics and column.statistics.null_count:
                    raise ContractBroken(f"{dataset.dataset_name()}: {column.path_in_schema} is null in {file.name}")
