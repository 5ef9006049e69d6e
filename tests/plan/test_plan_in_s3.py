"""A plan whose lake is in an object store has the same bytes as one whose lake is a folder."""

from pathlib import Path
from typing import TYPE_CHECKING
from uuid import uuid4

import pytest

from rocketmq_capacity.errors import StoreUnreachable
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.spark.session import explanation
from rocketmq_capacity.steps.sample import store_sample
from rocketmq_capacity.steps.stored_samples import with_stored_samples
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.place import place_of, usable_place
from tests.fixtures.s3 import BUCKET, S3
from tests.fixtures.samples import at, sample
from tests.fixtures.troubled_s3 import Trouble, troubled
from tests.kills.states import STEPS
from tests.kills.steps import do
from tests.snapshot.test_past_samples import inventory

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
    said = descriptions(spark)
    assert any(one.startswith("groups (") and ": writes allocation, " in one for one in said), said


def test_samples_in_a_store_tell_a_plan_the_same_as_in_a_folder(s3: S3, tmp_path: Path) -> None:
    lakes = Lake(tmp_path / "lake"), Lake(usable_place(f"s3://{BUCKET}/samples"))
    for lake in lakes:
        # The last one is of the next day, so the files of the first day are put together.
        for number, minutes in enumerate((0, 40, 80, 47 * 60)):
            lags, members = {"g": 10 * number}, {"g": ["a", f"b{number}"]}
            store_sample(lake, sample(at(minutes), {"pay": 2_400 * number}, lags=lags, members=members), 90)
    in_folder, in_store = (with_stored_samples(inventory(["a"]), lake.root / "C1", Thresholds()) for lake in lakes)

    assert in_store == in_folder
    (pay,), (group,) = in_store.topics, in_store.consumer_groups
    assert pay.hourly is not None
    assert pay.hourly.mean_msgs_per_s[-50:-47] == (1.0, 1.0, None)
    assert group.hourly is not None
    assert group.hourly.most_lag[:2] == (10, 20)
    assert len(group.past_members or ()) == 1
    first_day = s3.folder / BUCKET / "samples" / "C1" / ".samples" / "2026-11-20"
    assert len(list(first_day.glob("tables/topic_sample/*.parquet"))) == 1


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


def descriptions(spark: "SparkSession") -> set[str]:
    """What Spark's page says of its jobs."""
    jobs = spark.sparkContext._jsc.sc().statusStore().jobsList(None)
    told = (jobs.apply(number).description() for number in range(jobs.size()))
    return {one.get() for one in told if one.isDefined()}


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
