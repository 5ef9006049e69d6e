"""A cluster put through snapshot, allocation and assessment, and its findings as a test asks for them."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from rocketmq_capacity import contracts
from rocketmq_capacity.config import Policy
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.lake import Run
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.allocate import allocate
from rocketmq_capacity.steps.assess import assess
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot

Row = dict[str, Any]


@dataclass(frozen=True)
class Judgement:
    """What the assessment wrote, as rows."""

    findings: list[Row]
    groups: list[Row]
    strategy_loads: list[Row]
    client_loads: list[Row]
    allocation: list[Row]

    def found(self, rule: str, consumer_group: str | None = None, topic: str | None = None) -> Row | None:
        """The rule's finding about the group, or about the topic, or None; a second one is an error."""
        about = [
            row
            for row in self.findings
            if row["rule"] == rule
            and (consumer_group is None or row["consumer_group"] == consumer_group)
            and (topic is None or row["topic"] == topic)
        ]
        assert len(about) <= 1, about
        return about[0] if about else None

    def finding(self, rule: str, consumer_group: str | None = None, topic: str | None = None) -> Row:
        """The rule's one finding about the group or topic."""
        found = self.found(rule, consumer_group, topic)
        assert found is not None, f"no {rule}; found are {self.rules(consumer_group, topic)}"
        return found

    def rules(self, consumer_group: str | None = None, topic: str | None = None) -> set[str]:
        """The rules that found something about the group or the topic."""
        return {
            row["rule"]
            for row in self.findings
            if (consumer_group is not None and row["consumer_group"] == consumer_group)
            or (topic is not None and row["topic"] == topic)
        }

    def group(self, consumer_group: str) -> Row:
        """The group's status."""
        (row,) = (row for row in self.groups if row["consumer_group"] == consumer_group)
        return row

    def load(self, consumer_group: str, strategy: str) -> Row:
        """What the strategy means for the group."""
        (row,) = (
            row for row in self.strategy_loads if (row["consumer_group"], row["strategy"]) == (consumer_group, strategy)
        )
        return row


def judge(
    spark: SparkSession,
    folder: Path,
    inventory: Inventory,
    policy: Policy | None = None,
    history: Iterable[Inventory] = (),
    earlier: Iterable[Row] | None = None,
) -> Judgement:
    """Run the steps; ``earlier`` is what the run before found, as findings with their evidence decoded."""
    planning = Planning(lambda: spark, Run(folder), policy or Policy())
    snapshot(planning, inventory, tuple(history))
    allocate(planning)
    before = None
    if earlier is not None:
        rows = [{**row, "evidence": json.dumps(row["evidence"])} for row in earlier]
        before = spark.createDataFrame(rows, contracts.Finding.spark_schema())
    assess(planning, before)

    def rows_of(dataset: type[Dataset]) -> list[Row]:
        rows: list[Row] = planning.read(dataset).toArrow().to_pylist()
        return rows

    return Judgement(
        findings=[{**row, "evidence": json.loads(row["evidence"])} for row in rows_of(contracts.Finding)],
        groups=rows_of(contracts.GroupStatus),
        strategy_loads=[
            {**row, **{load: dict(row[load]) if row[load] else None for load in ("count", "traffic", "lag")}}
            for row in rows_of(contracts.StrategyLoad)
        ],
        client_loads=rows_of(contracts.ClientLoad),
        allocation=rows_of(contracts.Allocation),
    )
