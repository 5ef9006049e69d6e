"""To whom a snapshot speaks, and who gets a signature: whom the connection names, and whom its name servers list."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import pytest

from rocketmq_capacity.client.settings import ConnectionSettings, Credentials
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.networks import parse_network
from rocketmq_capacity.snapshot.collect import CollectOptions, collect
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.client.speaking_peer import SpeakingPeer, Visit
from tests.snapshot.told_cluster import connection, group_table, topic_table

KEYS: Final = Credentials("reader", "not-to-be-sent")


@dataclass(frozen=True)
class Asked:
    """A snapshot, or why there is none, and the requests to each process; a decoy is only mentioned in answers."""

    inventory: Inventory | ClusterUnreachable
    name_server: Sequence[Command]
    broker: Sequence[Command]
    proxy: Sequence[Command]
    decoy_visits: int

    def failing(self) -> set[str]:
        if isinstance(self.inventory, ClusterUnreachable):
            return {str(self.inventory)}
        return {one.error or "" for one in self.inventory.failures or ()}


def asked(*, networks: Sequence[str] = (), broker_at: str = "127.0.0.1", proxy_at: str = "127.0.0.1") -> Asked:
    """A snapshot of a broker and a Proxy that listen on all of 127.0.0.0/8, at the addresses that are named."""

    async def broker_says(decoy: str, visit: Visit, request: Command) -> None:
        host, port = decoy.split(":")
        says: dict[int, Any] = {
            21: topic_table("pay")[1],
            26: f"brokerPermission=6\nnamesrvAddr={decoy}\nbrokerIP1={host}\nlistenPort={port}\n",
            28: {"table": {"brokerVersionDesc": "V5_3_3", "bootTimestamp": "1", "addr": decoy}},
            43: {"offsetTable": {}},
            201: group_table("g")[1],
            202: {"offsetTable": {}},
            203: {
                **connection("c")[1],
                "connectionSet": [{"clientId": f"{host}@1", "clientAddr": decoy, "version": 1}],
            },
            208: {"offsetTable": {}},
            307: {"properties": {"namesrvAddr": decoy}},
            328: {"data": {"p": [{"clientId": "c", "remoteIP": f"/{decoy}", "version": 1}]}},
            402: {"messageRequestModeMap": {}},
        }
        said = says[request.code]
        visit.answer(request, said.encode() if isinstance(said, str) else json.dumps(said).encode())

    async def name_server_says(broker: str, decoy: str, visit: Visit, request: Command) -> None:
        told = {"brokerName": "a", "cluster": "C1", "brokerAddrs": {"0": broker}}
        route = {
            "queueDatas": [{"brokerName": "a", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6}],
            "brokerDatas": [{**told, "brokerAddrs": {"0": decoy}}],
        }
        says: dict[int, Any] = {
            105: route,
            106: {"brokerAddrTable": {"a": told}, "clusterAddrTable": {"C1": ["a"]}},
            206: {"topicList": ["pay"]},
        }
        visit.answer(request, json.dumps(says[request.code]).encode())

    async def proxy_says(decoy: str, visit: Visit, request: Command) -> None:
        route = {"queueDatas": [], "brokerDatas": [{"brokerName": "a", "brokerAddrs": {"0": decoy}}]}
        visit.answer(request, json.dumps(route if request.code == 105 else {}).encode())

    async def run() -> Asked:
        async with contextlib.AsyncExitStack() as running:
            decoy = await running.enter_async_context(SpeakingPeer(partial(proxy_says, "127.0.0.1:1")))
            at = str(decoy.address)
            broker = await running.enter_async_context(SpeakingPeer(partial(broker_says, at), host=broker_at))
            proxy = await running.enter_async_context(SpeakingPeer(partial(proxy_says, at), host=proxy_at))
            names = await running.enter_async_context(SpeakingPeer(partial(name_server_says, str(broker.address), at)))
            settings = ConnectionSettings(
                request_timeout_s=60, credentials=KEYS, networks=tuple(map(parse_network, networks))
            )
            # As a policy names a Proxy, beside the connection's own.
            options = CollectOptions(sample_count=1, settings=settings, proxies=[parse_address(str(proxy.address))])
            taken: Inventory | ClusterUnreachable
            try:
                taken = await asyncio.wait_for(collect([str(names.address)], options=options), 120)
            except ClusterUnreachable as error:
                taken = error
            return Asked(taken, names.requests, broker.requests, proxy.requests, decoy.visits)

    return asyncio.run(run())


def test_addresses_in_answers_are_facts_and_never_asked() -> None:
    found = asked()
    assert found.decoy_visits == 0
    assert found.failing() == set()
    for requests in (found.name_server, found.broker, found.proxy):
        assert requests
        assert {request.ext_fields.get("AccessKey") for request in requests} == {"reader"}
        assert "not-to-be-sent" not in str(requests)


@pytest.mark.parametrize(
    ("broker_at", "proxy_at", "unasked"),
    [("127.0.0.2", "127.0.0.1", ["broker", "proxy"]), ("127.0.0.1", "127.0.0.2", ["proxy"])],
)
def test_networks_bind_brokers_that_name_servers_list_and_proxies_that_a_policy_names(
    broker_at: str, proxy_at: str, unasked: list[str]
) -> None:
    """Without a broker nobody asks a Proxy."""
    found = asked(networks=["127.0.0.1/32"], broker_at=broker_at, proxy_at=proxy_at)
    spoken_to = {"broker": found.broker, "proxy": found.proxy}
    assert [name for name, requests in spoken_to.items() if not requests] == unasked
    assert any(
        "127.0.0.2 is outside the networks of the connection; nothing was sent" in one for one in found.failing()
    )
