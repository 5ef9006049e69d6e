"""A live broker with a Proxy inside, in local mode: what is planned is what it assigns and what consumers do."""

import json
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cluster.behind_proxies import (
    GRPC_GROUPS,
    POLICY,
    Live,
    check_grpc_group,
    planned_from,
    start_consumers,
    taken,
    with_topics_and_groups,
)
from tests.cluster.clients import Clients
from tests.cluster.proxies import GrpcClients
from tests.cluster.rocketmq import Broker, Cluster
from tests.fixtures.plan_here import PlanHere
from tests.oracle.requirement import started_or_skipped
from tests.oracle.rocketmq_version import ROCKETMQ_NAME

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow, pytest.mark.timeout(1800)]


@dataclass(frozen=True)
class Local:
    """A broker with a Proxy inside, its clients, and a plan of both."""

    cluster: Cluster
    live: Live


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory, plan_here: PlanHere) -> Iterator[Local]:
    inside = Cluster([Broker("broker-a", hosts_proxy=True)], cluster_name="C1", pop=True)
    with closing(started_or_skipped(inside.start)), GrpcClients() as grpc, Clients(inside.nameserver) as clients:
        with_topics_and_groups(inside, {"broker-a": 4})
        start_consumers([inside.local_proxies["broker-a"].endpoint], clients, grpc)
        folder = tmp_path_factory.mktemp("local")
        (folder / "policy.yaml").write_text(POLICY)
        yield Local(inside, planned_from(inside, folder, plan_here, clients, grpc, "--policy=policy.yaml"))


def test_a_proxy_in_local_mode_is_recognised_and_the_plan_is_whole(local: Local) -> None:
    plan = local.live.planned.plan
    assert (plan.completeness.ratio, plan.completeness.failures) == (1.0, ())
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
