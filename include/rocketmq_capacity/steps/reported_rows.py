"""The tables of a run, as the rows of the report."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import repeat

from rocketmq_capacity import tables
from rocketmq_capacity.errors import DatasetMissing
from rocketmq_capacity.handover.observed import BrokerRow, GroupRow, Observed, PlaceRow, ReadRow, SettingRow, TopicRow
from rocketmq_capacity.report.losses import FailureLoss, GroupAfter, TopicAfter, losses_of
from rocketmq_capacity.report.rows import DrawnQueue, PlanRows, QueueLag
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Record, Row, is_one_of, records_where, rows_in, rows_where, table_in
from rocketmq_capacity.tables.source import parquet_file_in_part


def rows_of_plan(run: Run) -> PlanRows:
    """The rows of the plan."""
    return PlanRows(
        cluster=list(rows(run, tables.Cluster)),
        failure=list(rows(run, tables.Failure)),
        group_status=list(rows(run, tables.GroupStatus)),
        strategy_load=rows(run, tables.StrategyLoad),
        finding=list(rows(run, tables.Finding)),
        finding_since=rows_if_any(run, tables.FindingSince),
        run_before=rows_if_any(run, tables.RunBefore),
        finding_before=rows_if_any(run, tables.FindingBefore),
        ledger_before=rows_if_any(run, tables.LedgerBefore),
        ledger_rate=rows_if_any(run, tables.LedgerRate),
        recommendation=list(rows(run, tables.Recommendation)),
        recommended_transition=rows_if_any(run, tables.RecommendedTransition),
        producer_balance=rows_if_any(run, tables.ProducerBalance),
        broker_load=rows_if_any(run, tables.BrokerLoad),
        client_cost=rows_if_any(run, tables.ClientCost),
        broker_pool=rows_if_any(run, tables.BrokerPool),
        topic_headroom=rows_if_any(run, tables.TopicHeadroom),
        event_need=rows_if_any(run, tables.EventNeed),
        losses=_losses(run),
    )


def _losses(run: Run) -> Sequence[FailureLoss] | None:
    """The effect of each failure on the cluster; None for a run of an earlier version, which did not ask."""
    if not _has(run, tables.GroupFailure):
        return None
    return losses_of(records(run, tables.GroupFailure, GroupAfter), records(run, tables.TopicFailure, TopicAfter))


def observed_in(run: Run) -> Observed:
    """The rows of the state that a plan hands over; they are read when it is made."""
    return Observed(
        topics=records(run, tables.Topic, TopicRow),
        places=records(run, tables.TopicQueue, PlaceRow),
        brokers=records(run, tables.Broker, BrokerRow),
        groups=records(run, tables.ConsumerGroup, GroupRow),
        settings=records(run, tables.GroupSetting, SettingRow),
        reads=records(run, tables.Subscription, ReadRow),
    )


def rows_of_groups(run: Run, dataset: type[Row], groups: Sequence[str]) -> list[Row]:
    """The rows of these groups in a dataset; in a large cluster one row in hundreds.

    Empty for a run without the dataset; the page then lacks the section.
    """
    if not _has(run, dataset):
        return []
    return rows_where(run.files(dataset.dataset_name()), dataset, is_one_of("consumer_group", groups))


def owned_queues(run: Run, strategies: Mapping[str, str]) -> list[DrawnQueue]:
    """Who owns the queues of these groups, each under its strategy; none if the run lacks the dataset."""
    if not strategies or not _has(run, tables.Allocation):
        return []
    queues = records_where(
        run.files(tables.Allocation.dataset_name()),
        tables.Allocation,
        DrawnQueue,
        is_one_of("consumer_group", strategies) & is_one_of("strategy", set(strategies.values())),
    )
    return [one for one in queues if strategies[one.consumer_group] == one.strategy]


def queue_lags(run: Run, groups: Iterable[str]) -> list[QueueLag]:
    """What waits on the queues of these groups; none if the run lacks the dataset."""
    names = list(groups)
    if not names or not _has(run, tables.GroupOffset):
        return []
    files = run.files(tables.GroupOffset.dataset_name())
    return list(records_where(files, tables.GroupOffset, QueueLag, is_one_of("consumer_group", names)))


def records(run: Run, dataset: type[Dataset], kind: type[Record]) -> Iterator[Record]:
    """Some columns of all rows of a dataset, as named tuples; none if the run lacks the dataset.

    A column that an earlier version of this program did not write is null.
    """
    if _has(run, dataset):
        files = run.files(dataset.dataset_name())
        there = {*kind._fields}
        if files:
            with parquet_file_in_part(files[0]) as parquet:
                there = {*parquet.schema_arrow.names}
        table = table_in(files, dataset, [name for name in kind._fields if name in there])
        columns = (table[name].to_pylist() if name in there else repeat(None, len(table)) for name in kind._fields)
        yield from map(kind._make, zip(*columns, strict=True))


def rows(run: Run, dataset: type[Row]) -> Iterator[Row]:
    """All rows of a dataset, read one after the other.

    Errors: DatasetMissing if an earlier version of this program planned the run, without the dataset.
    """
    if not _has(run, dataset):
        name = dataset.dataset_name()
        problem = f"has no dataset {name}: an earlier version of this program planned it; plan the cluster again"
        raise DatasetMissing(f"{run.folder}: {problem}")
    return rows_in(run.files(dataset.dataset_name()), dataset)


def rows_if_any(run: Run, dataset: type[Row]) -> Sequence[Row]:
    """All rows of a dataset; empty if the run lacks the dataset."""
    return list(rows(run, dataset)) if _has(run, dataset) else ()


def _has(run: Run, dataset: type[Dataset]) -> bool:
    """Whether the run has the dataset; an earlier version of this program may have planned it without."""
    return run.has(dataset.dataset_name())
