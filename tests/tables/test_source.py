"""How often a store is asked for a table: each question takes as long as a small file."""

from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from rocketmq_capacity.errors import ContractBroken
from rocketmq_capacity.spark.new_table import NewTable
from rocketmq_capacity.spark.reading import frame_of, shares_of
from rocketmq_capacity.store.place import place_of
from rocketmq_capacity.tables import SlaveDifference
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.checks import check_stored, check_written
from rocketmq_capacity.tables.rows import rows_in, table_in
from rocketmq_capacity.tables.source import number_of_rows
from tests.fixtures.damage import change_a_bit
from tests.fixtures.s3 import BUCKET, S3

FILES = 11
"""More than are asked for at once."""


@pytest.fixture
def files(s3: S3) -> list[Path]:
    """Files of a dataset with a key, a row each."""
    return written(place_of(f"s3://{BUCKET}/{uuid4().hex}"), FILES)


def written(folder: Path, files: int) -> list[Path]:
    """So many files of the dataset, a row each."""
    places = [folder / f"part-{number:05}.parquet" for number in range(files)]
    for number, place in enumerate(places):
        row = {"broker_name": f"b-{number:02}", "broker_id": 1, "topic": "pay"}
        content = pa.BufferOutputStream()
        pq.write_table(pa.Table.from_pylist([row], arrow_schema(SlaveDifference)), content)
        place.write_bytes(content.getvalue().to_pybytes())
    return places


@pytest.mark.parametrize(
    "read",
    [
        lambda files: table_in(files, SlaveDifference),
        lambda files: list(rows_in(files, SlaveDifference)),
        lambda files: check_written(SlaveDifference, files),
        lambda files: check_stored(SlaveDifference, files),
    ],
    ids=["table", "rows", "check of what was written", "check of what was stored"],
)
def test_each_file_of_a_table_is_asked_for_once(
    s3: S3, files: list[Path], read: Callable[[list[Path]], object]
) -> None:
    assert s3.asked(lambda: read(files)) == {"GET": FILES}


def test_rows_come_in_the_order_of_the_files(files: list[Path]) -> None:
    names = [f"b-{number:02}" for number in range(FILES)]
    assert table_in(files, SlaveDifference)["broker_name"].to_pylist() == names
    assert [row.broker_name for row in rows_in(files, SlaveDifference)] == names


@pytest.mark.parametrize(("number", "tasks"), [(1, 1), (2, 2), (3, 2), (FILES, 3)])
def test_a_task_of_spark_reads_several_files(spark: SparkSession, tmp_path: Path, number: int, tasks: int) -> None:
    """A task writes a file of each table, and everybody who reads the table asks for each of its files."""
    files = written(tmp_path, number)

    frame = frame_of(spark, files, from_arrow_schema(arrow_schema(SlaveDifference)))

    assert [row.broker_name for row in frame.collect()] == [f"b-{number:02}" for number in range(number)]
    assert frame.rdd.getNumPartitions() == tasks


def test_tasks_read_their_shares_themselves(spark: SparkSession, tmp_path: Path) -> None:
    shares, read = shares_of(spark, written(tmp_path, FILES), ["broker_name"])

    tables = [pa.Table.from_batches(read([pa.record_batch({"id": [share]})])) for share in range(shares.count())]

    assert [table.num_rows for table in tables] == [3, 4, 4]
    names = [{"broker_name": f"b-{number:02}"} for number in range(FILES)]
    assert pa.concat_tables(tables).to_pylist() == names


def test_a_footer_is_asked_for_alone(s3: S3, files: list[Path]) -> None:
    assert number_of_rows(files[0]) == 1
    assert s3.asked(lambda: number_of_rows(files[0])) == {"HEAD": 1, "GET": 1}


@pytest.mark.parametrize(
    "read",
    [
        pytest.param(lambda files: table_in(files, SlaveDifference), id="a table"),
        pytest.param(lambda files: list(rows_in(files, SlaveDifference)), id="rows"),
        pytest.param(lambda files: check_stored(SlaveDifference, files), id="the check of a stored table"),
    ],
)
def test_a_bit_that_changed_is_read_as_no_other_figure(tmp_path: Path, read: Callable[[list[Path]], object]) -> None:
    rows = [{"broker_name": f"b-{number:02}", "broker_id": number, "topic": "pay"} for number in range(9)]
    new = NewTable(tmp_path, 0, arrow_schema(SlaveDifference))
    new.write(pa.Table.from_pylist(rows, arrow_schema(SlaveDifference)))
    new.close()
    file = tmp_path / new.name
    read([file])
    change_a_bit(file, "broker_id")

    with pytest.raises((OSError, ContractBroken), match="could not verify page integrity"):
        read([file])
