"""Where a run's snapshot comes from: clusters by their Airflow connection, an inventory file, or the sample."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from airflow.sdk import Param

from rocketmq_capacity.errors import shown
from rocketmq_capacity.provider.form_text import phrase
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from rocketmq_capacity.store.run_key import DagRunLike, run_key

# JSON schema searches for a pattern, and Python's $ also matches before a last line feed. This is the end itself.
_END: Final = r"(?![\s\S])"
INVENTORY_NAME: Final = rf"^[A-Za-z0-9_][A-Za-z0-9_.-]{{0,99}}\.json{_END}"
SHOWN: Final = 5
"""Inventory files that a refusal names."""


@dataclass(frozen=True, slots=True)
class Source:
    """One cluster to plan.

    Attributes:
        name: its name in the run's id and on the task's page.
        connection: id of the Airflow connection of a live cluster; None for an inventory file.
        inventory: path of the file; None for a live cluster.
    """

    name: str
    connection: str | None = None
    inventory: Path | None = None

    def task_arguments(self, dag_run: DagRunLike) -> dict[str, str | None]:
        """The input of this cluster's tasks: JSON values, because they are stored in Airflow's database."""
        return {
            "run_key": run_key(dag_run, self.name),
            "connection": self.connection,
            "inventory": None if self.inventory is None else str(self.inventory),
        }


def _section() -> str:
    return phrase("What is planned")


def clusters_param(places: DeploymentPlaces) -> Param:
    """The form's choice of any of the configured clusters."""
    return Param(
        [],
        type=["null", "array"],  # a choice that was removed again is null
        items={"type": "string", "enum": list(places.clusters)},
        examples=list(places.clusters),
        uniqueItems=True,
        title=phrase("Clusters"),
        description=phrase(
            "Airflow connections of the clusters to plan. None chosen: all that the deployment plans daily, or the "
            "recorded sample where it plans none."
        ),
        section=_section(),
    )


def cluster_param(places: DeploymentPlaces) -> Param:
    """The form's choice of one of the configured clusters."""
    return Param(
        places.clusters[0] if places.clusters else None,
        type=["null", "string"],
        enum=[*places.clusters, None],
        title=phrase("Cluster"),
        description=phrase("Airflow connection of the cluster to start from; the recorded sample where there is none."),
        section=_section(),
    )


def inventory_param() -> Param:
    """The form's field for an inventory file; it cannot name a file outside the one folder."""
    return Param(
        None,
        type=["null", "string"],
        pattern=INVENTORY_NAME,
        title=phrase("Inventory file"),
        description=phrase(
            "Instead of a live cluster: a recorded inventory in the deployment's inventory folder, such as monday.json."
        ),
        section=_section(),
    )


def starts(places: DeploymentPlaces) -> dict[str, dict[str, str]]:
    """What a what-if may start from, by the words that a page has for it: the fields of the run."""
    clusters = {f"cluster {name}": {"cluster": name} for name in places.clusters}
    files = {f"inventory file {name}": {"inventory": name} for name in _inventories(places)}
    return (clusters or {"the recorded sample": {}}) | files


def _inventories(places: DeploymentPlaces) -> list[str]:
    """The names of the files in the deployment's inventory folder."""
    return sorted(file.name for file in places.inventories.glob("*.json") if re.search(INVENTORY_NAME, file.name))


def inventory_problem(given: object, places: DeploymentPlaces) -> str:
    """Why no run may start from this inventory file, in words; empty if one may, or if it is no text.

    Nothing is said of a missing file where the folder cannot be seen: the task that reads the file says it.
    """
    if not isinstance(given, str) or not given:
        return ""
    field = f"Invalid input for param inventory: is {shown(given)}"
    if not re.search(INVENTORY_NAME, given):
        return f"{field}; expected the name of a file in the deployment's inventory folder, such as monday.json"
    folder = places.inventories
    if (folder / given).is_file() or not folder.is_dir():
        return ""
    names = _inventories(places)
    more = f" and {len(names) - SHOWN:,} more" if len(names) > SHOWN else ""
    there = f"{', '.join(names[:SHOWN])}{more}" if names else "no inventory"
    return f"{field}, which is not in the deployment's inventory folder; the folder has {there}"


def sources(params: Mapping[str, Any], places: DeploymentPlaces) -> list[Source]:
    """What a run of the form ``params`` plans, each cluster once."""
    if params.get("inventory"):
        name = str(params["inventory"])
        return [Source(name.removesuffix(".json"), inventory=places.inventories / name)]
    chosen: Sequence[str] = params.get("clusters") or [cluster for cluster in [params.get("cluster")] if cluster]
    clusters = chosen or places.clusters
    if clusters:
        return [Source(cluster, connection=cluster) for cluster in clusters]
    return [Source("sample", inventory=places.sample)]
