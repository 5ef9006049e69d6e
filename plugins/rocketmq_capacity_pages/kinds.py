"""The two kinds of reports: the lake of each, and the Dag whose readers may read it."""

from collections.abc import Sequence
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Final

from fastapi import HTTPException

from rocketmq_capacity.provider.lakes import lake_of  # noqa: TID251  # Airflow has the connection in a lake's URL
from rocketmq_capacity.report.shelf import Report, Shelf
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of


@dataclass(frozen=True, slots=True)
class Kind:
    """The reports in one lake; who may read the Dag may read them."""

    name: str
    """Its name in addresses."""
    dag_id: str
    singular: str
    plural: str


PLANS: Final = Kind("plans", "rocketmq_capacity_plan", "Plan", "Plans")
WHAT_IFS: Final = Kind("what-ifs", "rocketmq_what_if", "What-if", "What-ifs")
KINDS: Final = {kind.name: kind for kind in (PLANS, WHAT_IFS)}


def shelf_of(kind: Kind) -> Shelf:
    """The shelf of a kind, in this deployment's lake.

    Errors: BadInput for a wrong setting in the environment of the API server.
    """
    places = DeploymentPlaces.of(home_of(str(Path(__file__).parent)))
    return Shelf(lake_of(places.lake if kind is PLANS else places.what_ifs), kind.name)


def report_of(kind: Kind, cluster: str, run_id: str) -> Report:
    """A report of a kind. Errors: those of :func:`shelf_of`; HTTPException 404 if there is none."""
    report = shelf_of(kind).report(cluster, run_id)
    if report is None:
        raise HTTPException(HTTPStatus.NOT_FOUND)
    return report


def shelves_of(kinds: Sequence[Kind]) -> list[Shelf]:
    """One shelf for each kind."""
    return [shelf_of(kind) for kind in kinds]
