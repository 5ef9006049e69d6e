"""The two runs that a what-if compares: the cluster as it is, and the changed one."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import Record, Row, records_where, rows_by, rows_in, rows_where


@dataclass(frozen=True, slots=True)
class RunSide:
    """One of the two runs. A table that an earlier version of this program left out has no rows.

    Attributes:
        run: where its tables are.
        cluster: the facts of its whole cluster.
    """

    run: Run
    cluster: ClusterFacts

    def rows(self, dataset: type[Row]) -> list[Row]:
        """All rows of a dataset."""
        return list(rows_in(self._files(dataset), dataset))

    def rows_where(self, dataset: type[Row], condition: pc.Expression) -> list[Row]:
        """The rows for which a condition holds."""
        return rows_where(self._files(dataset), dataset, condition)

    def rows_by(self, dataset: type[Row], key: str, values: Iterable[str]) -> dict[str, list[Row]]:
        """The rows whose column ``key`` has one of the values, by value."""
        return rows_by(self._files(dataset), dataset, key, values)

    def records(self, dataset: type[Dataset], kind: type[Record], condition: pc.Expression) -> Iterator[Record]:
        """Some columns of the rows for which a condition holds, as named tuples."""
        return records_where(self._files(dataset), dataset, kind, condition)

    def _files(self, dataset: type[Dataset]) -> list[Path]:
        return self.run.files(dataset.dataset_name())


@dataclass(frozen=True, slots=True)
class Sides:
    """Both runs, and what the comparison of every group needs.

    Attributes:
        before: the cluster as it is.
        after: the changed cluster.
        policy: the policy, with the answers of the deployment's own strategy classes for the groups of both.
        scenario: the changes.
        hot_topics: topics of the cluster as it is whose queues get uneven traffic from producers, by its findings.
    """

    before: RunSide
    after: RunSide
    policy: Policy
    scenario: Scenario
    hot_topics: frozenset[str]

    @classmethod
    def of(cls, before: RunSide, after: RunSide, policy: Policy, scenario: Scenario) -> "Sides":
        """The two runs, of which the snapshots are assessed."""
        hot = before.rows_where(tables.Finding, pc.field("rule") == "HOT_QUEUE")
        return cls(before, after, policy, scenario, frozenset(found.topic for found in hot if found.topic))
