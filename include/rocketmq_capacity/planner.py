"""A whole plan in one Spark session, without Airflow: the steps one after the other over a lake that is thrown away."""

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession

from rocketmq_capacity import contracts, steps
from rocketmq_capacity.config import Policy
from rocketmq_capacity.lake import Lake
from rocketmq_capacity.simulation.compare import compare, findings_added, findings_cleared
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.snapshot.inventory import Inventory

_SIDE: Final = ("idle", "count", "traffic")


def plan_inventory(
    spark: SparkSession,
    inventory: Inventory,
    policy: Policy,
    out: Path,
    *,
    history: Sequence[Inventory] = (),
    change: tuple[Scenario, Inventory] | None = None,
) -> None:
    """Plan the cluster into the folder ``out``: report, plan and tables.

    Args:
        spark: the session.
        inventory: the cluster.
        policy: what decides.
        out: an empty folder.
        history: earlier inventories of the cluster, oldest first.
        change: a what-if and the cluster as it would be: that is then planned, beside the cluster as it is.
    """
    with tempfile.TemporaryDirectory(prefix=".lake.", dir=out.parent) as folder:
        _Planner(spark, Lake(Path(folder)), policy, history).publish(inventory, change, out)


@dataclass(frozen=True, slots=True)
class _Planner:
    spark: SparkSession
    lake: Lake
    policy: Policy
    history: Sequence[Inventory]

    def publish(self, inventory: Inventory, change: tuple[Scenario, Inventory] | None, out: Path) -> None:
        earlier = self._earlier_findings()
        planning = self._assessed("now", inventory, earlier)
        scenario = None
        if change is not None:
            # Samples of the past say nothing of queues that a scenario changes.
            what_if, changed = change
            before, planning = planning, replace(self, history=())._assessed("changed", changed, earlier)
            scenario = _effect(before, planning, what_if)
        steps.recommend(planning)
        steps.publish(planning, scenario)
        planning.run.export(out)

    def _assessed(self, run_id: str, inventory: Inventory, earlier: DataFrame | None) -> steps.Planning:
        run = self.lake.run(inventory.cluster_name, run_id)
        planning = steps.Planning(self.spark, run, self.policy)
        steps.snapshot(planning, inventory, self.history)
        steps.allocate(planning)
        steps.assess(planning, earlier)
        return planning

    def _earlier_findings(self) -> DataFrame | None:
        """What was found in the latest inventory of the history; rules that need two runs look at it."""
        if not self.history:
            return None
        *older, latest = self.history
        planner = _Planner(self.spark, self.lake, self.policy, older)
        return planner._assessed("earlier", latest, None).read(contracts.Finding)


def _effect(before: steps.Planning, after: steps.Planning, scenario: Scenario) -> dict[str, Any]:
    """The plan file's ``scenario``."""
    looked_at = (
        contracts.Allocation,
        contracts.StrategyLoad,
        contracts.TopicQueue,
        contracts.Subscription,
        contracts.Topic,
        contracts.ConsumerGroup,
    )
    groups = compare(before.read_all(looked_at), after.read_all(looked_at)).toArrow().to_pylist()
    found, finds = before.read(contracts.Finding), after.read(contracts.Finding)
    return {
        "name": scenario.name,
        "changes": scenario.changes_as_written(),
        "groups": [
            {**row, **{side: {name: row[f"{side}_{name}"] for name in _SIDE} for side in ("before", "after")}}
            for row in groups
        ],
        "findings_added": _plain(findings_added(found, finds)),
        "findings_cleared": _plain(findings_cleared(found, finds)),
    }


def _plain(findings: DataFrame) -> list[dict[str, Any]]:
    """Findings in the plan file's form."""
    return [{**row, "evidence": json.loads(row["evidence"])} for row in findings.toArrow().to_pylist()]
