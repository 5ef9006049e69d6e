"""A live cluster behind Proxies in cluster mode: what is planned is what Proxies assign and what consumers do."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketmq_capacity.producers import WriteQueue, moved_message_groups
from rocketmq_capacity.producers.java_numbers import hash_of
from tests.cli.plan_lists import out_of_causes, out_of_order
from tests.cli.planned import planned
from tests.cluster.behind_proxies import (
    GRPC_GROUPS,
    MESSAGES,
    POLICY,
    TIME_LIMIT_S,
    Live,
    check_grpc_group,
    planned_from,
    start_consumers,
    taken,
    with_topics_and_groups,
)
from tests.cluster.clients import Clients
from tests.cluster.proxies import GrpcClients, Proxies
from tests.cluster.rocketmq import Broker, Cluster
from tests.fixtures.plan_here import PlanHere
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import ROCKETMQ_NAME
from tests.producers.test_ordered import consistent_hash
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(1800)]


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
def live(
    cluster: Cluster, proxies: Proxies, clients: Clients, grpc: GrpcClients, folder: Path, plan_here: PlanHere
) -> Live:
    named = [one.remoting_addr for one in proxies.places]
    (folder / "policy.yaml").write_text(f"{POLICY}proxies: {json.dumps(named)}\n")
    return planned_from(cluster, folder, plan_here, clients, grpc, "--policy=policy.yaml")


def test_the_plan_is_whole(live: Live) -> None:
    plan = live.planned.plan
    assert (plan.completeness.ratio, plan.completeness.failures) == (1.0, ())
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

    until(lambda: consumed(clients) >= MESSAGES and consumed(grpc) >= MESSAGES, TIME_LIMIT_S)
    assert consumed(clients) == MESSAGES


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
    cluster: Cluster, live: Live, tmp_path: Path, plan_here: PlanHere
) -> None:
    inventory = taken(cluster, tmp_path)
    content = json.loads(inventory.read_bytes())
    (failure,) = content["failures"]
    assert failure["broker_addr"] == "proxy"
    assert "none is named" in failure["error"]
    plan = planned(plan_here(content, "{}"), inventory).plan
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
    sent = 0

    def written_after(count: int) -> Counter[WriteQueue]:
        """Sends so many messages; how many each queue holds once all are there."""
        nonlocal sent
        grpc.produce(endpoint, "moving", count, message_groups=count)
        sent += count
        until(lambda: written(cluster).total() >= sent, TIME_LIMIT_S)
        return written(cluster)

    assert written_after(400) == Counter(queue_of(name, before) for name in names)

    cluster.create_topic("moving", {"broker-a": 3, "broker-b": 3}, message_type="FIFO")
    # The Proxy reads the route anew when it is asked for it. Then messages reach the new queues.
    until(lambda: {("broker-a", 2), ("broker-b", 2)} <= written_after(40).keys(), TIME_LIMIT_S, every_s=2)
    second = written(cluster)
    assert written_after(400) - second == Counter(queue_of(name, after) for name in names)
    moved = sum(queue_of(name, before) != queue_of(name, after) for name in names) / len(names)
    assert moved == pytest.approx(moved_message_groups(before, after), abs=0.08)


def queue_of(message_group: str, queues: list[WriteQueue]) -> WriteQueue:
    return queues[consistent_hash(hash_of(message_group), len(queues))]


def written(cluster: Cluster) -> Counter[WriteQueue]:
    """How many messages each queue of the topic ``moving`` holds."""
    return Counter({
        (row["broker_name"], row["queue_id"]): row["max_offset"]
        for row in cluster.facts_of_brokers()["topic_stats"]
        if row["topic"] == "moving" and row["max_offset"]
    })
