"""Plain Python over units, spread over Spark's tasks. Each task writes its rows of every dataset as parquet."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import Any, Final
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession

from rocketmq_capacity.collector import collect_seldom
from rocketmq_capacity.tables.arrow import arrow_schema
from rocketmq_capacity.tables.dataset import Dataset

OnUnits = Callable[[list[dict[str, Any]]], Iterator[tuple[type[Dataset], pa.Table]]]
"""Some units -> rows of datasets. The rows of a unit do not depend on the other units of the batch."""

_WRITTEN: Final = "task int, file string"
_COUNTS: Final = ".units-"
"""Prefix of a hidden file that has a byte for each unit that its task has done."""


def map_units(units: DataFrame, function: OnUnits, folders: Mapping[type[Dataset], Path]) -> None:
    """Write a function's rows of every unit into the folders of the datasets, one file a task and dataset.

    A task writes hidden files, and gives their names when it has succeeded. Only these become visible, so files of a
    failed or repeated try are never read. Driver and executors must see the folders at the same path. `units_done`
    shows how far they are.

    Args:
        units: a row a unit.
        function: picklable; runs where the executors are.
        folders: one for each dataset that the function makes rows of.
    """
    counts = next(iter(folders.values()))

    def write(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        collect_seldom()  # Spark keeps the process for further tasks
        with _Files(folders) as files, (counts / f"{_COUNTS}{uuid4().hex}").open("wb", buffering=0) as count:
            for batch in batches:
                for dataset, table in function(batch.to_pylist()):
                    files.write(dataset, table)
                count.write(bytes(batch.num_rows))
        yield files.written()

    # By task, so that a repeated plan has files of the same names.
    for row in sorted(units.mapInArrow(write, _WRITTEN).collect()):
        file = Path(row["file"])
        file.rename(file.with_name(f"part-{sum(1 for _ in file.parent.glob('part-*'))}.parquet"))
    for dataset, folder in folders.items():
        for left in folder.glob(".*"):
            left.unlink(missing_ok=True)
        if not any(folder.glob("part-*")):
            pq.write_table(arrow_schema(dataset).empty_table(), folder / "part-0.parquet", store_schema=False)


def warm_up(session: SparkSession, *modules: str) -> None:
    """Let Spark start its Python processes and its way to them, and let these import the modules."""
    tasks = session.sparkContext.defaultParallelism

    def imported(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for name in modules:
            import_module(name)
        yield from batches

    session.range(0, tasks, 1, tasks).mapInArrow(imported, "id long").collect()


def units_done(folder: Path) -> int:
    """How many units are done by the tasks whose first dataset has this folder; a repeated task counts again."""
    done = 0
    for file in folder.glob(f"{_COUNTS}*"):
        with suppress(FileNotFoundError):  # the pass has ended in the meantime
            done += file.stat().st_size
    return done


class _Files:
    """The parquet files of one task, opened when their first row comes."""

    def __init__(self, folders: Mapping[type[Dataset], Path]) -> None:
        self._folders = folders
        self._writers: dict[type[Dataset], tuple[Path, pq.ParquetWriter]] = {}

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *_: object) -> None:
        for _path, writer in self._writers.values():
            writer.close()

    def write(self, dataset: type[Dataset], table: pa.Table) -> None:
        """Append rows."""
        if not table.num_rows:
            return
        if dataset not in self._writers:
            path = self._folders[dataset] / f".part-{uuid4().hex}.parquet"
            # Without Arrow's own schema, readers see plain texts instead of encoded ones.
            self._writers[dataset] = path, pq.ParquetWriter(path, table.schema, store_schema=False)
        self._writers[dataset][1].write_table(table)

    def written(self) -> pa.RecordBatch:
        """What was written, a row a file."""
        context = TaskContext.get()
        files = [str(path) for path, _ in self._writers.values()]
        tasks = [context.partitionId() if context else 0] * len(files)
        return pa.RecordBatch.from_arrays([pa.array(tasks, pa.int32()), pa.array(files, pa.string())], ["task", "file"])
