"""Fleets that are ready to be planned: an inventory, a policy, and earlier inventories."""

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, field
from math import sin
from pathlib import Path
from typing import Final

import msgspec

from tests.advice.healthy import model_of
from tests.advice.model import Model
from tests.advice.shape import ROOMS, Moment, Row
from tests.advice.written import inventory_of

DAYS: Final = 16
"""Of a history: two weeks and a little more, one snapshot a day."""
BUSIEST_DAY: Final = 1.2
"""Times the usual traffic that the busiest of these days had."""


@dataclass
class Fleet:
    """A fleet with its policy.

    Attributes:
        model: the fleet now; ``past`` is the one that the history shows.
        policy: keys of the policy file.
        days: how many days of history there are, one snapshot each.
        hours_before: further snapshots of the history: how long before the planned one, the longest first.
        edits: what is changed in the inventory once it is written, such as members that no model has.
    """

    size: str
    seed: int
    model: Model
    policy: Row
    days: int = 0
    hours_before: tuple[float, ...] = ()
    past: Model | None = None
    edits: list[Callable[[Row], None]] = field(default_factory=list)

    @property
    def inventory(self) -> Row:
        row = inventory_of(self.model, Moment())
        for edit in self.edits:
            edit(row)
        return row

    def remember(self) -> None:
        """Let the history show the fleet as it is now, whatever is changed later."""
        self.past = deepcopy(self.model)

    def write(self, folder: Path) -> None:
        """Write ``inventory.json``, ``policy.yaml`` and the folder ``history``, which the command line takes."""
        (folder / "policy.yaml").write_text(json.dumps(self.policy, indent=1))  # JSON is YAML, too
        (folder / "inventory.json").write_bytes(msgspec.json.encode(self.inventory))
        (folder / "history").mkdir()
        for number, days_before in enumerate((*range(self.days, 0, -1), *(hours / 24 for hours in self.hours_before))):
            # A week's wave; the last night is a usual one.
            traffic = 1 + (BUSIEST_DAY - 1) * sin(days_before * 2 * 3.14159 / 7)
            row = inventory_of(self.past or self.model, Moment(days_before, round(traffic, 3)))
            (folder / "history" / f"{number:02}.json").write_bytes(msgspec.json.encode(row))


def healthy(size: str, seed: int, *, with_history: bool = False) -> Fleet:
    """A fleet with nothing wrong in it."""
    days, peak = (DAYS, BUSIEST_DAY) if with_history else (0, 1.0)
    return Fleet(size, seed, model_of(size, seed, peak=peak), policy(), days)


def policy() -> Row:
    """Rooms as brokers and addresses tell them, and which groups keep a client to spare."""
    return {
        "rooms": {
            "brokers": [{"pattern": "^(?P<room>[^@]+)@"}],
            "clients": [{"cidr": f"10.{number}.0.0/16", "room": room} for number, room in enumerate(ROOMS, 1)],
        },
        "groups": [{"match": "_standby$", "standby": 1}],
    }
