"""Every server of a cluster is asked once, and each answer and each silence is listed."""

import asyncio
import json
from dataclasses import replace

import pytest

from rocketmq_capacity.client.reach import Reach, reach
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.settings.address import Address
from tests.client.speaking_peer import SpeakingPeer, Visit

PATIENT = ConnectionSettings(connect_timeout_s=60, request_timeout_s=60)
QUICK = ConnectionSettings(connect_timeout_s=2, request_timeout_s=1.5)
"""Where a peer is silent or deaf; whoever answers does so in time, on a loaded machine too."""
STARTING = "java.util.NoSuchElementException, java.base/java.util.LinkedList.getLast"


def reached(*, refuses: str | None = None, starting: int = 0, also: dict[str, str] | None = None) -> tuple[Reach, str]:
    """What is listed of a name server and its broker-a, which refuses or is ``starting`` for so many answers."""
    left = [starting]

    async def broker(visit: Visit, asked: Command) -> None:
        if refuses:
            visit.answer(asked, code=16, remark=refuses)
        elif left[0]:
            left[0] -= 1
            visit.answer(asked, code=1, remark=STARTING)
        else:
            visit.answer(asked, json.dumps({"table": {"brokerVersionDesc": "V5_3_3"}}).encode())

    async def run() -> tuple[Reach, str]:
        async with SpeakingPeer(broker) as one:
            addresses = {"0": str(one.address), **(also or {})}
            table = {"broker-a": {"brokerName": "broker-a", "cluster": "C1", "brokerAddrs": addresses}}
            info = {"brokerAddrTable": table, "clusterAddrTable": {"C1": ["broker-a"]}}

            async def names(visit: Visit, asked: Command) -> None:
                visit.answer(asked, json.dumps(info).encode())

            async with SpeakingPeer(names) as name_server:
                found = await reach([str(name_server.address)], PATIENT)
                return found, found.summary().replace(str(name_server.address), "N").replace(str(one.address), "A")

    return asyncio.run(run())


def test_a_broker_is_listed_with_its_version() -> None:
    found, told = reached()
    assert found.is_enough
    name_server, cluster, broker = told.split("; ")
    assert name_server == "1 of 1 name servers answered (name server N: answered)"
    assert cluster == "cluster C1"
    assert broker == "1 of 1 brokers answered (broker-a 0 A: V5_3_3)"


@pytest.mark.slow
def test_a_broker_that_has_just_started_is_given_its_first_seconds() -> None:
    found, told = reached(starting=2)
    assert found.is_enough
    assert told.endswith("(broker-a 0 A: V5_3_3)")


def test_a_refusal_is_shown_in_the_brokers_words_and_is_not_enough() -> None:
    found, told = reached(refuses="check signature failed.")
    assert not found.is_enough
    assert told.endswith(
        "0 of 1 brokers answered (broker-a 0 A: answered code 16 (NO_PERMISSION): check signature failed.)"
    )


def test_a_slave_that_is_away_is_named_and_the_master_is_enough(free_address: Address) -> None:
    found, told = reached(also={"1": str(free_address), "2": "nowhere"})
    assert found.is_enough
    assert "1 of 3 brokers answered" in told
    assert f"broker-a 1 {free_address}: cannot connect: Connection refused" in told
    assert "broker-a 2 nowhere: 'nowhere' is not an address" in told


@pytest.mark.slow
def test_a_name_server_that_is_away_or_silent_or_speaks_otherwise_is_named(
    free_address: Address, deaf_address: Address
) -> None:
    async def nothing(visit: Visit, asked: Command) -> None:
        pass

    async def nonsense(visit: Visit, asked: Command) -> None:
        visit.answer(asked, b"<html>")

    async def run() -> Reach:
        async with SpeakingPeer(nothing) as silent, SpeakingPeer(nonsense) as other:
            return await reach([";".join(map(str, (free_address, deaf_address, silent.address, other.address)))], QUICK)

    found = asyncio.run(run())
    assert (found.is_enough, found.brokers) == (False, ())
    away, deaf, silent, other = (one.problem or "" for one in found.nameservers)
    assert away == "cannot connect: Connection refused"
    assert deaf == "cannot connect: timed out after 2 s"
    assert silent.startswith("timed out after 1.5 s")
    assert other.startswith("the body of 6 bytes cannot be read")
    assert found.summary().startswith("0 of 4 name servers answered (")


def test_proxies_are_asked_as_well_and_are_not_needed(free_address: Address) -> None:
    async def proxy(visit: Visit, asked: Command) -> None:
        visit.answer(asked, code=206, remark="not online")

    async def run() -> Reach:
        async with SpeakingPeer(proxy) as there, SpeakingPeer(proxy) as names:
            settings = replace(PATIENT, proxies=(there.address, free_address))
            return await reach([str(names.address)], settings)

    found = asyncio.run(run())
    well, ill = found.proxies
    assert (well.name, well.version, well.problem) == ("Proxy", "V5_3_3", None)
    assert "Connection refused" in (ill.problem or "")
    assert "1 of 2 Proxies answered (Proxy " in found.summary()


def test_an_address_that_is_none_is_bad_input() -> None:
    with pytest.raises(BadInput, match="'nowhere' is not an address"):
        asyncio.run(reach(["nowhere"], PATIENT))
