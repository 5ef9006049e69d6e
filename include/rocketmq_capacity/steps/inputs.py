"""The inputs of a plan from the command line or the snapshot app: an inventory, and earlier ones."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from rocketmq_capacity.client.options import read_connection
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import BadInput, shown
from rocketmq_capacity.progress.progress import Progress
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, InventoryTopic
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.snapshot.past_brokers import only_loads
from rocketmq_capacity.snapshot.past_members import bare
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_key import due_of
from rocketmq_capacity.store.run_lookup import earlier_runs
from rocketmq_capacity.store.writing import refuse_link, write_whole
from rocketmq_capacity.wording import counted

COLLECT: Final = "collect"
"""The name of the phase that reads a live cluster."""
BEFORE: Final = "before"
"""The latest snapshot of the history."""
CHANGED: Final = "changed"
"""The cluster as a what-if changes it."""


def connection_of(connection: Path | None, nameserver: str | None) -> ConnectionSettings:
    """The settings of the connection file; without a file, those of a plain connection.

    Errors: BadInput for a file with an error, and for a file without name servers.
    """
    if connection is None:
        return ConnectionSettings()
    if nameserver is None:
        raise BadInput("--connection", "", "is for a live cluster; expected --nameserver as well")
    return read_connection(connection)


def inventory_of(
    inventory: Path | None,
    nameserver: str | None,
    policy: Policy,
    settings: ConnectionSettings | None = None,
    progress: Progress | None = None,
) -> Inventory:
    """The inventory of the file, or else a new snapshot of the cluster behind the name servers.

    ``settings`` are those of `connection_of`; without them the connection is plain. ``progress`` shows how far a new
    snapshot is.

    Errors: BadInput for a file or an address with an error, ClusterUnreachable if nothing answers.
    """
    if inventory is not None:
        return read_inventory(inventory)
    if nameserver is None:
        raise BadInput("--inventory, --nameserver", "", "are both missing; expected one of them")
    sampling = policy.snapshot
    options = CollectOptions(
        sample_count=sampling.sample_count,
        sample_interval_s=sampling.sample_interval_s,
        limit_s=sampling.limit_s,
        settings=settings or ConnectionSettings(),
        proxies=tuple(map(parse_address, policy.proxies)),
    )
    progress = progress or Progress()
    with progress.step(COLLECT) as step:
        taken = collect_now([nameserver], options=options, progress=progress)
        step.tells(in_a_few_words(taken))
    return taken


def in_a_few_words(inventory: Inventory) -> str:
    """How much an inventory has."""
    groups, clients = inventory.consumer_groups, sum(len(group.clients or ()) for group in inventory.consumer_groups)
    held = (
        counted(len(groups), "group"),
        counted(clients, "client"),
        counted(len(inventory.topics), "topic"),
        counted(len(inventory.brokers), "broker"),
        counted(len(inventory.failures or ()), "failure"),
    )
    return f"{inventory.cluster_name}, {inventory.taken_at}: {', '.join(held)}"


def moment_of(run_id: str) -> datetime:
    """The moment that the run was due. Errors: BadInput for an id that is not a key of the Dags."""
    due = due_of(run_id)
    if due is None:
        raise BadInput(
            "--run-id", "", f"is {run_id!r}; expected a key that begins with a moment, to date the inventory"
        )
    return due


def read_history(folder: Path | None) -> dict[Path, Inventory]:
    """The folder's inventories (``*.json``) by their file; none without a folder.

    Errors: BadInput if the folder cannot be read, and for a file that is not an inventory.
    """
    if folder is None:
        return {}
    if not folder.is_dir():
        raise BadInput(str(folder), "", "is not a folder; expected a folder of earlier inventory files")
    files = sorted(file for file in folder.glob("*.json") if not file.name.startswith("."))
    pipe = next((file for file in files if file.is_fifo()), None)
    if pipe is not None:  # nobody may ever write to it
        raise BadInput(str(pipe), "", "is a pipe; expected an inventory file")
    return {file: read_inventory(file) for file in files}


def before(history: Mapping[Path, Inventory], inventory: Inventory) -> list[Inventory]:
    """The inventories taken before this one, oldest first.

    One taken at the same moment or later is left out, so the folder may have the planned inventory as well.

    Errors: BadInput for a file of another cluster.
    """
    for file, past in history.items():
        if past.cluster_name != inventory.cluster_name:
            problem = f"is {shown(past.cluster_name)}; expected {inventory.cluster_name!r}, the planned cluster"
            raise BadInput(str(file), "$.cluster_name", problem)
    earlier = (one for one in history.values() if one.taken_at_utc < inventory.taken_at_utc)
    return sorted(earlier, key=lambda one: one.taken_at_utc)


def history_of(folder: Path | None, inventory: Inventory) -> list[Inventory]:
    """The folder's inventories from before this one, oldest first; errors are those of its two parts."""
    return before(read_history(folder), inventory)


def stored_history(lake: Lake, run: Run, inventory: Inventory, policy: Policy, *, is_live: bool) -> list[Inventory]:
    """What rules need of the lake's last runs of a live cluster, oldest first; the rest is dropped.

    The latest one has the queues and offsets of topics too, and their rates of earlier moments.

    The ids of these runs are stored with the run, so a second try uses the same ones.

    A run whose inventory is damaged is set aside, with a warning.
    """
    if not run.history.exists():
        if not is_live:
            return []
        runs = earlier_runs(lake, run, inventory.taken_at_utc, policy.history.runs)
        write_whole(run.history, msgspec.json.encode([one.folder.name for one in runs]))
    stored = (lake.run(inventory.cluster_name, name).inventory for name in _names_in(run.history))
    # Retention may have deleted one in the meantime.
    held: list[Inventory] = []
    clients: dict[Client, Client] = {}
    for file in reversed([file for file in stored if file.exists()]):
        try:
            refuse_link(file)
            held.append(_what_rules_need(read_inventory(file), clients, has_topics=not held))
        except BadInput as error:  # an earlier run that is damaged never stops a later one
            logging.getLogger(__name__).warning("%s is set aside: %s", file.parent, error)
    return held[::-1]


def _names_in(history: Path) -> list[str]:
    """The run ids that a run has stored. Errors: BadInput if the file is damaged."""
    try:
        return msgspec.json.decode(history.read_bytes(), type=list[str])
    except ValueError as error:  # msgspec's errors are ValueErrors
        problem = f"is not a list of runs ({error}); expected what the step snapshot wrote, or no file"
        raise BadInput(str(history), "", problem) from None


def _what_rules_need(inventory: Inventory, clients: dict[Client, Client], *, has_topics: bool) -> Inventory:
    """How far groups were, who their clients were, what brokers stored, and perhaps how topics were written.

    A client that several inventories have is in memory once: ``clients`` has those of the others.
    """
    groups = (
        InventoryGroup(
            consumer_group=group.consumer_group,
            offsets=group.offsets,
            clients=None
            if group.clients is None
            else tuple(clients.setdefault(one, one) for one in map(bare, group.clients)),
        )
        for group in inventory.consumer_groups
    )
    topics = (
        InventoryTopic(topic=one.topic, queues=one.queues, offsets=one.offsets, rates=one.rates)
        for one in inventory.topics
        if has_topics
    )
    brokers = only_loads(inventory.brokers)
    return replace(inventory, brokers=brokers, topics=tuple(topics), consumer_groups=tuple(groups))


@dataclass(frozen=True, slots=True)
class TakenSnapshot:
    """A snapshot to plan.

    Attributes:
        name: its name in the progress; empty for the cluster as it is.
        inventory: the cluster.
        history: earlier inventories of it, oldest first.
    """

    name: str
    inventory: Inventory
    history: Sequence[Inventory] = ()


def snapshots(
    inventory: Inventory, history: Sequence[Inventory] = (), changed: Inventory | None = None
) -> list[TakenSnapshot]:
    """The snapshots to plan, in this order: the latest of the history, the cluster as it is, the changed cluster.

    Rules that need two runs use the first. The changed cluster has the samples that still hold.
    """
    before = [TakenSnapshot(BEFORE, history[-1], history[:-1])] if history else []
    after = [TakenSnapshot(CHANGED, changed)] if changed is not None else []
    return [*before, TakenSnapshot("", inventory, history), *after]
