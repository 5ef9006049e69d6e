"""The real RocketMQ of the tests does what the tests of the product count on."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cluster.admin_benchmark import time_admin_client
from tests.cluster.clients import Consumer, Owned, Subscription
from tests.cluster.rocketmq import THREE_BROKERS, Broker, Clients, Cluster, ClusterError
from tests.oracle.java_oracle import Case, JavaOracle, Queue
from tests.oracle.requirement import started_or_skipped

pytestmark = pytest.mark.real_cluster

PLACED = {"broker-a": 3, "broker-b": 2, "room1@broker-c": 4}
QUEUES = [(broker_name, queue_id) for broker_name, queues in PLACED.items() for queue_id in range(queues)]
LISTEN = "0A"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    alone = Broker("broker-d", own_process=True)
    started = started_or_skipped(Cluster([*THREE_BROKERS, Broker("broker-b", broker_id=1), alone], pop=True).start)
    yield started
    started.close()


@pytest.fixture(scope="module")
def clients(cluster: Cluster) -> Iterator[Clients]:
    with Clients(cluster.nameserver) as started:
        yield started


def of_group(owned: list[Owned], consumer_group: str, topic: str) -> list[tuple[str, Queue]]:
    """(client id, queue) of a topic, as the clients hold it; sorted."""
    return sorted(
        (one.client_id, queue)
        for one in owned
        if one.consumer_group == consumer_group
        for queue in (*one.queues, *one.pop_queues)
        if queue.topic == topic
    )


def offsets(facts: dict[str, Any], topic: str) -> dict[tuple[str, int], int]:
    """(broker name, queue id) -> max offset on the masters."""
    return {
        (row["broker_name"], row["queue_id"]): row["max_offset"]
        for row in facts["topic_stats"]
        if row["topic"] == topic and row["broker_id"] == 0
    }


def count_once(count: Callable[[], int], wanted: int) -> int:
    """The count once it is as wanted, or what it is when the time is up."""
    deadline = time.monotonic() + 180
    while (now := count()) < wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    return now


def test_the_name_server_lists_every_broker_and_the_slave(cluster: Cluster) -> None:
    listed = {
        (row["broker_name"], row["broker_id"]): row["broker_addr"] for row in cluster.facts_of_brokers()["brokers"]
    }

    assert listed == cluster.broker_addrs
    assert set(listed) == {("broker-a", 0), ("broker-b", 0), ("broker-b", 1), ("room1@broker-c", 0), ("broker-d", 0)}


def test_no_port_is_open_to_another_machine(cluster: Cluster) -> None:
    ports = {int(address.rpartition(":")[2]) for address in [cluster.nameserver, *cluster.broker_addrs.values()]}
    replication = {port + 1 for port in ports}
    sockets = [
        line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]
    ]
    listening = {
        (int(local.rpartition(":")[2], 16), local.rpartition(":")[0])
        for _, local, _, state, *_ in sockets
        if state == LISTEN
    }

    ours = {address for port, address in listening if port in ports | replication}

    assert ours <= {"0100007F", "0000000000000000FFFF00000100007F"}
    assert {port for port, _ in listening} >= ports


def test_a_topic_has_its_own_counts_on_each_broker(cluster: Cluster) -> None:
    cluster.create_topic("uneven", {"broker-a": (2, 5), "room1@broker-c": 1}, perm={"broker-a": 6, "room1@broker-c": 4})

    routes = [row for row in cluster.facts_of_brokers()["routes"] if row["topic"] == "uneven"]

    assert sorted((r["broker_name"], r["read_queue_nums"], r["write_queue_nums"], r["perm"]) for r in routes) == [
        ("broker-a", 2, 5, 6),
        ("room1@broker-c", 1, 1, 4),
    ]


def test_an_order_topic_and_its_message_type_are_kept(cluster: Cluster) -> None:
    cluster.create_topic("ordered", {"broker-a": 2}, order=True, message_type="FIFO")

    (config,) = [row for row in cluster.facts_of_brokers()["topic_configs"] if row["topic"] == "ordered"]

    assert (config["order"], config["attributes"]) == (True, {"message.type": "FIFO"})


def test_clients_of_every_strategy_own_what_the_official_classes_give(cluster: Cluster, clients: Clients) -> None:
    cluster.create_topic("placed", PLACED)
    rooms: dict[str, Any] = {
        "broker_rooms": {"broker-a": "hz", "broker-b": "hz", "room1@broker-c": "room1"},
        "client_rooms": {f"127.0.0.1@c{i}": "room1" if i else "hz" for i in range(4)},
    }
    lists = {f"127.0.0.1@c{i}": [("placed", broker_name, i % 2)] for i, broker_name in enumerate([*PLACED, "broker-a"])}
    cases = {
        strategy: Case(strategy, QUEUES, [f"127.0.0.1@c{i}" for i in range(4)], topic="placed", **params)
        for strategy, params in {
            "AVG": {},
            "AVG_BY_CIRCLE": {},
            "CONSISTENT_HASH": {},
            "MACHINE_ROOM": {"machine_rooms": ["room1"]},
            "MACHINE_ROOM_NEARBY-AVG": rooms,
            "CONFIG": {"config": lists},
        }.items()
    }
    numbers = []
    for strategy, case in cases.items():
        for i, client_id in enumerate(case.client_ids):
            params = {"machine_rooms": case.machine_rooms, **(rooms if "NEARBY" in strategy else {})}
            if strategy == "CONFIG":
                params["config"] = lists[client_id]
            consumer = Consumer(f"g_{strategy}", f"c{i}", ["placed"], strategy=strategy, strategy_params=params)
            numbers.append(clients.start_consumer(consumer))
    owned = clients.settled()
    with JavaOracle() as oracle:
        allocations = dict(zip(cases, oracle.allocate(cases.values()), strict=True))
    for number in numbers:
        clients.stop_consumer(number)

    for strategy, allocation in allocations.items():
        assert of_group(owned, f"g_{strategy}", "placed") == sorted(allocation.rows()), strategy


def test_pop_clients_own_what_the_broker_assigns_them(cluster: Cluster, clients: Clients) -> None:
    cluster.create_topic("popped", PLACED)
    cluster.create_group("g_pop")
    cluster.set_request_mode("popped", "g_pop", "POP", pop_share_queue_num=1)
    numbers = [clients.start_consumer(Consumer("g_pop", f"p{i}", ["popped"], pop=True)) for i in range(4)]
    owned = clients.settled()
    clients.produce("popped", 60)
    # A popped message whose answer comes too late for the client is given once more, after it has been invisible.
    consumed = count_once(lambda: sum(one.consumed for one in clients.owned() if one.consumer_group == "g_pop"), 60)
    ids = [f"127.0.0.1@p{i}" for i in range(4)]
    with JavaOracle() as oracle:
        (allocation,) = oracle.allocate([Case("POP", QUEUES, ids, topic="popped", pop_share_queue_num=1)])
    for number in numbers:
        clients.stop_consumer(number)

    assert of_group(owned, "g_pop", "popped") == sorted(allocation.rows())
    assert consumed >= 60


def test_a_client_id_of_two_consumers_is_listed_twice_on_every_broker(cluster: Cluster, clients: Clients) -> None:
    cluster.create_topic("twice", PLACED)
    numbers = [clients.start_consumer(Consumer("g_twice", "same", ["twice"])) for _ in range(2)]
    owned = clients.settled()
    rows = [row for row in cluster.facts_of_brokers()["connections"] if row["consumer_group"] == "g_twice"]
    for number in numbers:
        clients.stop_consumer(number)

    for broker_name in PLACED:
        addresses = {row["client_addr"] for row in rows if (row["broker_name"], row["broker_id"]) == (broker_name, 0)}
        assert len(addresses) == 2, broker_name
    assert {row["client_id"] for row in rows} == {"127.0.0.1@same"}
    first, second = ([queue for queue in one.queues if queue.topic == "twice"] for one in owned)
    assert first == second
    assert 0 < len(first) < len(QUEUES)


def test_broadcasting_gives_every_client_every_queue_and_orderly_clients_share_them(
    cluster: Cluster, clients: Clients
) -> None:
    cluster.create_topic("news", {"broker-a": 2, "broker-b": 2})
    numbers = [
        clients.start_consumer(Consumer("g_all", "b1", ["news"], message_model="BROADCASTING")),
        clients.start_consumer(Consumer("g_all", "b2", ["news"], message_model="BROADCASTING")),
        clients.start_consumer(Consumer("g_in_turn", "o1", ["news"], orderly=True)),
        clients.start_consumer(Consumer("g_in_turn", "o2", ["news"], orderly=True)),
    ]
    owned = clients.settled()
    for number in numbers:
        clients.stop_consumer(number)

    assert len(of_group(owned, "g_all", "news")) == 8
    assert len(of_group(owned, "g_in_turn", "news")) == 4


def test_messages_go_to_the_queues_by_weight_and_are_consumed(cluster: Cluster, clients: Clients) -> None:
    cluster.create_topic("skewed", {"broker-a": 2, "broker-b": 2})
    number = clients.start_consumer(Consumer("g_skewed", "c", [Subscription("skewed", "hot")]))
    clients.produce("skewed", 300, weights={("broker-b", 1): 97}, tag="hot")
    consumed = count_once(lambda: clients.owned()[-1].consumed, 300)
    clients.stop_consumer(number)
    stored = offsets(cluster.facts_of_brokers(), "skewed")

    assert sum(stored.values()) == consumed == 300
    assert stored["broker-b", 1] > 250


def test_a_load_goes_on_until_it_is_stopped(cluster: Cluster, clients: Clients) -> None:
    cluster.create_topic("flowing", {"broker-a": 1})
    clients.start_load("flowing", 200)
    stored = count_once(lambda: sum(offsets(cluster.facts_of_brokers(), "flowing").values()), 100)
    clients.stop_loads()

    assert stored >= 100
    assert is_at_rest(lambda: offsets(cluster.facts_of_brokers(), "flowing"))


def is_at_rest(look: Callable[[], object]) -> bool:
    """Whether what is seen stays as it is for two seconds, in which a load would go on."""
    deadline = time.monotonic() + 180
    while time.monotonic() < deadline:
        before = look()
        time.sleep(2)
        if look() == before:
            return True
    return False


def test_a_frozen_broker_still_accepts_connections_and_goes_on_when_thawed(cluster: Cluster) -> None:
    host, _, port = cluster.broker_addrs["broker-d", 0].partition(":")
    cluster.freeze("broker-d")
    try:
        with socket.create_connection((host, int(port)), timeout=5), pytest.raises(ClusterError):
            cluster.create_topic("frozen", {"broker-d": 1})
    finally:
        cluster.thaw("broker-d")
    cluster.create_topic("thawed", {"broker-d": 1})

    assert ("broker-d", 0) in offsets(cluster.facts_of_brokers(), "thawed")


def test_a_broker_that_shares_a_process_cannot_be_frozen_alone(cluster: Cluster) -> None:
    with pytest.raises(ClusterError, match="no process of its own"):
        cluster.freeze("broker-a")


def test_the_admin_client_is_timed_pass_by_pass(cluster: Cluster) -> None:
    timing = time_admin_client(cluster.nameserver, passes=2, threads=4)

    assert len(timing.seconds) == 2
    assert all(seconds > 0 for seconds in timing.seconds)
    assert timing.calls > 2 * len(cluster.broker_addrs)
