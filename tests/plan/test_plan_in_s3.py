"""A plan whose lake is in an object store has the same bytes as one whose lake is a folder."""

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.spark.session import explanation
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import place_of, usable_place
from tests.fixtures.s3 import BUCKET, S3
from tests.fixtures.troubled_s3 import Trouble, troubled
from tests.kills.states import STEPS
from tests.kills.steps import do

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.slow


def test_every_step_gives_the_same_bytes_in_a_store_as_in_a_folder(
    spark: "SparkSession", s3: S3, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The workers' own environment is that of the JVM, which is older than the server.
    for name, value in s3.environment.items():
        monkeypatch.setitem(spark.sparkContext.environment, name, value)
    in_folder = Lake(tmp_path / "lake").run("C1", "r1")
    in_store = Lake(usable_place(f"s3://{BUCKET}/plans")).run("C1", "r1")
    for step in STEPS:
        do(step, in_folder, lambda: spark)
        do(step, in_store, lambda: spark)
        leave_something(in_store)

    kept = s3.folder / BUCKET / "plans" / "C1" / "r1"
    assert files_of(kept / "report") == files_of(in_folder.report)
    assert rows_of(in_store) == rows_of(in_folder)


def test_a_store_that_refuses_executors_is_one_line(spark: "SparkSession", s3_server: S3) -> None:
    with troubled(s3_server) as store:
        run = Run(place_of(f"s3://{BUCKET}/{uuid4().hex}/C1/r1", store.environment))
        do("snapshot", run, lambda: spark)
        store.has(Trouble.DENIES, of="/tables/")
        with pytest.raises(Exception, match="Traceback") as error:
            do("allocate", run, lambda: spark)
    told = explanation(error.value)
    assert isinstance(told, StoreUnreachable)
    assert str(told).startswith(f"{run.folder}: Access Denied; expected a bucket that exists, and credentials")
    assert "\n" not in str(told)


def leave_something(run: Run) -> None:
    """What a dead executor may leave in the folder of each table."""
    for step in STEPS:
        for dataset in run.datasets(step) if run.is_committed(step) else ():
            (run.table(dataset) / "part-00000-leftover.parquet").write_bytes(b"half a file")


def files_of(folder: Path) -> dict[str, bytes]:
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in folder.rglob("[!.]*") if file.is_file()}


def rows_of(run: Run) -> dict[str, list[int]]:
    """The bytes of every file of every table, in the order of their rows."""
    return {
        dataset: [file.stat().st_size for file in run.files(dataset)]
        for step in STEPS
        for dataset in run.datasets(step)
    }
