"""What the cluster that a what-if starts from is known to have: names to choose, and names that are refused.

The API server and the Dag processor read the latest stored snapshot of the cluster, or the inventory file.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from airflow.sdk.configuration import conf

from rocketmq_capacity.errors import BadInput, CapacityError
from rocketmq_capacity.provider.lakes import lake_of
from rocketmq_capacity.provider.source import INVENTORY_NAME, Source, sources
from rocketmq_capacity.settings.deployment import Places, home_of
from rocketmq_capacity.settings.policy import Policy, PolicyChanges, read_policy
from rocketmq_capacity.simulation.fitting import Fitting, mismatch_by_own_process
from rocketmq_capacity.simulation.parts import topics_read
from rocketmq_capacity.snapshot.inventory import Client, Inventory
from rocketmq_capacity.snapshot.kinds import Kinds
from rocketmq_capacity.snapshot.outline import outline_of
from rocketmq_capacity.store.copies import copy_of
from rocketmq_capacity.store.run_lookup import latest_of_source
from rocketmq_capacity.vocabulary import BUSINESS


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a cluster for each kind of field; empty where nothing is known.

    Attributes:
        brokers: names of brokers.
        topics: names of business topics, those of the first group first.
        groups: names of consumer groups, those with most clients first.
        client_ids: ids of the first group's clients.
        rooms: machine rooms of the brokers and of the first group's clients, if the policy tells them.
        nameservers: addresses of name servers.
    """

    brokers: Sequence[str] = ()
    topics: Sequence[str] = ()
    groups: Sequence[str] = ()
    client_ids: Sequence[str] = ()
    rooms: Sequence[str] = ()
    nameservers: Sequence[str] = ()

    @classmethod
    def of(cls, inventory: Inventory | None, policy: Policy | None = None) -> "Names":
        """The names of an inventory; machine rooms by the policy."""
        if inventory is None:
            return cls()
        kinds = Kinds(inventory, Policy().exclude)
        groups = sorted(
            (one for one in inventory.consumer_groups if kinds.of_group(one.consumer_group) == BUSINESS),
            key=lambda one: (-len(one.clients or ()), one.consumer_group),
        )
        read = topics_read(groups[0]) if groups else set()
        topics = (one.topic for one in inventory.topics if kinds.of_topic(one.topic) == BUSINESS)
        return cls(
            brokers=sorted({one.broker_name for one in inventory.brokers}),
            topics=sorted(topics, key=lambda name: (name not in read, name)),
            groups=[one.consumer_group for one in groups],
            client_ids=sorted({one.client_id for one in groups[0].clients or ()}) if groups else (),
            rooms=_rooms(inventory, groups[0].clients or () if groups else (), policy),
            nameservers=sorted(inventory.nameservers or ()),
        )


def _rooms(inventory: Inventory, clients: Sequence[Client], policy: Policy | None) -> Sequence[str]:
    """The machine rooms of the brokers and of some clients, by name."""
    if policy is None or policy.rooms is None:
        return ()
    rooms = {policy.rooms.of_broker(one.broker_name) for one in inventory.brokers}
    rooms |= {policy.rooms.of_client(one.client_id, one.client_addr) for one in clients}
    return sorted(room for room in rooms if room)


def places_of_deployment() -> Places:
    """The places that the Dags use, for a process that reads no Dag file."""
    return Places.of(home_of(str(Path(conf.get("core", "dags_folder")) / "any.py")))


def names_at_hand(places: Places) -> Names:
    """Names of the cluster that the form starts from where nothing else is chosen.

    A Dag file asks for them whenever it is parsed, so a lake in a store is not asked: it may be slow, or need a
    connection. An inventory file is read wherever the lake is.
    """
    source = sources({}, places)[0]
    if source.inventory is None and "://" in places.lake:
        return Names()
    return Names.of(_outline(source, places), _policy(places, ""))


def names_of(given: Mapping[str, Any], places: Places) -> Names:
    """All names of what a run with these fields starts from; none where no snapshot is stored, or a huge one."""
    source = _source(given, places)
    return Names() if source is None else Names.of(_outline(source, places), _policy(places, ""))


def name_problem(given: Mapping[str, Any], scenario: str, places: Places) -> str:
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


def _policy(places: Places, changes: str) -> Policy | None:
    """The deployment's policy with the changes of one run; None if it cannot be read."""
    try:
        return read_policy(places.policy, PolicyChanges((), changes))
    except BadInput:
        return None


def _source(given: Mapping[str, Any], places: Places) -> Source | None:
    """What the form starts from; None for what Airflow is yet to refuse."""
    cluster, inventory = given.get("cluster"), given.get("inventory")
    if cluster is not None and cluster not in places.clusters:
        return None
    if inventory is not None and not (isinstance(inventory, str) and re.search(INVENTORY_NAME, inventory)):
        return None
    return sources({"cluster": cluster, "inventory": inventory}, places)[0]


def _outline(source: Source, places: Places) -> Inventory | None:
    stored = _stored(source, places)
    return None if stored is None else outline_of(stored)


def _stored(source: Source, places: Places) -> Path | None:
    """The file of the latest snapshot; None if there is none."""
    if source.inventory is not None:
        return source.inventory
    try:
        run = latest_of_source(lake_of(places.lake), source.name)
        return None if run is None else copy_of(run.inventory)
    except (CapacityError, OSError):  # the task that meets it says it
        return None
