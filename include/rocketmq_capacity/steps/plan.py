"""A whole plan in one Spark session, without Airflow: all steps in sequence, with a lake that is deleted afterwards."""

import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from pyspark.sql import SparkSession

from rocketmq_capacity.progress.progress import Progress
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.steps.allocate import allocate
from rocketmq_capacity.steps.assess import assess
from rocketmq_capacity.steps.inputs import BEFORE, Taken
from rocketmq_capacity.steps.planning import Found, Planning, waited_for
from rocketmq_capacity.steps.publish import publish
from rocketmq_capacity.steps.recommend import recommend
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.steps.what_if import effect
from rocketmq_capacity.store.lake import Lake


def plan_snapshots(
    session: Callable[[], SparkSession],
    taken: list[Taken],
    policy: Policy,
    out: Path,
    *,
    scenario: Scenario | None = None,
    progress: Progress | None = None,
) -> None:
    """Plan the cluster into the folder ``out``: report, plan and tables.

    Args:
        session: returns the session.
        taken: the `snapshots` to plan. Each is removed from the list once it is stored, so that no inventory is in
            memory while its units are computed.
        policy: the policy.
        out: an empty folder.
        scenario: the changes of the last snapshot, which is planned in addition to the cluster as it is.
        progress: shows how far the steps are.
    """
    progress = progress or Progress()
    with tempfile.TemporaryDirectory(prefix=".lake.", dir=out.parent) as folder:
        lake, session = Lake(Path(folder)), waited_for(session, progress)
        stored: list[Planning] = []
        while taken:
            stored.append(_stored(taken.pop(0), partial(Planning, session, policy=policy, progress=progress), lake))
        _planned(stored, scenario).run.export(out)


def _stored(taken: Taken, planning_of: Callable[..., Planning], lake: Lake) -> Planning:
    run = lake.run(taken.inventory.cluster_name, taken.name or "now")
    planning = planning_of(run=run, name=taken.name)
    snapshot(planning, taken.inventory, taken.history, keeps_inventory=False)
    return planning


def _planned(stored: Sequence[Planning], scenario: Scenario | None) -> Planning:
    """The run that is published."""
    before: Found | None = None
    for planning in stored:
        allocate(planning)
        assess(planning, before)
        if planning.name == BEFORE:
            before = planning.found()
    planning = stored[-1]
    recommend(planning)
    publish(planning, None if scenario is None else effect(stored[-2], planning, scenario))
    return planning
