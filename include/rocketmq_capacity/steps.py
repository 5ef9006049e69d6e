"""The steps of a plan, each from the run's tables to the run's tables; what Spark apps and command line call."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import allocate as allocated
from rocketmq_capacity.allocation.applicability import strategy_status
from rocketmq_capacity.assessment.assess import assess as assessed
from rocketmq_capacity.assessment.assess import loads_of_variants
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset, enforce, refuse_nulls
from rocketmq_capacity.jvm import SMALL_BYTES
from rocketmq_capacity.lake import Run, write_whole
from rocketmq_capacity.recommendation.recommend import recommend as recommended
from rocketmq_capacity.report.approval import read_approval
from rocketmq_capacity.report.publish import publish as published
from rocketmq_capacity.session import set_size
from rocketmq_capacity.side_by_side import side_by_side
from rocketmq_capacity.snapshot.inventory import Inventory, render_inventory
from rocketmq_capacity.snapshot.tables import snapshot_tables

SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND, PUBLISH = "snapshot", "allocate", "assess", "recommend", "publish"
CASE = "case_id"
"""The column that keeps the variants of one simulation apart."""
ALLOCATED_FROM = (contracts.Consumer, contracts.ConsumerGroup, contracts.Subscription, contracts.TopicQueue)
"""What the allocation looks at."""
REPORTED = (
    contracts.Cluster,
    contracts.Failure,
    contracts.GroupStatus,
    contracts.StrategyLoad,
    contracts.ClientLoad,
    contracts.Finding,
    contracts.Recommendation,
)
"""What the report shows; the rest of the lake is too long to read."""
_scratch_numbers = count()


@dataclass(frozen=True, slots=True)
class Planning:
    """A run being planned: where its tables are and what Spark session computes them."""

    spark: SparkSession
    run: Run
    policy: Policy

    def read(self, dataset: type[Dataset]) -> DataFrame:
        """A dataset of this run."""
        return self._read(self.run.table(dataset.dataset_name()), dataset.spark_schema())

    def read_all(self, datasets: Sequence[type[Dataset]]) -> dict[type[Dataset], DataFrame]:
        """Several datasets by their contract."""
        return {dataset: self.read(dataset) for dataset in datasets}

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
        set_size(self.spark, is_small=self.is_small)
        self.run.begin(name)
        written: list[type[Dataset]] = []
        try:
            yield written
        finally:
            self.run.clear_scratch()
        self.run.commit(name, [dataset.dataset_name() for dataset in written])


def snapshot(planning: Planning, inventory: Inventory, history: Sequence[Inventory] = ()) -> None:
    """Store the inventory and its tables; ``history`` is earlier inventories of the cluster, oldest first."""
    with planning.step(SNAPSHOT) as written:
        write_whole(planning.run.inventory, render_inventory(inventory))
        for dataset, table in snapshot_tables(inventory, planning.policy, history).items():
            folder = planning.run.new_table(dataset.dataset_name())
            pq.write_table(table, folder / "part-0.parquet")  # in Arrow already: Spark would only copy it
            written.append(dataset)


def allocate(planning: Planning) -> None:
    """Run every strategy for every group."""
    with planning.step(ALLOCATE, SNAPSHOT) as written:
        tables = planning.read_all(ALLOCATED_FROM)
        side_by_side(
            lambda: planning.write(contracts.Allocation, allocated(tables, planning.policy, settle=planning.settle)),
            lambda: planning.write(contracts.StrategyStatus, strategy_status(tables, planning.policy)),
        )
        written += [contracts.Allocation, contracts.StrategyStatus]


def assess(planning: Planning, earlier: DataFrame | None = None) -> None:
    """Measure every strategy's loads and find what is wrong; ``earlier`` is the findings of the run before."""
    with planning.step(ASSESS, SNAPSHOT, ALLOCATE) as written:
        result = assessed(
            planning.read_all(contracts.SNAPSHOT),
            planning.read(contracts.Allocation),
            planning.read(contracts.StrategyStatus),
            planning.policy,
            lambda tables: allocated(tables, planning.policy, settle=planning.settle),
            planning.settle,
            earlier,
        )
        frames = {
            contracts.ClientLoad: result.client_load,
            contracts.StrategyLoad: result.strategy_load,
            contracts.GroupStatus: result.group_status,
            contracts.Finding: result.finding,
        }
        side_by_side(*(partial(planning.write, dataset, frame.coalesce(1)) for dataset, frame in frames.items()))
        written += frames


def recommend(planning: Planning) -> None:
    """Answer the findings with the smallest safe changes, each simulated before it is named."""
    with planning.step(RECOMMEND, SNAPSHOT, ALLOCATE, ASSESS) as written:
        # What a person said of the recommendations before is no answer to these.
        planning.run.approval.unlink(missing_ok=True)
        tables = planning.read_all(contracts.SNAPSHOT)
        status, groups = planning.read(contracts.StrategyStatus), planning.read(contracts.GroupStatus)

        def simulate(cases: Mapping[type[Dataset], DataFrame]) -> DataFrame:
            variants = {**tables, **cases}
            allocation = planning.settle(allocated(variants, planning.policy, [CASE], planning.settle))
            return loads_of_variants(variants, allocation, groups, status, planning.policy, [CASE], planning.settle)

        loads, found = planning.read(contracts.StrategyLoad), planning.read(contracts.Finding)
        frame = recommended(tables, loads, groups, found, planning.policy, simulate, planning.settle)
        planning.write(contracts.Recommendation, frame.coalesce(1))
        written.append(contracts.Recommendation)


def publish(planning: Planning, scenario: Mapping[str, Any] | None = None) -> None:
    """Write what people read into the run's report folder, with the answer of a person where there is one."""
    with planning.step(PUBLISH, SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND):
        approval = read_approval(planning.run.approval)
        published(rows_of(planning), planning.run.report, scenario=scenario, approval=approval)


def rows_of(planning: Planning) -> dict[str, list[dict[str, Any]]]:
    """What the report is made from: the rows of every dataset that it shows, by dataset name."""
    return {dataset.dataset_name(): planning.read(dataset).toArrow().to_pylist() for dataset in REPORTED}
