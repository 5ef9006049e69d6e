"""Checks which name servers, brokers and Proxies of a cluster answer, without taking a snapshot."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.retry import is_transient
from rocketmq_capacity.client.rights import Rights, rights_at
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import cut, printable
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.body.cluster import ClusterInfo
from rocketmq_capacity.protocol.codes import ResponseCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError, kept
from rocketmq_capacity.protocol.version import version_name
from rocketmq_capacity.settings.address import Address, parse_address, parse_nameservers

ATTEMPTS: Final = 1
"""Each is asked once, because a person waits for the answer, and may ask again."""
NOBODY: Final = "TOOLS_CONSUMER"
"""A group of RocketMQ's own, which has no consumers behind a Proxy."""
WARM_UP_S: Final = 5
"""Seconds to wait for a broker's first figures, which it samples every second (StoreStatsService.java, 5.3.3)."""
LONGEST_SUMMARY: Final = 10_000
"""Characters of all results in one line: those of some hundred brokers."""


@dataclass(frozen=True, slots=True)
class ProcessAnswer:
    """The result of asking one process.

    Attributes:
        name: "name server", "Proxy", or a broker's name and id.
        address: its address.
        version: of a broker or a Proxy that answered.
        problem: why it did not answer; None if it did.
        rights: what our account may do at a broker; None if it was not asked.
    """

    name: str
    address: str
    version: str | None = None
    problem: str | None = None
    rights: Rights | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.address}: {self.problem or self.version or 'answered'}"


@dataclass(frozen=True, slots=True)
class Reach:
    """All results: brokers sorted by name, name servers and Proxies in the order in which they were given."""

    clusters: tuple[str, ...]
    nameservers: tuple[ProcessAnswer, ...]
    brokers: tuple[ProcessAnswer, ...]
    proxies: tuple[ProcessAnswer, ...] = ()

    @property
    def is_enough(self) -> bool:
        """Whether a snapshot would succeed: a name server answered, and one of the brokers that are listed."""
        return any(one.problem is None for one in self.nameservers) and any(one.problem is None for one in self.brokers)

    def summary(self) -> str:
        """All results in one line for people."""
        answered = [one for one in self.nameservers if one.problem is None]
        parts = [f"{len(answered)} of {len(self.nameservers)} name servers answered ({_list(self.nameservers)})"]
        if answered:
            parts.append(f"cluster {', '.join(self.clusters) or 'without a name'}")
            well = sum(one.problem is None for one in self.brokers)
            parts.append(f"{well} of {len(self.brokers)} brokers answered ({_list(self.brokers) or 'none is listed'})")
        if self.proxies:
            well = sum(one.problem is None for one in self.proxies)
            parts.append(f"{well} of {len(self.proxies)} Proxies answered ({_list(self.proxies)})")
        return cut(printable("; ".join(parts)), LONGEST_SUMMARY)


async def reach(nameservers: Sequence[str], settings: ConnectionSettings) -> Reach:
    """Ask name servers, listed brokers and Proxies, each once.

    Errors: `BadInput` for a text that is not an address.
    """
    settings = replace(settings, attempts=ATTEMPTS)
    addresses = parse_nameservers(nameservers)
    asked = await asyncio.gather(*(_ask_nameserver(address, settings) for address in addresses))
    infos = [info for info, _ in asked if info is not None]
    listed = {
        (broker.broker_name, broker_id): address
        for info in infos
        for broker in info.brokers
        for broker_id, address in broker.addresses.items()
    }
    brokers = await asyncio.gather(
        *(_ask_broker(f"{name} {number}", address, settings) for (name, number), address in sorted(listed.items()))
    )
    proxies = await asyncio.gather(*(_ask_proxy(address, settings) for address in settings.proxies))
    clusters = sorted({cluster for info in infos for cluster in info.clusters})
    return Reach(tuple(clusters), tuple(answer for _, answer in asked), tuple(brokers), tuple(proxies))


async def _ask_nameserver(address: Address, settings: ConnectionSettings) -> tuple[ClusterInfo | None, ProcessAnswer]:
    peer = Peer(address, settings)
    try:
        return await peer.call(request.cluster_info()), ProcessAnswer("name server", str(address))
    except (TransportError, ProtocolError) as error:
        return None, ProcessAnswer("name server", str(address), problem=str(error))
    finally:
        await peer.close()


async def _ask_broker(name: str, address: str, settings: ConnectionSettings) -> ProcessAnswer:
    try:
        peer = Peer(parse_address(address), settings)
    except ValueError as error:
        return ProcessAnswer(name, address, problem=str(error))
    try:
        version = (await _runtime(peer)).get("brokerVersionDesc")
        keys = settings.credentials
        rights = None if keys is None else await rights_at(peer, keys.access_key, version)
    except (TransportError, ProtocolError) as error:
        return ProcessAnswer(name, address, problem=str(error))
    finally:
        await peer.close()
    return ProcessAnswer(name, address, version=kept(version or "") or None, rights=rights)


async def _ask_proxy(address: Address, settings: ConnectionSettings) -> ProcessAnswer:
    peer = Peer(address, settings)
    try:
        await peer.call(request.consumer_connection(NOBODY))
    except ResponseError as error:
        if error.code != ResponseCode.CONSUMER_NOT_ONLINE:
            return ProcessAnswer("Proxy", str(address), problem=str(error))
    except (TransportError, ProtocolError) as error:
        return ProcessAnswer("Proxy", str(address), problem=str(error))
    finally:
        await peer.close()
    return ProcessAnswer("Proxy", str(address), version=None if peer.version is None else version_name(peer.version))


async def _runtime(peer: Peer) -> Mapping[str, str]:
    """A broker's figures. A broker that has just started refuses at once, so it is asked again for some seconds."""
    for _ in range(WARM_UP_S):
        try:
            return await peer.call(request.broker_runtime())
        except ResponseError as error:
            if not is_transient(error):
                raise
            await asyncio.sleep(1)
    return await peer.call(request.broker_runtime())


def _list(answers: Sequence[ProcessAnswer]) -> str:
    return ", ".join(map(str, answers))
