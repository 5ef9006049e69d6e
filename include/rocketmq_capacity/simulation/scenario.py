"""The scenario file: the changes to try on a snapshot, in their order, and the snapshot with them.

Names and numbers have the bounds of the inventory. Values are not converted: ``count: "2"`` is an error.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Union

from pydantic import BeforeValidator, Field, field_validator

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.section import Section
from rocketmq_capacity.settings.yaml_file import mapping_of_text, read_yaml, validated
from rocketmq_capacity.simulation.change import MOST_CLIENTS, Ending, Name, ScenarioChange, changes
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.snapshot.filters import with_pass_ratios
from rocketmq_capacity.snapshot.inventory import Inventory

if TYPE_CHECKING:
    AnyChange = ScenarioChange
else:  # which classes there are is found out here
    AnyChange = Annotated[Union[tuple(changes())], Field(discriminator="change")]  # noqa: UP007  # no | of a tuple

WHAT: Final = "a scenario file"
WORST_FIRST: Final[tuple[Ending, ...]] = ("SILENT", "KILL", "SHUTDOWN")
"""The ways in which clients end."""
MOST_CHANGES: Final = 100
"""Changes of a scenario. A person writes some ten of them, and each copies a part of the snapshot."""


def _few(changes: object) -> object:
    """The changes as they are. Errors: ValueError for too many, before any is checked."""
    if isinstance(changes, list | tuple) and len(changes) > MOST_CHANGES:
        raise ValueError(f"has {len(changes):,} changes; expected at most {MOST_CHANGES}")
    return changes


class Scenario(Section):
    """A named list of changes; an empty one leaves the snapshot as it is."""

    name: Annotated[Name, Field(strict=True)]
    changes: Annotated[tuple[AnyChange, ...], BeforeValidator(_few)]

    @field_validator("changes")
    @classmethod
    def _few_clients(cls, changes: tuple[ScenarioChange, ...]) -> tuple[ScenarioChange, ...]:
        clients = sum(change.clients for change in changes)
        if clients > MOST_CLIENTS:
            problem = f"add and remove {clients:,} clients together; expected at most {MOST_CLIENTS:,}"
            raise ValueError(problem)
        return changes

    @property
    def ending(self) -> Ending:
        """The worst way in which clients of the scenario end; those of a lost machine room end SILENT."""
        ways = {change.ends for change in self.changes}
        return next((ending for ending in WORST_FIRST if ending in ways), "SHUTDOWN")

    @property
    def lost_rooms(self) -> frozenset[str]:
        """The machine rooms that are lost."""
        return frozenset(change.lost_room for change in self.changes if change.lost_room is not None)

    @property
    def failed_polls(self) -> int:
        """How many polls of a client may fail until it asks a name server that answers.

        Each dead name server may cost one, but for the first if all are killed: its connection is closed at once.
        """
        lost = [change.lost_nameserver for change in self.changes if change.lost_nameserver is not None]
        dead = [loss for _, loss in lost if loss != "CUT_OFF"]
        return max(0, len(dead) - ("SILENT" not in dead))

    @property
    def lost_masters(self) -> frozenset[str]:
        """The brokers that lose their masters."""
        return frozenset[str]().union(*(change.trouble.lost_if_masterless for change in self.changes))

    def changes_as_written(self) -> list[dict[str, Any]]:
        """The changes as plain values with the keys that the file gave, for the plan file."""
        return [change.model_dump(mode="json", exclude_unset=True) for change in self.changes]


def read_scenario(path: Path) -> Scenario:
    """Read and check a scenario file; whether it fits a cluster is checked when it is applied.

    Errors: :class:`BadInput` naming the file, the place in it and what was expected (an unknown key or change: the
    nearest known one).
    """
    return read_yaml(path, Scenario, WHAT)


def scenario_of_text(text: str, source: str) -> Scenario:
    """The same for a text; ``source`` is its name in errors."""
    return validated(mapping_of_text(text, source, WHAT), Scenario, source)


def apply(inventory: Inventory, scenario: Scenario, policy: Policy, source: str) -> Inventory:
    """The inventory with all changes, made in their order; the given one stays as it is.

    Args:
        inventory: the snapshot.
        scenario: the changes.
        policy: its ``rooms`` decide what ``lose_room`` removes.
        source: the name of the scenario in errors: the file as the user named it.

    Errors: :class:`BadInput` naming the change that does not fit the cluster, and the nearest existing name.
    """
    # Filters' ratios are measured on the clients as they are. They must stay when the clients change.
    inventory = with_pass_ratios(inventory)
    for index, change in enumerate(scenario.changes):
        inventory = change.apply(inventory, ChangePlace(source, index), policy)
    return inventory
