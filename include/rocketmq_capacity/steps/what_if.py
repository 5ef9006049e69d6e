"""A what-if: a run that plans the cluster as a scenario leaves it, beside the run of the cluster as it is."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import contracts
from rocketmq_capacity.allocation.allocate import Strategies
from rocketmq_capacity.contracts.arrow import table_of
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.facts import GroupFacts
from rocketmq_capacity.contracts.rows import rows_where
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.simulation.compare import only_in, scenario_effects
from rocketmq_capacity.simulation.outlook import named_brokers, outlook
from rocketmq_capacity.simulation.scenario import Scenario, scenario_of_text
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.planning import ASSESS, COMPARE, SNAPSHOT, Planning, Rows
from rocketmq_capacity.steps.snapshot import write_snapshot
from rocketmq_capacity.store.lake import Lake, write_whole
from rocketmq_capacity.store.run_lookup import existing_run
from rocketmq_capacity.vocabulary import BUSINESS


@dataclass(frozen=True, slots=True)
class WhatIf:
    """What makes a run a what-if.

    Attributes:
        before: id of the run of the cluster as it is.
        scenario: the changes.
    """

    before: str
    scenario: Scenario

    @classmethod
    def read(cls, file: Path) -> Self | None:
        """The what-if that a run stored, or None where the run is a plan. Errors: BadInput for a spoiled file."""
        if not file.exists():
            return None
        try:
            stored = msgspec.json.decode(file.read_bytes(), type=dict[str, Any])
            before, scenario = str(stored["before"]), json.dumps(stored["scenario"])
        except (msgspec.DecodeError, KeyError) as error:
            raise BadInput(str(file), "", f"is no stored what-if ({error}); expected what simulate wrote") from None
        return cls(before, scenario_of_text(scenario, str(file)))

    def write(self, file: Path) -> None:
        """Store it, whole or not at all."""
        scenario = {"name": self.scenario.name, "changes": self.scenario.changes_as_written()}
        stored = {"before": self.before, "scenario": scenario}
        write_whole(file, msgspec.json.format(msgspec.json.encode(stored), indent=2) + b"\n")


def simulate(planning: Planning, what_if: WhatIf, changed: Inventory) -> None:
    """Store the inventory as the scenario leaves it, as the run's snapshot.

    Samples of the past say nothing of queues that a scenario changes, so the changed snapshot has no history.
    """
    with planning.step(SNAPSHOT, writes=contracts.SNAPSHOT):
        what_if.write(planning.run.what_if)
        write_snapshot(planning, changed)


def effect_of(planning: Planning, lake: Lake) -> dict[str, Any] | None:
    """The plan file's ``scenario`` of the run, or None where it is no what-if."""
    what_if = WhatIf.read(planning.run.what_if)
    if what_if is None:
        return None
    return effect(replace(planning, run=existing_run(lake, what_if.before)), planning, what_if.scenario)


def effect(before: Planning, after: Planning, scenario: Scenario) -> dict[str, Any]:
    """The plan file's ``scenario``, of two runs; the run after gets its ``scenario_effect``, by the step ``compare``.

    Errors: DatasetMissing where one of the runs is not assessed.
    """
    for needed in (SNAPSHOT, ASSESS):
        before.run.require(needed)
    with after.step(COMPARE, SNAPSHOT, ASSESS, writes=(contracts.ScenarioEffect,)):
        groups = after.units(contracts.GroupUnit, "consumer_group", "facts")
        was = before.read(contracts.GroupUnit).selectExpr("consumer_group", "facts AS facts_before")
        both = replace(groups, frame=groups.frame.join(was, "consumer_group", "left"))
        after.map_units("groups", both, partial(compared, Strategies(after.policy)), contracts.ScenarioEffect)
    found, finds = before.rows(contracts.Finding), after.rows(contracts.Finding)
    told = {} if not (names := named_brokers(scenario)) else {"brokers": _outlook(before, after, scenario, names)}
    return {
        **told,
        "name": scenario.name,
        "changes": scenario.changes_as_written(),
        "groups": [_group(row) for row in after.rows(contracts.ScenarioEffect)],
        "findings_added": [_plain(finding) for finding in only_in(finds, found)],
        "findings_cleared": [_plain(finding) for finding in only_in(found, finds)],
    }


def _outlook(before: Planning, after: Planning, scenario: Scenario, names: Sequence[str]) -> list[dict[str, Any]]:
    """What is said of the brokers that lose their master or are slow."""
    is_named = pc.field("broker_name").cast(pa.string()).isin(pa.array(names, pa.string()))
    folder = before.run.table(contracts.TopicQueue.dataset_name())
    queues = rows_where(folder, contracts.TopicQueue, is_named & (pc.field("kind") == BUSINESS))
    return outlook(scenario, queues, after.rows(contracts.Broker))


def compared(strategies: Strategies, units: Rows) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """What the changes do to some groups."""
    decoder = msgspec.json.Decoder(GroupFacts)
    rows = [
        row
        for unit in units
        for row in scenario_effects(
            None if unit["facts_before"] is None else decoder.decode(unit["facts_before"]),
            decoder.decode(unit["facts"]),
            strategies,
        )
    ]
    yield contracts.ScenarioEffect, table_of(contracts.ScenarioEffect, rows)


def _group(row: contracts.ScenarioEffect) -> dict[str, Any]:
    """A row in the plan file's form."""
    return {
        **{name: getattr(row, name) for name in ("consumer_group", "strategy", "moved_queues", "moved_ratio")},
        "before": {"idle": row.before_idle, "count": row.before_count, "traffic": row.before_traffic},
        "after": {"idle": row.after_idle, "count": row.after_count, "traffic": row.after_traffic},
    }


def _plain(finding: contracts.Finding) -> dict[str, Any]:
    """A finding in the plan file's form."""
    return {
        **msgspec.structs.asdict(finding),
        "subjects": finding.about,
        "evidence": json.loads(finding.evidence),
    }
