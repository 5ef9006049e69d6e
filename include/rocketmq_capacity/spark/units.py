"""Plain Python over units, spread over Spark's tasks. Each task writes its rows of every dataset as parquet."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, suppress
from io import BytesIO
from pathlib import Path
from typing import IO, Any, Final, NamedTuple
from uuid import uuid4

import pyarrow as pa
from msgspec import structs
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from rocketmq_capacity.collector import collect_seldom
from rocketmq_capacity.spark.new_table import NewTable, add_file
from rocketmq_capacity.spark.reading import Reader
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.manifest import File
from rocketmq_capacity.store.place import errors_in_one_line, is_local
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset

OnUnits = Callable[[list[dict[str, Any]]], Iterator[tuple[type[Dataset], pa.Table]]]
"""Some units -> rows of datasets. The rows of a unit do not depend on the other units of the batch."""


_WRITTEN: Final = "dataset string, name string, size_bytes long, rows long, sha256 string"


def map_units(
    units: DataFrame, function: OnUnits, run: Run, *datasets: type[Dataset], read: Reader | None = None
) -> None:
    """Add a function's rows of every unit to datasets of a run whose step is under way, one file a task and dataset.

    A task hands over what it has written as its result. Spark takes one result of each task, so what a failed,
    repeated or lost try leaves is in no list, and nobody reads it. `units_done` shows how far they are.

    Args:
        units: a row a unit, or what ``read`` makes units of.
        function: picklable; runs where the executors are.
        run: where the tables are; driver and executors must see its folder at the same path.
        datasets: those that the function makes rows of.
        read: reads the units in the tasks.
    """
    places, folder = {dataset: _Place.of(run, dataset) for dataset in datasets}, run.folder

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        collect_seldom()  # Spark keeps the process for further tasks
        with errors_in_one_line(folder), _Files(places) as files, _count_in(counts) as count:
            for batch in read(batches) if read else batches:
                for dataset, table in function(batch.to_pylist()):
                    files.write(dataset, table)
                count.write(bytes(batch.num_rows))
        yield files.written()

    with run.counting() as counts:
        for row in units.mapInArrow(write, _WRITTEN).collect():
            run.add(row["dataset"], row["name"], File(row["size_bytes"], row["rows"], row["sha256"]))
    for dataset in datasets:
        if not run.files(dataset.dataset_name()):  # a file says which columns the dataset has
            add_file(run, dataset, arrow_schema(dataset).empty_table())


def warm_up(session: SparkSession) -> None:
    """Let Spark start its Python processes and its way to them."""
    tasks = session.sparkContext.defaultParallelism
    session.range(0, tasks, 1, tasks).mapInArrow(lambda batches: batches, "id long").collect()


def units_done(counts: Path) -> int:
    """How many units are done by the tasks of a pass; a repeated task counts again."""
    done = 0
    if not is_local(counts):
        return done
    for file in counts.glob("*"):
        with suppress(FileNotFoundError):  # the pass has ended in the meantime
            done += file.stat().st_size
    return done


def _count_in(counts: Path) -> AbstractContextManager[IO[bytes]]:
    """A file for a byte a unit; what has no such folder, as a store and another machine, counts nothing."""
    if is_local(counts) and counts.is_dir():
        return (counts / uuid4().hex).open("wb", buffering=0)
    return BytesIO()


class _Place(NamedTuple):
    """Where the tasks of a pass write a dataset.

    Attributes:
        folder: of the dataset.
        part: of the first task; the next task has the next one.
    """

    folder: Path
    part: int

    @classmethod
    def of(cls, run: Run, dataset: type[Dataset]) -> "_Place":
        """After everything that the step has written so far."""
        name = dataset.dataset_name()
        return cls(run.table(name), run.next_part(name))


class _Files:
    """The parquet files of one task, opened when their first row comes."""

    def __init__(self, places: Mapping[type[Dataset], _Place]) -> None:
        self._places = places
        self._open: dict[type[Dataset], NewTable] = {}

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *_: object) -> None:
        for table in self._open.values():
            table.close()

    def write(self, dataset: type[Dataset], table: pa.Table) -> None:
        """Append rows."""
        if not table.num_rows:
            return
        if dataset not in self._open:
            context = TaskContext.get()
            folder, first = self._places[dataset]
            part = first + (context.partitionId() if context else 0)
            self._open[dataset] = NewTable(folder, part, table.schema)
        self._open[dataset].write(table)

    def written(self) -> pa.RecordBatch:
        """What was written, a row a file, once all are closed."""
        rows = [
            {"dataset": dataset.dataset_name(), "name": table.name, **structs.asdict(table.file)}
            for dataset, table in self._open.items()
        ]
        kinds = {"size_bytes": pa.int64(), "rows": pa.int64()}
        names = ("dataset", "name", "size_bytes", "rows", "sha256")
        columns = [pa.array([row[name] for row in rows], kinds.get(name, pa.string())) for name in names]
        return pa.RecordBatch.from_arrays(columns, names)
