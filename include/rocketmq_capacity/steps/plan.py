"""A whole plan in one Spark session, without Airflow: the steps one after the other over a lake that is thrown away."""

import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from pyspark.sql import SparkSession

from rocketmq_capacity.assessment.trust import Flagged
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.allocate import allocate
from rocketmq_capacity.steps.assess import assess
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.publish import publish
from rocketmq_capacity.steps.recommend import recommend
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.steps.what_if import effect
from rocketmq_capacity.store.lake import Lake


def plan_inventory(
    session: Callable[[], SparkSession],
    inventory: Inventory,
    policy: Policy,
    out: Path,
    *,
    history: Sequence[Inventory] = (),
    change: tuple[Scenario, Inventory] | None = None,
) -> None:
    """Plan the cluster into the folder ``out``: report, plan and tables.

    Args:
        session: gives the session.
        inventory: the cluster.
        policy: what decides.
        out: an empty folder.
        history: earlier inventories of the cluster, oldest first.
        change: a what-if and the cluster as it would be: that is then planned, beside the cluster as it is.
    """
    with tempfile.TemporaryDirectory(prefix=".lake.", dir=out.parent) as folder:
        _Planner(session, Lake(Path(folder)), policy, history).publish(inventory, change, out)


@dataclass(frozen=True, slots=True)
class _Planner:
    session: Callable[[], SparkSession]
    lake: Lake
    policy: Policy
    history: Sequence[Inventory]

    def publish(self, inventory: Inventory, change: tuple[Scenario, Inventory] | None, out: Path) -> None:
        earlier = self._flagged_before()
        planning = self._assessed("now", inventory, earlier)
        scenario = None
        if change is not None:
            # Samples of the past say nothing of queues that a scenario changes.
            what_if, changed = change
            before, planning = planning, replace(self, history=())._assessed("changed", changed, earlier)
            scenario = effect(before, planning, what_if)
        recommend(planning)
        publish(planning, scenario)
        planning.run.export(out)

    def _assessed(self, run_id: str, inventory: Inventory, before: set[Flagged] | None) -> Planning:
        run = self.lake.run(inventory.cluster_name, run_id)
        planning = Planning(self.session, run, self.policy)
        snapshot(planning, inventory, self.history)
        allocate(planning)
        assess(planning, before)
        return planning

    def _flagged_before(self) -> set[Flagged] | None:
        """What was flagged in the latest inventory of the history; rules that need two runs look at it."""
        if not self.history:
            return None
        *older, latest = self.history
        planner = _Planner(self.session, self.lake, self.policy, older)
        return planner._assessed("earlier", latest, None).flagged()
