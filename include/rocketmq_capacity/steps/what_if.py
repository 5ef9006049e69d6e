"""A what-if: a run that plans the changed cluster, next to the run of the cluster as it is."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Final, Self

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.topic import Topic
from rocketmq_capacity.contracts.arrow import table_of
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.facts import ClusterFacts, GroupFacts, TopicWithReaders
from rocketmq_capacity.contracts.rows import rows_by, rows_where
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.carried import Busy, LostTopics, Routed, carried, lost_topics, verdict_of
from rocketmq_capacity.simulation.compare import scenario_effects
from rocketmq_capacity.simulation.consequences import cause_of, lost_brokers
from rocketmq_capacity.simulation.gone import gone_with_topic_or_broker
from rocketmq_capacity.simulation.judged_again import undecided_balance, undecided_of_cluster, undecided_of_topic
from rocketmq_capacity.simulation.outcome import Sorted, is_touched, outcome, sides_of
from rocketmq_capacity.simulation.outlook import named_brokers, outlook
from rocketmq_capacity.simulation.scenario import Ending, Scenario, scenario_of_text
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import change_of
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.assess import WRITTEN as ASSESSED
from rocketmq_capacity.steps.planning import ASSESS, COMPARE, SNAPSHOT, Planning, Rows
from rocketmq_capacity.steps.producer_timeline import OF_PRODUCERS, add_producers
from rocketmq_capacity.steps.queue_plans import changes_queues, queue_plans
from rocketmq_capacity.steps.reported_rows import rows_if_any
from rocketmq_capacity.steps.snapshot import write_inventory, write_snapshot
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import existing_run
from rocketmq_capacity.store.writing import write_whole
from rocketmq_capacity.vocabulary import BUSINESS

WRITTEN: Final = (
    contracts.ScenarioEffect,
    contracts.ScenarioGroup,
    contracts.UndecidedFinding,
    contracts.Transition,
    contracts.GroupTransition,
)
"""The datasets that the comparison of groups writes."""
OF_A_GROUP: Final = ("facts", "observations", "samples")
"""The columns of ``group_unit`` that say what a group is like."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """The origin of a what-if.

    Attributes:
        before: id of the run of the cluster as it is.
        scenario: the changes.
    """

    before: str
    scenario: Scenario

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """The what-if that a run stored, or None if the run is a plan. Errors: BadInput for a damaged file."""
        if not file.exists():
            return None
        try:
            stored = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
            before, scenario = str(stored["before"]), json.dumps(stored["scenario"])
        except (ValueError, KeyError, RecursionError) as error:  # msgspec's errors are ValueErrors
            raise BadInput(str(file), "", f"is not a stored what-if ({error}); expected what simulate wrote") from None
        return cls(before, scenario_of_text(scenario, str(file)))

    def write(self, file: Path) -> None:
        """Store it, completely or not at all."""
        scenario = {"name": self.scenario.name, "changes": self.scenario.changes_as_written()}
        stored = {"before": self.before, "scenario": scenario}
        write_whole(file, msgspec.json.format(msgspec.json.encode(stored), indent=2) + b"\n")


def simulate(planning: Planning, what_if: WhatIf, changed: Inventory) -> None:
    """Store the changed inventory as the run's snapshot.

    It has no history: the samples that still hold are in the inventory itself.
    """
    with planning.step(SNAPSHOT, writes=contracts.SNAPSHOT):
        what_if.write(planning.run.what_if)
        write_inventory(planning, changed)
        write_snapshot(planning, changed)


def effect_of(planning: Planning, lake: Lake) -> dict[str, Any] | None:
    """The plan file's ``scenario`` of the run, or None if it is not a what-if. Errors: as `Planning.check_stored`."""
    what_if = WhatIf.read(planning.run.what_if)
    if what_if is None:
        return None
    before = replace(planning, run=existing_run(lake, what_if.before))
    before.check_stored(*contracts.SNAPSHOT, *ASSESSED)
    return effect(before, planning, what_if.scenario)


def effect(before: Planning, after: Planning, scenario: Scenario) -> dict[str, Any]:
    """The plan file's ``scenario``, of two runs. The step ``compare`` writes the datasets of the run after.

    Errors: DatasetMissing if one of the runs is not assessed, or as :meth:`Planning.require`.
    """
    for needed in (SNAPSHOT, ASSESS):
        before.require(needed)
    with after.step(COMPARE, SNAPSHOT, ASSESS, writes=(*WRITTEN, *OF_PRODUCERS)):
        groups = after.units(contracts.GroupUnit, "consumer_group", *OF_A_GROUP)
        was = before.read(contracts.GroupUnit).selectExpr(
            "consumer_group", *(f"{name} AS {name}_before" for name in OF_A_GROUP)
        )
        both = replace(groups, frame=groups.frame.join(was, "consumer_group", "left"))
        sides = Sides(
            before.run,
            after.run,
            before.cluster,
            after.cluster,
            _deciding(before, after),
            hot_topics(before.run),
            scenario.ending,
            scenario.lost_rooms,
        )
        after.map_units("groups", both, partial(compared, sides), *WRITTEN)
        after.add(contracts.UndecidedFinding, of_no_group(sides).undecided)
        producers = add_producers(before, after, scenario)
    outcomes = list(after.rows(contracts.ScenarioGroup))
    lost = _lost_topics(before, after)
    bound = after.policy.thresholds.PROVISION.under_utilisation
    of_group = {one.consumer_group: one for one in outcomes}
    taken = lost_brokers(before.cluster, after.cluster)
    busy = after.records(contracts.GroupStatus, Busy, pc.field("headroom_factor").is_valid())
    in_doubt = after.rows(contracts.UndecidedFinding)
    found = before.rows(contracts.Finding)
    still, gone, added = sides_of(found, after.rows(contracts.Finding))
    undecided = {_key(one) for one in in_doubt}
    more: dict[str, Any] = {}
    if names := named_brokers(scenario):
        more["brokers"] = _outlook(before, after, scenario, names)
    if producers is not None:
        more["producers"] = producers
    if changes_queues(scenario):
        is_suspect = any(one.rule == "SUSPECT_SNAPSHOT" for one in found)
        more["queue_plans"] = queue_plans(before, after, scenario, is_suspect=is_suspect)
    return {
        **more,
        "name": scenario.name,
        "changes": scenario.changes_as_written(),
        "verdict": verdict_of(outcomes, lost),
        "carried": carried(outcomes, busy, lost, bound),
        "totals": {
            "findings_added": len(added),
            "findings_cleared": len(gone) - len(in_doubt),
            "findings_undecided": len(in_doubt),
            "findings_still": len(still),
            **_totals(outcomes),
        },
        "affected_groups": [_affected(one) for one in outcomes],
        "transitions": [_transition(one) for one in after.rows(contracts.GroupTransition)],
        "groups": [_group(row) for row in after.rows(contracts.ScenarioEffect)],
        "findings_added": [_caused(finding, cause_of(finding, of_group, taken)) for finding in added],
        "findings_cleared": [_plain(finding) for finding in gone if _key(finding) not in undecided],
        "findings_undecided": [_plain(finding) for finding in in_doubt],
        "producers_undecided": producers_undecided(before.run, after.run),
    }


def producers_undecided(before: Run, after: Run) -> list[dict[str, str]]:
    """The topics that producers write to unevenly, as long as the changes do not take their messages or queues away."""
    had, has = ({row.topic for row in rows_if_any(run, contracts.ProducerBalance)} for run in (before, after))
    gone = sorted(had - has)
    was, now = (
        {
            name: msgspec.json.decode(unit.facts, type=TopicWithReaders).facts
            for name, (unit,) in rows_by(
                run.files(contracts.TopicUnit.dataset_name()), contracts.TopicUnit, "topic", gone
            ).items()
        }
        for run in (before, after)
    )
    return [{"topic": name, "why": undecided_balance(was[name], now.get(name))} for name in gone]


def _lost_topics(before: Planning, after: Planning) -> LostTopics:
    """The business topics that lose their last queue."""
    is_business = pc.field("kind").cast(pa.string()) == BUSINESS
    return lost_topics(*(run.records(contracts.TopicQueue, Routed, is_business) for run in (before, after)))


def _deciding(before: Planning, after: Planning) -> Policy:
    """The policy, with the answers of the deployment's own strategy classes for the groups of both runs."""
    groups = after.policy.current_strategies.own
    if not groups:
        return after.policy
    policies = before.deciding, after.deciding
    return after.policy.with_own_answers({
        group: tuple(answers for policy in policies for answers in policy.own_answers(group)) for group in groups
    })


def _outlook(before: Planning, after: Planning, scenario: Scenario, names: Sequence[str]) -> list[dict[str, Any]]:
    """The plan file's entries of the brokers that lose their master or are slow."""
    is_named = pc.field("broker_name").cast(pa.string()).isin(pa.array(names, pa.string()))
    files = before.run.files(contracts.TopicQueue.dataset_name())
    queues = rows_where(files, contracts.TopicQueue, is_named & (pc.field("kind") == BUSINESS))
    return outlook(scenario, queues, after.rows(contracts.Broker))


@dataclass(frozen=True, slots=True)
class Sides:
    """The input for the comparison of a group: both runs, and the facts of both whole clusters.

    Attributes:
        before: the run of the cluster as it is.
        after: the run of the changed cluster.
        cluster_before: the facts of the cluster as it is.
        cluster_after: the facts of the changed cluster.
        policy: the policy.
        hot_topics: topics of the cluster as it is whose queues get uneven traffic from producers.
        ending: how the clients that leave end.
        lost_rooms: machine rooms that are lost.
    """

    before: Run
    after: Run
    cluster_before: ClusterFacts
    cluster_after: ClusterFacts
    policy: Policy
    hot_topics: frozenset[str]
    ending: Ending
    lost_rooms: frozenset[str]


def hot_topics(run: Run) -> frozenset[str]:
    """The topics whose queues get uneven traffic from producers, by the run's findings."""
    files = run.files(contracts.Finding.dataset_name())
    is_hot = pc.field("rule").cast(pa.string()) == "HOT_QUEUE"
    return frozenset(found.topic for found in rows_where(files, contracts.Finding, is_hot) if found.topic)


def compared(sides: Sides, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """What the changes do to some groups."""
    facts = msgspec.json.Decoder(GroupFacts)
    strategies = Strategies(sides.policy)
    names = [unit["consumer_group"] for unit in units]
    found, finds = (
        rows_by(run.files(contracts.Finding.dataset_name()), contracts.Finding, "consumer_group", names)
        for run in (sides.before, sides.after)
    )
    effects: list[contracts.ScenarioEffect] = []
    outcomes: list[contracts.ScenarioGroup] = []
    in_doubt: list[contracts.UndecidedFinding] = []
    transitions: list[contracts.Transition] = []
    totals: list[contracts.GroupTransition] = []
    timing = Timing.of(sides.cluster_before, sides.policy)
    for unit in units:
        name, after = unit["consumer_group"], facts.decode(unit["facts"])
        before = None if unit["facts_before"] is None else facts.decode(unit["facts_before"])
        effects += scenario_effects(before, after, strategies)
        if before is None or _is_same(unit, found.get(name), finds.get(name)):
            continue
        was = Group(
            before.observed(unit["observations_before"], unit["samples_before"]),
            sides.cluster_before,
            sides.policy,
            strategies,
        )
        now = Group(
            after.observed(unit["observations"], unit["samples"]), sides.cluster_after, sides.policy, strategies
        )
        row, sorted_out = outcome(
            was, now, found.get(name, ()), finds.get(name, ()), sides.hot_topics, sides.lost_rooms
        )
        passing = change_of(was, now, timing, sides.ending)
        moved = [] if passing is None else list(passing.rows())
        if passing is not None and moved:
            transitions += moved
            whole = structs.asdict(passing.totals())
            totals.append(contracts.GroupTransition(consumer_group=name, **whole))
        if is_touched(row):
            outcomes.append(row)
        in_doubt += sorted_out.undecided
    yield contracts.ScenarioEffect, table_of(contracts.ScenarioEffect, effects)
    yield contracts.ScenarioGroup, table_of(contracts.ScenarioGroup, outcomes)
    yield contracts.UndecidedFinding, table_of(contracts.UndecidedFinding, in_doubt)
    yield contracts.Transition, table_of(contracts.Transition, transitions)
    yield contracts.GroupTransition, table_of(contracts.GroupTransition, totals)


def _is_same(
    unit: Mapping[str, Any],
    found: Sequence[contracts.Finding] | None,
    finds: Sequence[contracts.Finding] | None,
) -> bool:
    """Whether the changes leave a group as it was."""
    is_same = all(unit[name] == unit[f"{name}_before"] for name in OF_A_GROUP)
    return is_same and {_key(one) for one in found or ()} == {_key(one) for one in finds or ()}


def of_no_group(sides: Sides) -> Sorted:
    """The findings about topics, brokers and the whole cluster: new, gone or undecided."""
    found, finds = (
        rows_where(run.files(contracts.Finding.dataset_name()), contracts.Finding, pc.field("consumer_group").is_null())
        for run in (sides.before, sides.after)
    )
    still, gone, added = sides_of(found, finds)
    names = {one.topic for one in gone if one.topic is not None}
    had, has = (
        {
            name: Topic(msgspec.json.decode(unit.facts, type=TopicWithReaders), cluster, sides.policy)
            for name, (unit,) in rows_by(
                run.files(contracts.TopicUnit.dataset_name()), contracts.TopicUnit, "topic", names
            ).items()
        }
        for run, cluster in ((sides.before, sides.cluster_before), (sides.after, sides.cluster_after))
    )
    lost = lost_brokers(sides.cluster_before, sides.cluster_after)
    sorted_out = Sorted(still, added, cleared=[], undecided=[])
    for one in gone:
        after = None if one.topic is None else has.get(one.topic)
        doubt = (
            undecided_of_cluster(one, sides.cluster_before, sides.cluster_after, sides.policy)
            if one.topic is None
            else undecided_of_topic(one, had[one.topic], after)
        )
        sorted_out.sort_in(one, doubt, gone_with_topic_or_broker(one, after, lost))
    return sorted_out


def _key(finding: contracts.Finding) -> tuple[Any, ...]:
    """The key of a finding within one run."""
    return finding.rule, finding.consumer_group, finding.topic, finding.broker_name, finding.about


def _totals(rows: Sequence[contracts.ScenarioGroup]) -> dict[str, Any]:
    """The totals of the rows of ``scenario_group``."""
    lags = [(row.before_lag, row.after_lag) for row in rows if row.before_lag is not None and row.after_lag is not None]
    return {
        "moved_queues": sum(row.moved_queues or 0 for row in rows),
        "utilisation": {
            "before": max((row.before_utilisation for row in rows if row.before_utilisation is not None), default=None),
            "after": max((row.after_utilisation for row in rows if row.after_utilisation is not None), default=None),
        },
        "lag": {
            "before": sum(before for before, _ in lags) if lags else None,
            "after": sum(after for _, after in lags) if lags else None,
        },
    }


def _affected(row: contracts.ScenarioGroup) -> dict[str, Any]:
    """A row of ``scenario_group`` in the plan file's form."""
    both = ("utilisation", "peak_utilisation", "lag", "clients", "queues")
    sides = {name: {side: getattr(row, f"{side}_{name}") for side in ("before", "after")} for name in both}
    same = {name: value for name, value in structs.asdict(row).items() if not name.startswith(("before_", "after_"))}
    return {**same, **sides}


def _transition(row: contracts.GroupTransition) -> dict[str, Any]:
    """A row of ``group_transition`` in the plan file's form."""
    return {**structs.asdict(row), "timers": json.loads(row.timers)}


def _group(row: contracts.ScenarioEffect) -> dict[str, Any]:
    """A row in the plan file's form."""
    return {
        **{name: getattr(row, name) for name in ("consumer_group", "strategy", "moved_queues", "moved_ratio")},
        "before": {"idle": row.before_idle, "count": row.before_count, "traffic": row.before_traffic},
        "after": {"idle": row.after_idle, "count": row.after_count, "traffic": row.after_traffic},
    }


def _caused(finding: contracts.Finding, cause: str | None) -> dict[str, Any]:
    """A new finding in the plan file's form; its message names its cause, if there is one."""
    message = finding.message if cause is None else f"{finding.message} The reason: {cause}."
    return _plain(finding) | {"message": message, "cause": cause}


def _plain(finding: contracts.Finding) -> dict[str, Any]:
    """A finding in the plan file's form."""
    return {
        **msgspec.structs.asdict(finding),
        "subjects": finding.about,
        "evidence": json.loads(finding.evidence),
    }
