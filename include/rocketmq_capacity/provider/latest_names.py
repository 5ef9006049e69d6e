"""What the cluster that a what-if starts from is known to have: names to choose, and names that are refused.

The API server and the Dag processor read the latest stored snapshot of the cluster, or the inventory file.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from airflow.sdk.configuration import conf

from rocketmq_capacity.errors import CapacityError
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.source import INVENTORY_NAME, Source, sources
from rocketmq_capacity.settings.deployment import DeploymentPlaces, home_of
from rocketmq_capacity.simulation.fitting import Fitting, mismatch_by_own_process
from rocketmq_capacity.simulation.known_names import ClusterNames, all_names_in, names_in
from rocketmq_capacity.store.copies import copy_of
from rocketmq_capacity.store.run_lookup import latest_of_source


def places_of_deployment() -> DeploymentPlaces:
    """The places that the Dags use, for a process that reads no Dag file."""
    return DeploymentPlaces.of(home_of(str(Path(conf.get("core", "dags_folder")) / "any.py")))


def names_at_hand(places: DeploymentPlaces) -> ClusterNames:
    """Names of the cluster that the form starts from where nothing else is chosen.

    A Dag file asks for them whenever it is parsed, so a lake in a store is not asked: it may be slow, or need a
    connection. An inventory file is read wherever the lake is.
    """
    source = sources({}, places)[0]
    if source.inventory is None and "://" in places.lake:
        return ClusterNames()
    stored = _stored(source, places)
    return ClusterNames() if stored is None else names_in(stored, places.policy)


def names_of(given: Mapping[str, Any], places: DeploymentPlaces) -> ClusterNames:
    """All names of what a run with these fields starts from; none where no snapshot is stored."""
    source = _source(given, places)
    stored = None if source is None else _stored(source, places)
    return ClusterNames() if stored is None else all_names_in(stored, places.policy)


def name_problem(given: Mapping[str, Any], scenario: str, places: DeploymentPlaces) -> str:
    """What the scenario names that the cluster does not have, with the nearest name of that kind; empty where all is.

    Nothing is said of a cluster that no snapshot of is stored, nor where the policy cannot be read: the task that
    meets the cluster says it.
    """
    source = _source(given, places)
    inventory = None if source is None else _stored(source, places)
    if inventory is None:
        return ""
    return mismatch_by_own_process(
        Fitting(
            inventory=str(inventory),
            scenario=scenario,
            policy=None if places.policy is None else str(places.policy),
            policy_changes=str(given.get("policy_changes") or ""),
            source="the form's scenario",
        )
    )


def _source(given: Mapping[str, Any], places: DeploymentPlaces) -> Source | None:
    """What the form starts from; None for what Airflow is yet to refuse."""
    cluster, inventory = given.get("cluster"), given.get("inventory")
    if cluster is not None and cluster not in places.clusters:
        return None
    if inventory is not None and not (isinstance(inventory, str) and re.search(INVENTORY_NAME, inventory)):
        return None
    return sources({"cluster": cluster, "inventory": inventory}, places)[0]


def _stored(source: Source, places: DeploymentPlaces) -> Path | None:
    """The file of the latest snapshot; None if there is none."""
    if source.inventory is not None:
        return source.inventory
    try:
        run = latest_of_source(lake_of(places.lake), source.name)
        return None if run is None else copy_of(run.inventory)
    except (CapacityError, OSError):  # the task that meets it says it
        return None
