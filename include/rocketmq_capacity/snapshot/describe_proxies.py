"""The inventory's Proxies: those that were named and those inside brokers; and a failure if one seems to be missing."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryFailure, InventoryProxy
from rocketmq_capacity.snapshot.kinds import HEARTBEAT_TOPIC, is_system_group
from rocketmq_capacity.snapshot.protocols import protocol_of
from rocketmq_capacity.snapshot.proxy_survey import ProxyFacts
from rocketmq_capacity.snapshot.unseen import Unseen
from rocketmq_capacity.vocabulary import GRPC, LOCAL_MODE, OFFSETS_MOVE
from rocketmq_capacity.wording import listed

NOT_NAMED: Final = "proxy"
"""Written instead of the address of a Proxy that nobody named."""


def describe_proxies(named: Sequence[ProxyFacts], brokers: Iterable[BrokerFacts]) -> tuple[InventoryProxy, ...] | None:
    """One entry for each Proxy, by address; None if there is none.

    A broker that names gRPC clients has a Proxy in local mode inside. Its entry has the broker's address, unless a
    Proxy in local mode on the same host was named.
    """
    proxies = {
        str(facts.address): InventoryProxy(proxy_addr=str(facts.address), mode=facts.mode, version=facts.version)
        for facts in named
    }
    hosts = {facts.address.host for facts in named if facts.mode == LOCAL_MODE}
    for facts in brokers:
        if _holds_proxy(facts) and facts.broker_addr.rpartition(":")[0] not in hosts:
            version = None if facts.runtime is None else facts.runtime.get("brokerVersionDesc")
            proxies[facts.broker_addr] = InventoryProxy(proxy_addr=facts.broker_addr, mode=LOCAL_MODE, version=version)
    return tuple(proxies[address] for address in sorted(proxies)) or None


def with_unnamed_proxy(taken: Inventory) -> Inventory:
    """The snapshot, with a failure added if a Proxy seems to work in the cluster and none was named."""
    unseen = Unseen(taken)
    reading = [
        group.consumer_group
        for group in taken.consumer_groups
        if unseen.clients_of(group) == OFFSETS_MOVE and not is_system_group(group.consumer_group)
    ]
    if unseen.works_unnamed:
        why = f"a Proxy works here ({HEARTBEAT_TOPIC} exists)"
    elif reading:
        why = f"groups without a known client read on ({listed(reading)})"
    else:
        return taken
    error = f"{why}, and none is named: expected proxies: [HOST:REMOTING-PORT] in the policy or the connection"
    failure = InventoryFailure(
        broker_addr=NOT_NAMED, request=RequestCode.GET_CONSUMER_CONNECTION_LIST.name, error=error
    )
    return replace(taken, failures=(*(taken.failures or ()), failure))


def _holds_proxy(facts: BrokerFacts) -> bool:
    return any(protocol_of(one) == GRPC for each in facts.connections.values() for one in each.connections)
