"""A cluster behind Proxies with consumers of both kinds, and a plan of it beside what its consumers hold."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from rocketmq_capacity.plan_file.group import GroupPlan
from tests.cli.planned import Planned, planned
from tests.cli.program import run
from tests.cluster.clients import Clients, Consumer, Owned
from tests.cluster.proxies import GrpcClients, GrpcOwned
from tests.cluster.rocketmq import Cluster
from tests.fixtures.plan_here import PlanHere

TIME_LIMIT_S: Final = 600.0
POLICY: Final = "snapshot: {sample_count: 3, sample_interval_s: 4}\n"
GRPC_GROUPS: Final = ("g_push", "g_simple", "g_fifo")
MESSAGES: Final = 120
"""To each topic. One takes 20 ms of the processor until all groups have consumed it."""

Held = Counter[tuple[str, str, str, int]]
"""(client id, topic, broker name, queue id), as often as consumers of the group hold it."""


@dataclass(frozen=True)
class Live:
    """A plan of the live cluster, and what its consumers held beside it."""

    planned: Planned
    inventory: Mapping[str, Any]
    remoting: list[Owned]
    grpc: list[GrpcOwned]

    def group(self, name: str) -> GroupPlan:
        return next(group for group in self.planned.plan.groups if group.consumer_group == name)

    def clients(self, name: str) -> list[dict[str, Any]]:
        """The group's clients in the inventory."""
        group = next(one for one in self.inventory["consumer_groups"] if one["consumer_group"] == name)
        clients: list[dict[str, Any]] = group.get("clients", [])
        return clients

    def allocated(self, group: str, strategy: str) -> Held:
        return Counter(
            (row["client_id"], row["topic"], row["broker_name"], row["queue_id"])
            for row in self.planned.rows("allocation")
            if (row["consumer_group"], row["strategy"]) == (group, strategy)
        )

    def held(self, group: str) -> Held:
        """What the consumers hold: a SimpleConsumer asks brokers, whatever queue of theirs is in its route."""
        remoting: Held = Counter(
            (one.client_id, *queue) for one in self.remoting if one.consumer_group == group for queue in one.queues
        )
        assigned: set[tuple[str, str, str, int]] = {
            (one.client_id, queue.topic, queue.broker_name, -1 if one.kind == "SIMPLE" else queue.queue_id)
            for one in self.grpc
            if one.consumer_group == group
            for queue in one.queues
        }
        return remoting + Counter(assigned)

    def rules(self, group: str) -> set[str]:
        return {one.rule for one in self.planned.plan.findings if one.consumer_group == group}


def taken(cluster: Cluster, folder: Path, *arguments: str) -> Path:
    """A snapshot's inventory file."""
    inventory = folder / "inventory.json"
    options = ("--nameserver", cluster.nameserver, "--out", inventory, "--overwrite", *arguments)
    done = run("snapshot", *options, cwd=folder, time_limit_s=TIME_LIMIT_S)
    assert done.returncode == 0, done.stderr
    return inventory


def planned_from(
    cluster: Cluster, folder: Path, plan_here: PlanHere, clients: Clients, grpc: GrpcClients, *arguments: str
) -> Live:
    """A plan of a snapshot that the command line took, and what the consumers held at that time."""
    clients.settled()
    grpc.settled()
    inventory = taken(cluster, folder, *arguments)
    remoting, behind = clients.owned(), grpc.owned()
    content = json.loads(inventory.read_bytes())
    return Live(planned(plan_here(content, "{}"), inventory), content, remoting, behind)


def with_topics_and_groups(cluster: Cluster, queues: Mapping[str, int]) -> None:
    cluster.create_topic("pay", queues)
    cluster.create_topic("fifo", queues, message_type="FIFO")
    cluster.create_topic("moving", queues, message_type="FIFO")
    for group in ("g_push", "g_simple", "g_both", "g_remoting", "g_nobody"):
        cluster.create_group(group)
    cluster.create_group("g_fifo", orderly=True)


def start_consumers(endpoints: list[str], clients: Clients, grpc: GrpcClients) -> None:
    """Six push, two simple and six FIFO consumers over gRPC, two remoting ones, and a group of both kinds."""
    for i in range(6):
        grpc.start_push(endpoints[i % len(endpoints)], "g_push", {"pay": "*"})
        grpc.start_push(endpoints[i % len(endpoints)], "g_fifo", {"fifo": "*"})
    for i in range(2):
        grpc.start_simple(endpoints[i % len(endpoints)], "g_simple", {"pay": "*"})
        grpc.start_push(endpoints[i % len(endpoints)], "g_both", {"pay": "*"})
        clients.start_consumer(Consumer("g_both", f"b{i}", ["pay"]))
        # Not three: they have next to nothing to do, and one of three is not needed (CONSUMER_CAPACITY).
        clients.start_consumer(Consumer("g_remoting", f"r{i}", ["pay"]))
    grpc.settled()
    clients.settled()
    grpc.produce(endpoints[0], "pay", MESSAGES)
    grpc.produce(endpoints[0], "fifo", MESSAGES, message_groups=MESSAGES // 2)


def check_grpc_group(live: Live, group: str) -> None:
    """Predicted is what is assigned, nobody is idle, nothing is wrong, nothing is recommended."""
    assert live.held(group)
    assert live.allocated(group, "POP") == live.held(group)
    assert {one.strategy for one in live.group(group).strategies if one.applicable} == {"POP"}
    assert (live.group(group).protocol, live.group(group).max_useful_clients) == ("GRPC", None)
    assert all(not one.idle_clients for one in live.group(group).strategies)
    assert live.rules(group) == set()
    assert not [one for one in live.planned.plan.recommendations if one.consumer_group == group]
    assert {one["protocol"] for one in live.clients(group)} == {"GRPC"}
