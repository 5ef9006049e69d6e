"""A run being planned: its tables, the session that computes them, and the frame that every step stands in."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Final

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from rocketmq_capacity.batches import OnBatch, in_driver, in_executors
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset, enforce, refuse_nulls
from rocketmq_capacity.jvm import SMALL_BYTES
from rocketmq_capacity.lake import Run
from rocketmq_capacity.session import set_size
from rocketmq_capacity.side_by_side import side_by_side

SNAPSHOT: Final = "snapshot"
ALLOCATE: Final = "allocate"
ASSESS: Final = "assess"
RECOMMEND: Final = "recommend"
PUBLISH: Final = "publish"
_scratch_numbers = count()


@dataclass(frozen=True, slots=True)
class Planning:
    """A run being planned: where its tables are and what Spark session computes them.

    Attributes:
        session: gives the session; asked only by steps that compute.
        run: where the tables are.
        policy: what decides.
    """

    session: Callable[[], SparkSession]
    run: Run
    policy: Policy

    @property
    def spark(self) -> SparkSession:
        """The session, set up for the size of this run."""
        session = self.session()
        set_size(session, is_small=self.is_small)
        return session

    def read(self, dataset: type[Dataset]) -> DataFrame:
        """A dataset of this run."""
        return self._read(self.run.table(dataset.dataset_name()), dataset.spark_schema())

    def read_all(self, datasets: Sequence[type[Dataset]]) -> dict[type[Dataset], DataFrame]:
        """Several datasets by their contract."""
        return dict(zip(datasets, side_by_side(*(partial(self.read, dataset) for dataset in datasets)), strict=True))

    def write(self, dataset: type[Dataset], frame: DataFrame) -> None:
        """Enforce the contract, then replace the dataset of this run."""
        checked = enforce(frame, dataset)
        folder = self.run.new_table(dataset.dataset_name())
        if self.is_small:
            pq.write_table(checked.toArrow(), folder / "part-0.parquet")
        else:
            checked.write.mode("overwrite").parquet(str(folder))
        refuse_nulls(folder, dataset)

    def settle(self, frame: DataFrame) -> DataFrame:
        """The same frame, computed once: kept in memory where it is small, else in the run's scratch folder.

        Spark plans a frame anew wherever it is used, and caching does not shorten that.
        """
        if self.is_small:
            return self._in_memory(frame.toArrow(), frame.schema)
        path = self.run.scratch(next(_scratch_numbers))
        frame.write.parquet(str(path))
        return self._read(path, frame.schema)

    def settle_rows(self, frame: DataFrame) -> DataFrame:
        """The same as :meth:`settle` for a frame of long rows that are read whole: a large one stays in the executors.

        That spares making columns of lists and rows of the columns. An executor that is lost takes its rows along; then
        the step fails, and is run again as after any other failure.
        """
        return self.settle(frame) if self.is_small else frame.localCheckpoint()

    def map_batches(self, frame: DataFrame, function: OnBatch, schema: StructType) -> DataFrame:
        """The rows that a function makes of a frame's; where they are many, only for one query to come."""
        if self.is_small:
            table = in_driver(frame, function)
            return self.spark.createDataFrame([], schema) if table is None else self._in_memory(table, schema)
        return in_executors(frame, function, schema)

    def _read(self, path: Path, schema: StructType) -> DataFrame:
        if self.is_small:
            return self._in_memory(pq.read_table(path), schema)
        return self.spark.read.schema(schema).parquet(str(path))

    def _in_memory(self, table: pa.Table, schema: StructType) -> DataFrame:
        """Rows that stand in the plan itself, as one partition: of every frame of so few rows the cheapest."""
        return self.spark.createDataFrame(table, schema).coalesce(1)

    @property
    def is_small(self) -> bool:
        """Whether the snapshot is so small that one task a query is fastest."""
        return self.run.snapshot_bytes() < SMALL_BYTES

    @contextmanager
    def step(self, name: str, *needs: str) -> Iterator[list[type[Dataset]]]:
        """The datasets that the body writes, committed when it ends without an error."""
        for needed in needs:
            self.run.require(needed)
        self.run.begin(name)
        written: list[type[Dataset]] = []
        try:
            yield written
        finally:
            self.run.clear_scratch()
        self.run.commit(name, [dataset.dataset_name() for dataset in written])
