"""A run being planned: its tables, the session that computes them, and the frame of every step."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.arrow import arrow_schema, table_of
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.facts import ClusterFacts
from rocketmq_capacity.contracts.rows import Row, rows_in, rows_where
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.vocabulary import ABSENT, BUSINESS, INFO

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from rocketmq_capacity.spark.units import OnUnits

SNAPSHOT: Final = "snapshot"
ALLOCATE: Final = "allocate"
ASSESS: Final = "assess"
RECOMMEND: Final = "recommend"
COMPARE: Final = "compare"
"""Only of a what-if: it beside the run of the cluster as it is."""
PUBLISH: Final = "publish"

Rows = list[dict[str, Any]]
"""Some rows of a frame, as the functions over units are given them."""


@dataclass(frozen=True)
class Planning:
    """A run being planned: where its tables are and what Spark session computes them.

    Attributes:
        session: gives the session; asked only by steps that compute.
        run: where the tables are.
        policy: what decides.
    """

    session: "Callable[[], SparkSession]"
    run: Run
    policy: Policy

    def read(self, dataset: type[Dataset]) -> "DataFrame":
        """A dataset of this run."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema = from_arrow_schema(arrow_schema(dataset))
        return self.session().read.schema(schema).parquet(str(self.run.table(dataset.dataset_name())))

    def rows(self, dataset: type[Row]) -> list[Row]:
        """The rows of a dataset that is small at every size of cluster."""
        return list(rows_in(self.run.table(dataset.dataset_name()), dataset))

    def map_units(self, units: "DataFrame", function: "OnUnits", *datasets: type[Dataset]) -> None:
        """Write what a function says of every unit into datasets of this run, beside what they hold already."""
        from rocketmq_capacity.spark.units import map_units

        map_units(units, function, {dataset: self.run.table(dataset.dataset_name()) for dataset in datasets})

    def add(self, dataset: type[Dataset], rows: Iterable[Dataset]) -> None:
        """Write a few rows into a dataset of this run, beside what it holds already."""
        table = table_of(dataset, rows)
        if table.num_rows:
            pq.write_table(table, self.run.table(dataset.dataset_name()) / "part-driver.parquet", store_schema=False)

    @contextmanager
    def step(self, name: str, *needs: str, writes: Iterable[type[Dataset]] = ()) -> Iterator[None]:
        """The body of a step: it finds its datasets empty, and commits them when it ends without an error.

        A step without datasets has nothing to take back: what it published before stays so while it works.
        """
        names = [dataset.dataset_name() for dataset in writes]
        with self.run.alone():
            for needed in needs:
                self.run.require(needed)
            if names:
                self.run.begin(name)
            for dataset in names:
                self.run.new_table(dataset)
            yield
            self.run.commit(name, names)

    @cached_property
    def cluster(self) -> ClusterFacts:
        """What holds for the whole cluster."""
        failures = self.rows(contracts.Failure)
        return ClusterFacts(
            cluster=self.rows(contracts.Cluster)[0],
            brokers=tuple(self.rows(contracts.Broker)),
            failures=len(failures),
            silent=tuple(sorted({failure.broker_name or failure.broker_addr for failure in failures})),
        )

    def absent_brokers(self) -> list[str]:
        """Brokers that business topics name and the snapshot lacks, sorted."""
        is_absent = (pc.field("kind") == BUSINESS) & (pc.field("broker_state") == ABSENT)
        names = self._column(contracts.TopicQueue, "broker_name", is_absent)
        return sorted(names.unique().to_pylist())

    def business_groups(self) -> int:
        """How many groups are judged."""
        return len(self._column(contracts.ConsumerGroup, "kind", pc.field("kind") == BUSINESS))

    def flagged(self) -> set[tuple[str, str]]:
        """(consumer_group, rule) of every finding about a group that says that something is wrong."""
        folder = self.run.table(contracts.Finding.dataset_name())
        is_flag = ~pc.field("consumer_group").is_null() & (pc.field("severity") != INFO)
        table = pq.read_table(folder, columns=["consumer_group", "rule"], filters=is_flag)
        return set(zip(table["consumer_group"].to_pylist(), table["rule"].to_pylist(), strict=True))

    def cluster_findings(self) -> list[contracts.Finding]:
        """The findings that name neither a group nor a topic."""
        folder = self.run.table(contracts.Finding.dataset_name())
        return rows_where(folder, contracts.Finding, pc.field("consumer_group").is_null() & pc.field("topic").is_null())

    def _column(self, dataset: type[Dataset], column: str, condition: pc.Expression) -> pa.ChunkedArray:
        folder = self.run.table(dataset.dataset_name())
        return pq.read_table(folder, columns=[column], filters=condition)[column]
