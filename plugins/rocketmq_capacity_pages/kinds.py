"""The two kinds of reports: where each is kept, and whose reader may read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rocketmq_capacity.report.shelf import Shelf
from rocketmq_capacity.settings.deployment import Places, home_of
from rocketmq_capacity.store.lake import Lake


@dataclass(frozen=True, slots=True)
class Kind:
    """Reports that are kept in one lake and read by those who may read one Dag."""

    name: str
    """As it stands in an address."""
    dag_id: str
    one: str
    many: str


PLANS: Final = Kind("plans", "rocketmq_capacity_plan", "Plan", "Plans")
WHAT_IFS: Final = Kind("what-ifs", "rocketmq_what_if", "What-if", "What-ifs")
KINDS: Final = {kind.name: kind for kind in (PLANS, WHAT_IFS)}


def shelf_of(kind: Kind) -> Shelf:
    """The shelf of a kind, where this deployment keeps it.

    Errors: BadInput where the environment of the API server is not as it should be.
    """
    places = Places.of(home_of(str(Path(__file__).parent)))
    return Shelf(Lake(places.lake if kind is PLANS else places.what_ifs), kind.name)


def shelves_of(kinds: Sequence[Kind]) -> list[Shelf]:
    """One shelf a kind."""
    return [shelf_of(kind) for kind in kinds]
