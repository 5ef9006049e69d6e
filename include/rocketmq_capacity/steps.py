"""The steps of a plan, each from the run's tables to the run's tables; what the Spark apps and the command line call."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.allocation.applicability import strategy_status
from rocketmq_capacity.assessment.assess import assess as assessed
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset, enforce
from rocketmq_capacity.lake import Run, write_whole
from rocketmq_capacity.recommendation.recommend import recommend as recommended
from rocketmq_capacity.report.publish import publish as published
from rocketmq_capacity.snapshot.inventory import Inventory, render_inventory
from rocketmq_capacity.snapshot.tables import snapshot_tables

SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND, PUBLISH = "snapshot", "allocate", "assess", "recommend", "publish"


@dataclass(frozen=True, slots=True)
class Planning:
    """A run being planned: where its tables are and what Spark session computes them."""

    spark: SparkSession
    run: Run
    policy: Policy

    def read(self, dataset: type[Dataset]) -> DataFrame:
        """A dataset of this run."""
        path = self.run.table(dataset.dataset_name())
        return self.spark.read.schema(dataset.spark_schema()).parquet(str(path))

    def read_all(self, datasets: Sequence[type[Dataset]]) -> dict[type[Dataset], DataFrame]:
        """Several datasets by their contract."""
        return {dataset: self.read(dataset) for dataset in datasets}

    def write(self, dataset: type[Dataset], frame: DataFrame) -> None:
        """Enforce the contract, then replace the dataset of this run."""
        path = self.run.table(dataset.dataset_name())
        enforce(frame, dataset).write.mode("overwrite").parquet(str(path))

    @contextmanager
    def step(self, name: str, *needs: str) -> Iterator[list[type[Dataset]]]:
        """The datasets that the body writes, committed when it ends without an error."""
        for needed in needs:
            self.run.require(needed)
        self.run.begin(name)
        written: list[type[Dataset]] = []
        yield written
        self.run.commit(name, [dataset.dataset_name() for dataset in written])
