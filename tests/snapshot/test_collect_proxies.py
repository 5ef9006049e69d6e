"""Proxies are asked as well as brokers; a client that several of them name is recorded once."""

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.body.cluster import BrokerData, TopicRoute
from rocketmq_capacity.settings.address import Address, parse_address
from rocketmq_capacity.snapshot.collect import CollectOptions
from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryFailure, InventoryGroup, InventoryProxy
from rocketmq_capacity.snapshot.proxy_survey import mode_of
from tests.client.conftest import free_address
from tests.snapshot.told_cluster import (
    Answer,
    Rule,
    ToldBroker,
    ToldProxy,
    connection,
    group_table,
    only,
    snapshot_of,
    topic_table,
)

__all__ = ["free_address"]

QUICK = CollectOptions(settings=ConnectionSettings(attempts=2, retry_wait_s=0.01))
ONE, OTHER = "vm@1@0@a", "vm@1@1@b"
REMOTE = "10.0.0.1@7#1"
RUNNING = (0, {"properties": {"PROP_THREADPOOL_CORE_SIZE": "7"}})


def broker(rules: dict[int, Rule | None] | None = None) -> ToldBroker:
    """A broker with the topic ``pay`` and the group ``g``."""
    usual: dict[int, Rule | None] = {21: topic_table("pay"), 201: group_table("g"), 307: RUNNING}
    return ToldBroker("a", rules=usual | (rules or {}))


def knows(*client_ids: str) -> dict[int, Rule | None]:
    """What a Proxy answers that knows these clients of the group ``g``."""
    return {203: only("consumerGroup", "g", connection(*client_ids))}


def the_group(inventory: Inventory) -> InventoryGroup:
    (group,) = (group for group in inventory.consumer_groups if group.consumer_group == "g")
    return group


def clients(inventory: Inventory) -> tuple[Client, ...]:
    return the_group(inventory).clients or ()


def test_clients_that_every_proxy_knows_are_listed_once_with_all_that_named_them() -> None:
    first, second = ToldProxy(knows(ONE, OTHER)), ToldProxy(knows(OTHER, ONE))
    inventory = snapshot_of([broker()], proxies=[first, second])
    addresses = tuple(sorted((first.address, second.address)))
    assert [(one.client_id, one.protocol, one.seen_on) for one in clients(inventory)] == [
        (ONE, "GRPC", addresses),
        (OTHER, "GRPC", addresses),
    ]
    assert [one.topic for one in the_group(inventory).subscriptions or ()] == ["pay"]
    assert (the_group(inventory).message_model, the_group(inventory).consume_type) == (
        "CLUSTERING",
        "CONSUME_PASSIVELY",
    )
    assert inventory.proxies == tuple(
        InventoryProxy(proxy_addr=address, mode="CLUSTER", version="V5_3_3") for address in addresses
    )
    assert inventory.failures == ()


def test_a_proxy_begins_at_the_end_for_its_clients() -> None:
    inventory = snapshot_of([broker()], proxies=[ToldProxy(knows(ONE))])
    assert the_group(inventory).consume_from_where == "CONSUME_FROM_LAST_OFFSET"


def test_a_grpc_client_that_a_proxy_names_by_two_channels_is_one() -> None:
    inventory = snapshot_of([broker()], proxies=[ToldProxy(knows(ONE, ONE))])
    assert [one.client_id for one in clients(inventory)] == [ONE]


def test_a_remoting_client_that_a_proxy_names_by_two_channels_is_two() -> None:
    """So many of its shares it gets: 38 names it twice as well."""
    inventory = snapshot_of([broker()], proxies=[ToldProxy(knows(REMOTE, REMOTE))])
    assert [(one.client_id, one.protocol) for one in clients(inventory)] == [(REMOTE, None), (REMOTE, None)]


def test_clients_at_brokers_and_behind_proxies_are_one_group() -> None:
    at_broker, behind = broker({203: connection(REMOTE)}), ToldProxy(knows(ONE))
    inventory = snapshot_of([at_broker], proxies=[behind])
    assert [(one.client_id, one.protocol, one.seen_on, one.consume_threads) for one in clients(inventory)] == [
        (REMOTE, None, ("a",), 7),
        (ONE, "GRPC", (behind.address,), None),
    ]


def test_a_grpc_client_is_not_asked_about_itself() -> None:
    hosts = broker({203: connection(ONE, REMOTE)})
    inventory = snapshot_of([hosts])
    assert {request.ext_fields["clientId"] for request in hosts.asked if request.code == 307} == {REMOTE}
    assert [(one.client_id, one.protocol, one.consume_threads) for one in clients(inventory)] == [
        (REMOTE, None, 7),
        (ONE, "GRPC", None),
    ]
    assert inventory.failures == ()


def test_a_broker_that_names_grpc_clients_holds_a_proxy() -> None:
    hosts, plain = broker({203: connection(ONE)}), ToldBroker("b")
    inventory = snapshot_of([hosts, plain])
    assert inventory.proxies == (InventoryProxy(proxy_addr=hosts.address, mode="LOCAL", version="V5_3_3"),)


def test_a_cluster_without_a_proxy_lists_none() -> None:
    inventory = snapshot_of([broker({203: connection(REMOTE)})])
    assert inventory.proxies is None
    assert inventory.failures == ()


def test_a_local_proxy_that_is_named_is_listed_once() -> None:
    hosts = broker({203: connection(ONE)})
    route = {"brokerDatas": [{"brokerName": "a", "brokerAddrs": {"0": "127.0.0.1:8081"}}], "queueDatas": []}
    named = ToldProxy(knows(ONE) | {105: (0, route)})
    inventory = snapshot_of([hosts], proxies=[named])
    assert inventory.proxies == (InventoryProxy(proxy_addr=named.address, mode="LOCAL", version="V5_3_3"),)
    assert [one.seen_on for one in clients(inventory)] == [("a", named.address)]


def test_a_proxy_that_cannot_be_reached_is_a_failure_of_its_own(free_address: Address) -> None:
    there, away = ToldProxy(knows(ONE)), ToldProxy(address=str(free_address))
    inventory = snapshot_of([broker()], proxies=[there, away], options=QUICK)
    assert [one.client_id for one in clients(inventory)] == [ONE]
    (of_route, of_members) = inventory.failures or ()
    assert {one.broker_addr for one in (of_route, of_members)} == {away.address}
    assert of_members.request == "GET_ROUTEINFO_BY_TOPIC"
    assert of_route.request == "GET_CONSUMER_CONNECTION_LIST"
    assert "cannot connect" in (of_route.error or "")
    assert {one.proxy_addr: one.version for one in inventory.proxies or ()} == {
        there.address: "V5_3_3",
        away.address: None,
    }


def test_where_a_proxy_does_not_answer_203_it_is_asked_for_the_ids() -> None:
    busy = ToldProxy({203: (2, "too many requests"), 38: only("consumerGroup", "g", (0, {"consumerIdList": [ONE]}))})
    inventory = snapshot_of([broker()], proxies=[busy], options=QUICK)
    (client,) = clients(inventory)
    assert (client.client_id, client.protocol, client.seen_on, client.version) == (
        ONE,
        "GRPC",
        (busy.address,),
        None,
    )
    (failure,) = inventory.failures or ()
    assert (failure.broker_addr, failure.request) == (busy.address, "GET_CONSUMER_CONNECTION_LIST")


def test_system_groups_are_not_asked_for() -> None:
    asked = ToldProxy()
    snapshot_of([broker({201: group_table("g", "CID_DefaultHeartBeatSyncerTopic")})], proxies=[asked])
    assert {request.ext_fields.get("consumerGroup") for request in asked.asked if request.code == 203} == {"g"}


def test_a_proxy_that_works_and_that_nobody_named_is_a_failure() -> None:
    topics = topic_table("pay", "DefaultHeartBeatSyncerTopic")
    unnamed = snapshot_of([broker({21: topics})])
    assert unnamed.failures == (
        InventoryFailure(
            broker_addr="proxy",
            request="GET_CONSUMER_CONNECTION_LIST",
            error="a Proxy works here (DefaultHeartBeatSyncerTopic exists), and none is named: expected proxies:"
            " [HOST:REMOTING-PORT] in the policy or the connection",
        ),
    )
    assert snapshot_of([broker({21: topics})], proxies=[ToldProxy()]).failures == ()


def offsets(*places: int) -> Rule:
    """208, asked again and again."""
    left = list(places)

    def answer(_: object) -> Answer:
        place = left.pop(0) if len(left) > 1 else left[0]
        key = '{"brokerName":"a","queueId":0,"topic":"pay"}'
        return 0, f'{{"offsetTable":{{{key}:{{"brokerOffset":900,"consumerOffset":{place},"lastTimestamp":1}}}}}}'

    return answer


@pytest.mark.parametrize(("places", "reads_on"), [((10, 20, 30), True), ((10, 10, 11), True), ((10, 10, 10), False)])
def test_a_group_that_reads_on_without_a_known_client_is_a_failure(places: tuple[int, ...], reads_on: bool) -> None:
    quickly = CollectOptions(sample_count=3, sample_interval_s=0.05)
    inventory = snapshot_of([broker({208: offsets(*places)})], options=quickly)
    found = [one for one in inventory.failures or () if one.broker_addr == "proxy"]
    assert bool(found) == reads_on
    if reads_on:
        assert (found[0].error or "").startswith("groups without a known client read on (g), and none is named:")


def route(**addresses: str) -> TopicRoute:
    return TopicRoute((), tuple(BrokerData("C1", name, {0: address}) for name, address in addresses.items()), ())


@pytest.mark.parametrize(
    ("told", "mode"),
    [
        (route(a="10.0.8.1:8080", b="10.0.8.1:8080"), "CLUSTER"),
        (route(a="proxies.example:8080"), "CLUSTER"),
        (route(a="10.0.1.1:8081", b="10.0.1.2:8081"), "LOCAL"),
        (route(a="10.0.8.1:18080"), None),
        (route(c="10.0.1.1:8081"), None),
        (route(), None),
        (route(a="nonsense"), None),
    ],
)
def test_what_a_proxy_is_by_where_it_sends_clients(told: TopicRoute, mode: str | None) -> None:
    brokers = {"a": ["10.0.1.1:10911"], "b": ["10.0.1.2:10911"]}
    assert mode_of(parse_address("10.0.8.1:8080"), told, brokers) == mode
