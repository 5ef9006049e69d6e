"""The origin of a what-if, as its run stores it."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import msgspec

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.simulation.scenario import Scenario, scenario_of_text
from rocketmq_capacity.store.json_file import json_file
from rocketmq_capacity.store.writing import write_whole


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
        write_whole(file, json_file(stored))
