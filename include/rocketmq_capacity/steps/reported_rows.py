"""The tables of a run, as the rows of the report."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.rows import Row, rows_in, rows_where
from rocketmq_capacity.report.rows import Rows
from rocketmq_capacity.store.lake import Run


def rows_of_plan(run: Run) -> Rows:
    """The rows of the plan."""
    return Rows(
        cluster=list(rows(run, contracts.Cluster)),
        failure=list(rows(run, contracts.Failure)),
        group_status=list(rows(run, contracts.GroupStatus)),
        strategy_load=rows(run, contracts.StrategyLoad),
        finding=list(rows(run, contracts.Finding)),
        finding_since=list(rows(run, contracts.FindingSince)),
        recommendation=list(rows(run, contracts.Recommendation)),
    )


def rows_of_groups(run: Run, dataset: type[Row], groups: Sequence[str]) -> list[Row]:
    """The rows of these groups in a dataset; in a large cluster one row in hundreds."""
    is_asked_for = pc.field("consumer_group").cast(pa.string()).isin(pa.array(groups, pa.string()))
    return rows_where(run.table(dataset.dataset_name()), dataset, is_asked_for)


def rows(run: Run, dataset: type[Row]) -> Iterator[Row]:
    """All rows of a dataset, read one after the other."""
    return rows_in(run.table(dataset.dataset_name()), dataset)
