"""How far a pass over units is, seen from within it."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_units_count_as_their_batches_are_done_and_no_count_is_left(spark: "SparkSession", tmp_path: Path) -> None:
    from rocketmq_capacity.spark.units import map_units, units_done

    def look(units: list[dict[str, Any]]) -> Iterator[tuple[type[Dataset], pa.Table]]:
        done = units_done(tmp_path)
        row = tables.TopicAnswer(topic=str(units[0]["id"]), answer=f"{done} before {len(units)}")
        yield tables.TopicAnswer, table_of(tables.TopicAnswer, [row])

    session = spark.newSession()
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
    map_units(session.range(0, 25, 1, 1), look, {tables.TopicAnswer: tmp_path})

    answers = pa.parquet.read_table(tmp_path).to_pylist()
    assert [one["answer"] for one in answers] == ["0 before 10", "10 before 10", "20 before 5"]
    assert [file.name for file in tmp_path.iterdir()] == ["part-0.parquet"]
    assert units_done(tmp_path) == 0
