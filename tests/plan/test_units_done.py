"""How far a pass over units is, seen from within it."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.manifest import File
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.dataset import Dataset

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.slow
def test_units_count_as_their_batches_are_done(spark: "SparkSession", tmp_path: Path) -> None:
    from rocketmq_capacity.spark.units import map_units, units_done

    run = begun(tmp_path)

    def look(units: list[dict[str, Any]]) -> Iterator[tuple[type[Dataset], pa.Table]]:
        done = units_done(run.counts)
        row = tables.TopicAnswer(topic=str(units[0]["id"]), answer=f"{done} before {len(units)}")
        yield tables.TopicAnswer, table_of(tables.TopicAnswer, [row])

    session = spark.newSession()
    session.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", "10")
    map_units(session.range(0, 25, 1, 1), look, run, tables.TopicAnswer)

    (file,) = run.files("topic_answer")
    answers = pa.parquet.read_table(file).to_pylist()
    assert [one["answer"] for one in answers] == ["0 before 10", "10 before 10", "20 before 5"]
    assert run.under_way["topic_answer"] == {
        file.name: File(file.stat().st_size, 3, sha256(file.read_bytes()).hexdigest())
    }
    assert units_done(run.counts) == 0
    assert not run.counts.exists()


@pytest.mark.slow
def test_what_a_failed_try_leaves_is_in_no_list(spark: "SparkSession", tmp_path: Path) -> None:
    from rocketmq_capacity.spark.units import map_units

    run, is_tried = begun(tmp_path), tmp_path / "tried"

    def fail_once(units: list[dict[str, Any]]) -> Iterator[tuple[type[Dataset], pa.Table]]:
        answers = [tables.TopicAnswer(topic=str(unit["id"]), answer="") for unit in units]
        yield tables.TopicAnswer, table_of(tables.TopicAnswer, answers)
        if not is_tried.exists():
            is_tried.touch()
            raise OSError("the first try")

    units = spark.range(0, 4, 1, 1)
    with pytest.raises(Exception, match="the first try"):
        map_units(units, fail_once, run, tables.TopicAnswer)
    map_units(units, fail_once, run, tables.TopicAnswer)

    assert len(list(run.table("topic_answer").iterdir())) == 2
    (file,) = run.files("topic_answer")
    assert sorted(pa.parquet.read_table(file)["topic"].to_pylist()) == ["0", "1", "2", "3"]


def begun(folder: Path) -> Run:
    """A run with a step that has written nothing yet."""
    run = Run(folder / "run")
    run.begin("recommend")
    run.new_tables("topic_answer")
    return run
