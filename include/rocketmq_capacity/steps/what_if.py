"""A what-if: a run that plans the changed cluster, next to the run of the cluster as it is."""

from dataclasses import replace
from functools import partial

from rocketmq_capacity import tables
from rocketmq_capacity.plan_file.scenario import ScenarioResult
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.compare_cluster import compare_cluster
from rocketmq_capacity.simulation.compare_groups import OF_A_GROUP, OF_GROUPS, compare_groups
from rocketmq_capacity.simulation.comparison import comparison
from rocketmq_capacity.simulation.producers_meanwhile import OF_PRODUCERS, producers_meanwhile
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.simulation.what_if import WhatIf
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.assess import WRITTEN as ASSESSED
from rocketmq_capacity.steps.planning import ASSESS, COMPARE, SNAPSHOT, Planning, UnitFrame
from rocketmq_capacity.steps.snapshot import write_inventory, write_snapshot
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_lookup import existing_run


def simulate(planning: Planning, what_if: WhatIf, changed: Inventory) -> None:
    """Store the changed inventory as the run's snapshot.

    It has no history: the samples that still hold are in the inventory itself.
    """
    with planning.step(SNAPSHOT, writes=tables.SNAPSHOT):
        what_if.write(planning.run.what_if)
        write_inventory(planning, changed)
        write_snapshot(planning, changed)


def effect_of(planning: Planning, lake: Lake) -> ScenarioResult | None:
    """The plan file's ``scenario`` of the run, or None if it is not a what-if. Errors: as `Planning.check_stored`."""
    what_if = WhatIf.read(planning.run.what_if)
    if what_if is None:
        return None
    before = replace(planning, run=existing_run(lake, what_if.before))
    before.check_stored(*tables.SNAPSHOT, *ASSESSED)
    return effect(before, planning, what_if.scenario)


def effect(before: Planning, after: Planning, scenario: Scenario) -> ScenarioResult:
    """The plan file's ``scenario``, of two runs. The step ``compare`` writes the datasets of the run after.

    Errors: DatasetMissing if one of the runs is not assessed, or as :meth:`Planning.require`.
    """
    for needed in (SNAPSHOT, ASSESS):
        before.require(needed)
    with after.step(COMPARE, SNAPSHOT, ASSESS, writes=(*OF_GROUPS, *OF_PRODUCERS)):
        now, then = RunSide(before.run, before.cluster), RunSide(after.run, after.cluster)
        sides = Sides.of(now, then, _deciding(before, after), scenario)
        groups = _groups(before, after)
        after.map_units("groups", groups, partial(compare_groups, sides), *OF_GROUPS)
        after.add(tables.UndecidedFinding, compare_cluster(sides).undecided)
        producers = producers_meanwhile(sides)
        for dataset, rows in producers.rows.items():
            after.add(dataset, rows)
    return comparison(sides, producers.member)


def _groups(before: Planning, after: Planning) -> UnitFrame:
    """The groups of the changed cluster, each with what it is like in the cluster as it is."""
    of_after = after.read(tables.GroupUnit).select("consumer_group", *OF_A_GROUP)
    columns_before = (f"{name} AS {name}_before" for name in OF_A_GROUP)
    of_before = before.read(tables.GroupUnit).selectExpr("consumer_group", *columns_before)
    return UnitFrame(after.number(tables.GroupUnit), of_after.join(of_before, "consumer_group", "left"))


def _deciding(before: Planning, after: Planning) -> Policy:
    """The policy, with the answers of the deployment's own strategy classes for the groups of both runs."""
    groups = after.policy.current_strategies.own
    if not groups:
        return after.policy
    policies = before.deciding, after.deciding
    return after.policy.with_own_answers({
        group: tuple(answers for policy in policies for answers in policy.own_answers(group)) for group in groups
    })
