"""The last step: what people read. It computes nothing, so that it needs no Spark session."""

from collections.abc import Mapping
from typing import Any, Final

import pyarrow.parquet as pq

from rocketmq_capacity import contracts
from rocketmq_capacity.lake import Run
from rocketmq_capacity.report.approval import read_approval
from rocketmq_capacity.report.publish import publish as published
from rocketmq_capacity.steps.planning import ALLOCATE, ASSESS, PUBLISH, RECOMMEND, SNAPSHOT, Planning

REPORTED: Final = (
    contracts.Cluster,
    contracts.Failure,
    contracts.GroupStatus,
    contracts.StrategyLoad,
    contracts.ClientLoad,
    contracts.Finding,
    contracts.Recommendation,
)
"""What the report shows; the rest of the lake is too long to read."""


def publish(planning: Planning, scenario: Mapping[str, Any] | None = None) -> None:
    """Write what people read into the run's report folder, with the answer of a person where there is one."""
    with planning.step(PUBLISH, SNAPSHOT, ALLOCATE, ASSESS, RECOMMEND):
        run = planning.run
        published(rows_of(run), run.report, scenario=scenario, approval=read_approval(run.approval))


def rows_of(run: Run) -> dict[str, list[dict[str, Any]]]:
    """What the report is made from: the rows of every dataset that it shows, by dataset name."""
    names = [dataset.dataset_name() for dataset in REPORTED]
    return {name: pq.read_table(run.table(name)).to_pylist() for name in names}
