"""A live cluster with Proxies in either mode: what is planned is what Proxies assign and what consumers do."""

import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from rocketmq_capacity.recommendation.message_groups import WriteQueue, moved_ratio
from tests.cli.plan_file import Group
from tests.cli.plan_lists import out_of_causes, out_of_order
from tests.cli.planned import Planned, planned
from tests.cli.program import run
from tests.cluster.clients import Clients, Consumer, Owned
from tests.cluster.proxies import GrpcClients, GrpcOwned, Proxies
from tests.cluster.rocketmq import Broker, Cluster
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import ROCKETMQ_NAME
from tests.recommendation.test_grpc import consistent_hash

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(1800)]

TIME_LIMIT_S: Final = 600.0
POLICY: Final = "snapshot: {sample_count: 3, sample_interval_s: 4}\n"
GRPC_GROUPS: Final = ("g_push", "g_simple", "g_fifo")

Held = Counter[tuple[str, str, str, int]]
"""(client id, topic, broker name, queue id), as often as consumers of the group hold it."""


@dataclass(frozen=True)
class Live:
    """A plan of the live cluster, and what its consumers held beside it."""

    planned: Planned
    inventory: Mapping[str, Any]
    remoting: list[Owned]
    grpc: list[GrpcOwned]

    def group(self, name: str) -> Group:
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


def planned_from(cluster: Cluster, folder: Path, clients: Clients, grpc: GrpcClients, *arguments: str) -> Live:
    """A snapshot by one command, planned by the other."""
    clients.settled()
    grpc.settled()
    inventory = taken(cluster, folder, *arguments)
    remoting, behind = clients.owned(), grpc.owned()
    done = run("plan", "--inventory", inventory, "--out", folder / "out", cwd=folder, time_limit_s=TIME_LIMIT_S)
    assert done.returncode == 0, done.stderr
    return Live(planned(folder / "out", inventory), json.loads(inventory.read_bytes()), remoting, behind)


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
    grpc.produce(endpoints[0], "pay", 600)
    grpc.produce(endpoints[0], "fifo", 300, message_groups=60)


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


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    started = started_or_skipped(Cluster([Broker("broker-a"), Broker("broker-b")], cluster_name="C1", pop=True).start)
    yield started
    started.close()


@pytest.fixture(scope="module")
def proxies(cluster: Cluster) -> Iterator[Proxies]:
    with_topics_and_groups(cluster, {"broker-a": 2, "broker-b": 2})
    with Proxies(cluster.nameserver, cluster.cluster_name, 2) as started:
        yield started


@pytest.fixture(scope="module")
def grpc(proxies: Proxies) -> Iterator[GrpcClients]:
    with GrpcClients() as started:
        yield started


@pytest.fixture(scope="module")
def clients(cluster: Cluster, proxies: Proxies, grpc: GrpcClients) -> Iterator[Clients]:
    with Clients(cluster.nameserver) as started:
        start_consumers([one.endpoint for one in proxies.places], started, grpc)
        yield started


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("proxies")


@pytest.fixture(scope="module")
def live(cluster: Cluster, proxies: Proxies, clients: Clients, grpc: GrpcClients, folder: Path) -> Live:
    named = [one.remoting_addr for one in proxies.places]
    (folder / "policy.yaml").write_text(f"{POLICY}proxies: {json.dumps(named)}\n")
    return planned_from(cluster, folder, clients, grpc, "--policy=policy.yaml")


def test_the_plan_is_whole(live: Live) -> None:
    plan = live.planned.plan
    assert (plan.completeness.ratio, plan.completeness.failures) == (1.0, [])
    assert out_of_order(plan) == []
    assert out_of_causes(plan) == []
    assert {group.consumer_group for group in plan.groups} == {*GRPC_GROUPS, "g_both", "g_remoting", "g_nobody"}


def test_the_proxies_say_what_they_are(live: Live, proxies: Proxies) -> None:
    assert live.inventory["proxies"] == [
        {"proxy_addr": address, "mode": "CLUSTER", "version": ROCKETMQ_NAME}
        for address in sorted(one.remoting_addr for one in proxies.places)
    ]


def test_each_proxy_names_the_clients_of_both(live: Live, proxies: Proxies) -> None:
    both = sorted(one.remoting_addr for one in proxies.places)
    assert {tuple(one["seen_on"]) for group in GRPC_GROUPS for one in live.clients(group)} == {tuple(both)}


@pytest.mark.parametrize("group", GRPC_GROUPS)
def test_every_grpc_client_is_planned_with_what_its_proxy_assigned(live: Live, group: str) -> None:
    check_grpc_group(live, group)


def test_fifo_consumers_are_assigned_every_queue_by_its_id(live: Live) -> None:
    assert {queue_id for _, _, _, queue_id in live.held("g_fifo")} == {0, 1}
    assert {queue_id for _, _, _, queue_id in live.held("g_push")} == {-1}


def test_remoting_clients_beside_them_are_planned_as_ever(live: Live) -> None:
    business = Counter({key: count for key, count in live.held("g_remoting").items() if key[1] == "pay"})
    allocated = live.allocated("g_remoting", "AVG")
    assert Counter({key: count for key, count in allocated.items() if key[1] == "pay"}) == business
    assert live.rules("g_remoting") == set()


def test_in_a_group_of_both_kinds_each_client_is_planned_with_what_it_has(live: Live) -> None:
    held = Counter({key: count for key, count in live.held("g_both").items() if key[1] == "pay"})
    allocated = Counter({key: n for key, n in live.allocated("g_both", "AVG").items() if key[1] == "pay"})
    assert allocated == held
    assert live.rules("g_both") == {"MIXED_STRATEGIES"}
    assert {one.action for one in live.planned.plan.recommendations if one.consumer_group == "g_both"} == {
        "INVESTIGATE"
    }


def test_a_group_of_both_kinds_consumes_messages_twice(clients: Clients, grpc: GrpcClients, live: Live) -> None:
    def consumed(consumers: Clients | GrpcClients) -> int:
        return sum(one.consumed for one in consumers.owned() if one.consumer_group == "g_both")

    wait_until(lambda: consumed(clients) >= 600 and consumed(grpc) >= 600, every_s=0.5)
    assert consumed(clients) == 600


def test_a_group_without_a_client_has_none_where_proxies_were_asked(live: Live) -> None:
    assert live.group("g_nobody").provision_status == "UNDECIDED"
    assert live.group("g_nobody").provision_reason == "the group has no clients"


def test_what_is_the_proxys_own_is_no_business(live: Live) -> None:
    listed = {topic["topic"] for topic in live.inventory["topics"]}
    assert "DefaultHeartBeatSyncerTopic" in listed
    assert "CID_DefaultHeartBeatSyncerTopic" in {one["consumer_group"] for one in live.inventory["consumer_groups"]}
    assert "DefaultHeartBeatSyncerTopic" not in {row["topic"] for row in live.planned.rows("allocation")}


def test_one_proxy_named_in_a_connection_file_knows_all_clients_as_well(
    cluster: Cluster, proxies: Proxies, live: Live, tmp_path: Path
) -> None:
    (tmp_path / "connection.yaml").write_text(f"proxies: ['{proxies.places[1].remoting_addr}']\n")
    inventory = json.loads(taken(cluster, tmp_path, "--connection=connection.yaml").read_bytes())
    clients = {one["consumer_group"]: one.get("clients", []) for one in inventory["consumer_groups"]}
    for group in (*GRPC_GROUPS, "g_both"):
        assert {one["client_id"] for one in clients[group]} == {one["client_id"] for one in live.clients(group)}
    assert inventory["failures"] == []


def test_without_a_named_proxy_the_snapshot_says_so_and_nobody_is_taken_for_absent(
    cluster: Cluster, live: Live, tmp_path: Path
) -> None:
    inventory = taken(cluster, tmp_path)
    (failure,) = json.loads(inventory.read_bytes())["failures"]
    assert failure["broker_addr"] == "proxy"
    assert "none is named" in failure["error"]
    done = run("plan", "--inventory", inventory, "--out", tmp_path / "out", cwd=tmp_path, time_limit_s=TIME_LIMIT_S)
    assert done.returncode == 0, done.stderr
    plan = planned(tmp_path / "out", inventory).plan
    assert plan.completeness.ratio == 1.0
    for group in plan.groups:
        if group.consumer_group in (*GRPC_GROUPS, "g_nobody"):
            assert group.provision_status == "UNDECIDED"
            assert (group.provision_reason or "").startswith("its clients are unknown: a Proxy works here")


def test_message_groups_go_to_the_queues_that_the_hash_of_the_plan_says(
    cluster: Cluster, proxies: Proxies, grpc: GrpcClients, live: Live
) -> None:
    before = [(name, queue) for name in ("broker-a", "broker-b") for queue in range(2)]
    after = [(name, queue) for name in ("broker-a", "broker-b") for queue in range(3)]
    endpoint, names = proxies.places[0].endpoint, [f"group-{i}" for i in range(400)]
    grpc.produce(endpoint, "moving", 400, message_groups=400)
    first = written(cluster)
    assert first == Counter(queue_of(name, before) for name in names)

    cluster.create_topic("moving", {"broker-a": 3, "broker-b": 3}, message_type="FIFO")
    # The Proxy reads the route anew when it is asked for it. Then messages reach the new queues.
    wait_until(lambda: produced_to_new_queues(cluster, grpc, endpoint), every_s=2)
    second = written(cluster)
    grpc.produce(endpoint, "moving", 400, message_groups=400)
    assert written(cluster) - second == Counter(queue_of(name, after) for name in names)
    moved = sum(queue_of(name, before) != queue_of(name, after) for name in names) / len(names)
    assert moved == pytest.approx(moved_ratio(before, after), abs=0.08)


def produced_to_new_queues(cluster: Cluster, grpc: GrpcClients, endpoint: str) -> bool:
    """Sends some messages; whether any has reached the third queue of each broker."""
    grpc.produce(endpoint, "moving", 40, message_groups=40)
    return {("broker-a", 2), ("broker-b", 2)} <= written(cluster).keys()


def wait_until(is_so: Callable[[], bool], every_s: float) -> None:
    deadline = time.monotonic() + TIME_LIMIT_S
    while not is_so():
        assert time.monotonic() < deadline, f"not so within {TIME_LIMIT_S} s"
        time.sleep(every_s)


def queue_of(message_group: str, queues: list[WriteQueue]) -> WriteQueue:
    code = 0
    for character in message_group:  # String.hashCode
        code = (31 * code + ord(character)) & 0xFFFFFFFF
    return queues[consistent_hash(code - 2**32 if code >= 2**31 else code, len(queues))]


def written(cluster: Cluster) -> Counter[WriteQueue]:
    """How many messages each queue of the topic ``moving`` holds."""
    return Counter({
        (row["broker_name"], row["queue_id"]): row["max_offset"]
        for row in cluster.facts()["topic_stats"]
        if row["topic"] == "moving" and row["max_offset"]
    })


@dataclass(frozen=True)
class Local:
    """A broker with a Proxy inside, its clients, and a plan of both."""

    cluster: Cluster
    live: Live


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Local]:
    inside = Cluster([Broker("broker-a", hosts_proxy=True)], cluster_name="C1", pop=True)
    with closing(started_or_skipped(inside.start)), GrpcClients() as grpc, Clients(inside.nameserver) as clients:
        with_topics_and_groups(inside, {"broker-a": 4})
        start_consumers([inside.local_proxies["broker-a"].endpoint], clients, grpc)
        folder = tmp_path_factory.mktemp("local")
        (folder / "policy.yaml").write_text(POLICY)
        yield Local(inside, planned_from(inside, folder, clients, grpc, "--policy=policy.yaml"))


def test_a_proxy_in_local_mode_is_recognised_and_the_plan_is_whole(local: Local) -> None:
    plan = local.live.planned.plan
    assert (plan.completeness.ratio, plan.completeness.failures) == (1.0, [])
    assert local.live.inventory["proxies"] == [
        {"proxy_addr": local.cluster.broker_addrs["broker-a", 0], "mode": "LOCAL", "version": ROCKETMQ_NAME}
    ]
    assert {tuple(one["seen_on"]) for one in local.live.clients("g_push")} == {("broker-a",)}


@pytest.mark.parametrize("group", GRPC_GROUPS)
def test_every_grpc_client_of_a_local_proxy_is_planned_with_what_it_assigned(local: Local, group: str) -> None:
    check_grpc_group(local.live, group)


def test_a_broker_spends_no_time_on_asking_its_grpc_clients(local: Local) -> None:
    """Sixteen of them took ten seconds each of a broker's thread, eight at a time."""
    asked = [one for group in GRPC_GROUPS for one in local.live.clients(group)]
    assert len(asked) == 14
    assert all("consume_threads" not in one for one in asked)
    assert local.live.inventory["failures"] == []


def test_remoting_clients_share_with_the_grpc_clients_of_their_group_that_the_broker_lists(local: Local) -> None:
    for group, rules in (("g_both", {"MIXED_STRATEGIES"}), ("g_remoting", set[str]())):
        held = Counter({key: count for key, count in local.live.held(group).items() if key[1] == "pay"})
        allocated = Counter({key: n for key, n in local.live.allocated(group, "AVG").items() if key[1] == "pay"})
        assert allocated == held
        assert local.live.rules(group) == rules
    of_remoting = {key for key in local.live.held("g_both") if key[3] != -1 and key[1] == "pay"}
    assert len(of_remoting) == 2  # of four queues: the others fall to gRPC clients, who do not divide


def test_a_local_proxy_that_is_named_by_its_remoting_port_is_one_in_local_mode(local: Local, tmp_path: Path) -> None:
    address = local.cluster.local_proxies["broker-a"].remoting_addr
    (tmp_path / "policy.yaml").write_text(f"proxies: ['{address}']\n")
    inventory = json.loads(taken(local.cluster, tmp_path, "--policy=policy.yaml").read_bytes())
    assert inventory["proxies"] == [{"proxy_addr": address, "mode": "LOCAL", "version": ROCKETMQ_NAME}]
    assert inventory["failures"] == []
    (seen_on,) = {
        tuple(client["seen_on"])
        for group in inventory["consumer_groups"]
        if group["consumer_group"] == "g_push"
        for client in group["clients"]
    }
    assert seen_on == ("broker-a", address)
