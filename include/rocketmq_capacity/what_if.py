"""A what-if: a run that plans the cluster as a scenario leaves it, beside the run of the cluster as it is."""

import json
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import msgspec

from rocketmq_capacity import contracts
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.lake import Lake, write_whole
from rocketmq_capacity.run_lookup import existing_run
from rocketmq_capacity.simulation.compare import compare, findings_added, findings_cleared
from rocketmq_capacity.simulation.scenario import Scenario, scenario_of_text
from rocketmq_capacity.snapshot.inventory import Inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot

LOOKED_AT: Final = (
    contracts.Allocation,
    contracts.StrategyLoad,
    contracts.TopicQueue,
    contracts.Subscription,
    contracts.Topic,
    contracts.ConsumerGroup,
)
"""What the comparison of two plans reads."""
_SIDE: Final = ("idle", "count", "traffic")


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
    what_if.write(planning.run.what_if)
    snapshot(planning, changed)


def effect_of(planning: Planning, lake: Lake) -> dict[str, Any] | None:
    """The plan file's ``scenario`` of the run, or None where it is no what-if."""
    what_if = WhatIf.read(planning.run.what_if)
    if what_if is None:
        return None
    return effect(replace(planning, run=existing_run(lake, what_if.before)), planning, what_if.scenario)


def effect(before: Planning, after: Planning, scenario: Scenario) -> dict[str, Any]:
    """The plan file's ``scenario``, of two runs that are assessed."""
    groups = compare(before.read_all(LOOKED_AT), after.read_all(LOOKED_AT)).toArrow().to_pylist()
    found, finds = before.read(contracts.Finding), after.read(contracts.Finding)
    return {
        "name": scenario.name,
        "changes": scenario.changes_as_written(),
        "groups": [
            {**row, **{side: {name: row[f"{side}_{name}"] for name in _SIDE} for side in ("before", "after")}}
            for row in groups
        ],
        "findings_added": _plain(findings_added(found, finds).toArrow().to_pylist()),
        "findings_cleared": _plain(findings_cleared(found, finds).toArrow().to_pylist()),
    }


def _plain(findings: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings in the plan file's form."""
    return [{**row, "evidence": json.loads(row["evidence"])} for row in findings]
