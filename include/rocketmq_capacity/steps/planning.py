"""A run that is being planned: its tables, the session that computes them, and the frame of every step."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import fields

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.finding_states import stored_states
from rocketmq_capacity.errors import CapacityError, ContractBroken, DatasetMissing, StoreUnreachable
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.plan_file.pairs import found_place
from rocketmq_capacity.progress.progress import Phase, Progress, ProgressStep
from rocketmq_capacity.report.files import PLAN
from rocketmq_capacity.report.plan_before import PlanBefore, plan_before
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.store.acceptances import acceptances
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.place import is_local
from rocketmq_capacity.tables.arrow import arrow_schema, table_of
from rocketmq_capacity.tables.assess.findings import CLOSING, FoundPlace
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Record, Row, is_one_of, records_where, rows_in, rows_where, table_in
from rocketmq_capacity.tables.source import number_of_rows, parquet_file_in_part
from rocketmq_capacity.vocabulary import ABSENT, BUSINESS, INFO, POP, SEVERITIES
from rocketmq_capacity.wording import counted

if TYPE_CHECKING:
    from pyspark import Broadcast
    from pyspark.sql import DataFrame, SparkSession

    from rocketmq_capacity.spark.reading import Reader
    from rocketmq_capacity.spark.units import OnUnits

SNAPSHOT: Final = "snapshot"
ALLOCATE: Final = "allocate"
ASSESS: Final = "assess"
RECOMMEND: Final = "recommend"
COMPARE: Final = "compare"
"""Only a what-if has this step: it compares the run with the run of the cluster as it is."""

CHECKS: Final = ThreadPoolExecutor(2)
"""Checks tables, two at a time. It imports what checks them, which takes a second, while a step waits for Spark."""
DATASETS: Final = {dataset.dataset_name(): dataset for dataset in tables.DATASETS}
Shared = TypeVar("Shared")
Rows = list[dict[str, Any]]
"""Some rows of a frame, as the functions over units get them."""
_OF_PATTERNS: Final = re.compile(r"[\\{}\[\]*?]")
"""Source: SparkHadoopUtil.isGlobPath of Spark 4.2; a backslash before each makes it a plain character."""


def with_acceptances(policy: Policy, run: Run, taken_at: str) -> Policy:
    """The policy, with the risks that people have accepted beside the run; those of its file come first.

    Errors: BadInput naming a file that is damaged.
    """
    return policy.model_copy(update={"accepted": (*policy.accepted, *acceptances(run.folder.parent, taken_at))})


@dataclass(frozen=True, slots=True)
class RunFindings:
    """What a run has found.

    Attributes:
        flagged: pairs of a group and a rule that found something wrong with it; None if no verdict held, because the
            snapshot was too incomplete: what the next run finds may have been there.
        states: of its findings, and of those that close.
        taken_at: when its snapshot was taken.
        findings: its table of findings, and those that close.
        advised: what its plan recommended.
        offsets: those of the groups that this is about.
    """

    flagged: set[tuple[str, str]] | None
    states: Mapping[FoundPlace, tables.FindingSince]
    taken_at: str
    findings: pa.Table
    advised: PlanBefore = field(default_factory=PlanBefore)
    offsets: pa.Table | None = None


@dataclass(frozen=True, slots=True)
class UnitFrame:
    """The units to compute.

    Attributes:
        number: how many there are.
        frame: a row a unit, or what ``read`` makes units of.
        read: reads the units in Spark's tasks, from a store.
    """

    number: int
    frame: "DataFrame"
    read: "Reader | None" = None


@dataclass(frozen=True)
class Planning:
    """A run that is being planned: where its tables are and which Spark session computes them.

    Attributes:
        session: returns the session; only steps that compute ask for it.
        run: where the tables are.
        policy: the policy.
        progress: shows how far the steps are.
        name: which of several runs of one plan it is; empty if there is only one.
    """

    session: "Callable[[], SparkSession]"
    run: Run
    policy: Policy
    progress: Progress = field(default_factory=Progress)
    name: str = ""

    def require(self, step: str) -> None:
        """Make sure that the tables of a step are there, with every column that this version needs.

        Errors: DatasetMissing if the step has not finished, or if an earlier version of this program left out a column;
        TableDamaged if the files of a table are not those that the step has written.
        """
        for name in self.run.datasets(step):
            dataset = DATASETS.get(name)
            files = self.run.files(name)
            if dataset is None or not files:
                continue
            rows: dict[str, int] = {}
            # A question to a store takes as long as a small file.
            for file in files if is_local(files[0]) else files[:1]:
                with parquet_file_in_part(file) as parquet:
                    held, rows[file.name] = parquet.schema_arrow.names, parquet.metadata.num_rows
            self.run.check_rows(name, rows)
            lost = [one.name for one in fields(dataset) if one.required and one.name not in held]
            if lost:
                problem = f"the table {name} has no column {lost[0]}: an earlier version of this program wrote it"
                raise DatasetMissing(f"{self.run.folder}: {problem}; plan the snapshot of this run again")

    def check_stored(self, *datasets: type[Dataset]) -> None:
        """Check tables of a run that another process, or another version of this program, has stored.

        Errors: ContractBroken if a column has another type, or if rows have the same key; TableDamaged if a file has
        other bytes than were written.
        """
        from rocketmq_capacity.tables.checks import check_stored

        for dataset in datasets:
            self.run.check_bytes(dataset.dataset_name())
            check_stored(dataset, self.files(dataset))

    def units(self, dataset: type[Dataset], *columns: str, files: Sequence[Path] | None = None) -> UnitFrame:
        """The units in a dataset of this run, or in some of its files, one a row."""
        number = self.number(dataset) if files is None else sum(map(number_of_rows, files))
        files = self.files(dataset) if files is None else files
        if not files or is_local(self.run.folder):
            return UnitFrame(number, self.read(dataset, files).select(*columns))
        from rocketmq_capacity.spark.reading import shares_of

        return UnitFrame(number, *shares_of(self.session(), files, columns))

    def number(self, dataset: type[Dataset]) -> int:
        """The number of rows of a dataset of this run."""
        known = self.run.rows(dataset.dataset_name())
        return sum(map(number_of_rows, self.files(dataset))) if known is None else known

    def read(self, dataset: type[Dataset], files: Sequence[Path] | None = None) -> "DataFrame":
        """A dataset of this run, or some of its files."""
        from pyspark.sql.pandas.types import from_arrow_schema

        schema, files = from_arrow_schema(arrow_schema(dataset)), self.files(dataset) if files is None else files
        if not files:
            return self.session().createDataFrame([], schema)
        if is_local(self.run.folder):
            return self.session().read.schema(schema).parquet(*map(_as_pattern, files))
        from rocketmq_capacity.spark.reading import frame_of

        return frame_of(self.session(), files, schema)

    def files(self, dataset: type[Dataset]) -> list[Path]:
        """The files of a dataset of this run. Errors: TableDamaged, as `Run.files`."""
        return self.run.files(dataset.dataset_name())

    def rows(self, dataset: type[Row]) -> list[Row]:
        """The rows of a dataset that is small for clusters of every size."""
        return list(rows_in(self.files(dataset), dataset))

    def share(self, value: Shared) -> "Broadcast[Shared]":
        """A value that Spark hands once to each process that computes units, and not with each task."""
        return self.session().sparkContext.broadcast(value)

    def map_units(self, what: str, units: UnitFrame, function: "OnUnits", *datasets: type[Dataset]) -> None:
        """Add a function's rows of every unit to datasets of this run.

        The progress shows ``what``; Spark's page and event log show it too, with the names of the datasets.
        """
        from rocketmq_capacity.spark.units import map_units

        names = ", ".join(dataset.dataset_name() for dataset in datasets)
        context = self.session().sparkContext
        with self._counted(what, units.number):
            context.setJobDescription(f"{what} ({units.number:,}): writes {names}")
            try:
                map_units(units.frame, function, self.run, *datasets, read=units.read)
            finally:
                context.setLocalProperty("spark.job.description", None)  # type: ignore[arg-type]  # null removes it

    def wait_for_units(self, what: str, number: int, early: Sequence[Future[int]]) -> None:
        """Wait for calls of `map_units` in another thread, of which each gives its number of units."""
        self.session()  # the progress shows if it is waited for
        with self._counted(what, number, early):
            for call in early:
                call.result()

    def _counted(self, what: str, number: int, early: Sequence[Future[int]] = ()) -> AbstractContextManager[Phase]:
        """A phase that counts the units that are mapped."""
        from rocketmq_capacity.spark.units import units_done

        def done() -> int:
            before = sum(call.result() for call in early if call.done() and call.exception() is None)
            return before + units_done(self.run.counts)

        return self.progress.phase(what, number, done)

    def add(self, dataset: type[Dataset], rows: Iterable[Dataset]) -> None:
        """Add a few rows to a dataset of this run."""
        self.add_table(dataset, table_of(dataset, rows))

    def add_table(self, dataset: type[Dataset], table: pa.Table) -> None:
        """Add a table to a dataset of this run."""
        if table.num_rows:
            add_file(self.run, dataset, table)

    @contextmanager
    def step(
        self, name: str, *needs: str, writes: Sequence[type[Dataset]] = (), is_begun: bool = False
    ) -> Iterator[ProgressStep]:
        """The body of a step: its datasets are empty at the start, and are checked and committed if it succeeds.

        A step without datasets deletes nothing: what it published before stays published while it works. The body may
        add to the step's outcome. A step that `is_begun` has called `begin` before.

        Errors: DatasetMissing if a step that this one needs has not finished, or as :meth:`require`; TableDamaged if
        the body fails and a table that it needs has other bytes than were written; ContractBroken if a table is not as
        its dataset says; it is then not committed.
        """
        names = [dataset.dataset_name() for dataset in writes]
        title = f"{name} ({self.name})" if self.name else name
        with self.run.alone(), self.progress.step(title) as step, self._damage_told(needs):
            for needed in needs:
                # What is only read for the page may lack what an earlier version did not compute.
                self.require(needed) if names else self.run.require(needed)
            if names and not is_begun:
                self.begin(name, writes)
            checks = CHECKS.submit(import_module, "rocketmq_capacity.tables.checks") if names else None
            yield step
            if checks is not None:
                # Arrow does most of it, beside Python.
                list(CHECKS.map(checks.result().check_written, writes, map(self.files, writes)))
            self.run.commit(name, names)
            if names:
                step.tells(f"{counted(sum(map(self.number, writes)), 'row')} in {counted(len(names), 'table')}")

    @contextmanager
    def _damage_told(self, needs: Sequence[str]) -> Iterator[None]:
        """Looks for the damaged table if something fails. To read each table twice in every run would take long."""
        try:
            yield
        except Exception as error:
            if not isinstance(error, CapacityError) or isinstance(error, StoreUnreachable):
                for dataset in (dataset for step in needs for dataset in self.run.datasets(step)):
                    self.run.check_bytes(dataset)
            raise

    def begin(self, name: str, writes: Sequence[type[Dataset]]) -> None:
        """Empty the datasets of a step."""
        self.run.begin(name)
        self.run.new_tables(*(dataset.dataset_name() for dataset in writes))

    @cached_property
    def cluster(self) -> ClusterFacts:
        """The facts of the whole cluster."""
        failures = self.rows(tables.Failure)
        return ClusterFacts(
            cluster=self.rows(tables.Cluster)[0],
            brokers=tuple(self.rows(tables.Broker)),
            gone=tuple(self.rows(tables.GoneBroker)),
            failures=len(failures),
            silent=tuple(sorted({one.broker_name or one.broker_addr for one in failures if not one.of_clients})),
        )

    @property
    def disagreements(self) -> Disagreements:
        """The differences between name servers, and between slaves and their masters."""
        return Disagreements(self.rows(tables.NameserverDifference), self.rows(tables.SlaveDifference))

    @cached_property
    def deciding(self) -> Policy:
        """The policy, with the answers of the deployment's own strategy classes for the groups of this run.

        Errors: BadInput for a jar or a class with an error.
        """
        strategies = self.policy.current_strategies.own
        if not strategies:
            return self.policy
        from rocketmq_capacity.steps.own_classes import own_answers

        return self.policy.with_own_answers(own_answers(self.session(), self.run, strategies))

    @cached_property
    def judging(self) -> Policy:
        """The same, with the risks that people have accepted; the snapshot must have been stored.

        Errors: as :attr:`deciding` and :func:`with_acceptances`.
        """
        return with_acceptances(self.deciding, self.run, self.cluster.cluster.taken_at)

    def absent_brokers(self) -> list[str]:
        """Brokers that business topics name but the snapshot lacks, sorted."""
        is_absent = (pc.field("kind") == BUSINESS) & (pc.field("broker_state") == ABSENT)
        names = self._column(tables.TopicQueue, "broker_name", is_absent)
        return sorted(names.unique().to_pylist())

    def business_groups(self) -> int:
        """The number of groups that are judged."""
        return len(self._column(tables.ConsumerGroup, "kind", pc.field("kind") == BUSINESS))

    def groups_that_read(self, topics: Iterable[str]) -> set[str]:
        """The names of the groups that are judged and read one of these topics."""
        is_read = pc.field("topic").isin(pa.array(sorted(topics), pa.string()))
        readers = set(self._column(tables.Subscription, "consumer_group", is_read).to_pylist())
        return readers & set(
            self._column(tables.ConsumerGroup, "consumer_group", pc.field("kind") == BUSINESS).to_pylist()
        )

    def groups_that_pop(self) -> set[str]:
        """The names of the groups that pop all of their business topics."""
        return set(
            self._column(tables.ConsumerGroup, "consumer_group", pc.field("message_request_mode") == POP).to_pylist()
        )

    def flagged(self) -> set[tuple[str, str]]:
        """(consumer_group, rule) of every finding about a group that says that something is wrong."""
        is_flag = ~pc.field("consumer_group").is_null() & (pc.field("severity") != INFO)
        table = self.table(tables.Finding, ["consumer_group", "rule"], is_flag)
        return set(zip(table["consumer_group"].to_pylist(), table["rule"].to_pylist(), strict=True))

    def found(self) -> RunFindings:
        """What this run has found, for the run after it. Errors: as :meth:`check_stored`."""
        self.check_stored(tables.Cluster, tables.Finding)
        if not self.files(tables.Finding):  # without findings there is a file too
            raise ContractBroken(f"{self.run.folder}: the table finding has no files")
        (cluster,) = self.rows(tables.Cluster)
        states = stored_states(self.severities(), self.rows(tables.FindingSince), cluster.taken_at)
        closing = {place for place, one in states.items() if one.state == CLOSING}
        file = self.run.report / PLAN
        advised = plan_before(file) if file.exists() else PlanBefore()
        findings, offsets = self._findings_with(closing), self._offsets_of(advised)
        flagged = self.flagged() if self.policy.holds_verdicts(cluster.completeness_ratio) else None
        return RunFindings(flagged, states, cluster.taken_at, findings, advised, offsets)

    def _offsets_of(self, advised: PlanBefore) -> pa.Table:
        """The offsets of the groups of which something was predicted."""
        names = {then.consumer_group for entry in advised.entries for then in entry.groups}
        columns = [one.name for one in fields(tables.OffsetBefore)]
        return self.table(tables.GroupOffset, columns, is_one_of("consumer_group", names))

    def _findings_with(self, closing: Collection[FoundPlace]) -> pa.Table:
        """The findings of this run, and of those of the run before the ones that close."""
        findings = self.table(tables.Finding)
        if not closing:
            return findings
        before = self.table(tables.FindingBefore)
        places = zip(*(before[name].to_pylist() for name in tables.FindingSince.KEY), strict=True)
        closes = [found_place(*place) in closing for place in places]
        return pa.concat_tables([findings, before.filter(pa.array(closes, pa.bool_()))])

    def severities(self) -> dict[FoundPlace, str]:
        """The severity of each place with findings; the worst of several."""
        names = ["severity", "rule", "consumer_group", "topic", "broker_name"]
        table = self.table(tables.Finding, names)
        worst: dict[FoundPlace, str] = {}
        for severity, *place in zip(*(table[name].to_pylist() for name in names), strict=True):
            key = found_place(*place)
            worst[key] = min(severity, worst.get(key, severity), key=SEVERITIES.index)
        return worst

    def cluster_findings(self) -> list[tables.Finding]:
        """The findings that name neither a group nor a topic."""
        is_of_cluster = pc.field("consumer_group").is_null() & pc.field("topic").is_null()
        return rows_where(self.files(tables.Finding), tables.Finding, is_of_cluster)

    def table(
        self, dataset: type[Dataset], columns: Sequence[str] | None = None, condition: pc.Expression | None = None
    ) -> pa.Table:
        """The rows of a dataset of this run for which a condition holds; of some columns, or of all."""
        return table_in(self.files(dataset), dataset, columns, condition)

    def records(self, dataset: type[Dataset], kind: type[Record], condition: pc.Expression) -> Iterator[Record]:
        """Some columns of the rows of a dataset for which a condition holds, as named tuples."""
        return records_where(self.files(dataset), dataset, kind, condition)

    def values(self, dataset: type[Dataset], column: str) -> Counter[str]:
        """For each value of a column, the number of rows of a dataset of this run."""
        table = self.table(dataset, [column])
        return Counter({one["values"]: one["counts"] for one in table[column].value_counts().to_pylist()})

    def _column(self, dataset: type[Dataset], column: str, condition: pc.Expression) -> pa.ChunkedArray:
        return self.table(dataset, [column], condition)[column]


def _as_pattern(file: Path) -> str:
    """The pattern that is this file alone: Spark takes every path that it reads for a pattern of names."""
    return _OF_PATTERNS.sub(r"\\\g<0>", str(file))


def waited_for(session: "Callable[[], SparkSession]", progress: Progress) -> "Callable[[], SparkSession]":
    """The session; the progress shows that it is waited for."""

    @cache
    def wait() -> "SparkSession":
        with progress.phase("Spark starts"):
            return session()

    return wait
