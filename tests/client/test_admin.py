"""The next name server is asked when one does not answer, and every typed call sends its own request."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from rocketmq_capacity.client.admin import BrokerAdmin, NameServers
from rocketmq_capacity.client.errors import NoNameServerError
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import ResponseError
from rocketmq_capacity.settings.address import Address
from tests.client.speaking_peer import SpeakingPeer, Visit

PATIENT = ConnectionSettings(connect_timeout_s=60, request_timeout_s=60, attempts=2, retry_wait_s=0.01)
QUICK = replace(PATIENT, request_timeout_s=1.5)
"""Where a peer is silent; whoever answers does so in time, on a loaded machine too."""


async def empty(visit: Visit, asked: Command) -> None:
    visit.answer(asked, b"" if asked.code == 26 else b"{}")


async def never(visit: Visit, asked: Command) -> None:
    """As a frozen process."""


async def refuses(visit: Visit, asked: Command) -> None:
    visit.answer(asked, code=17, remark="no route")


async def speaks_http(visit: Visit, asked: Command) -> None:
    visit.send(b"HTTP/1.1 400 Bad Request\r\n\r\n")


CALLS: list[tuple[int, dict[str, str], Callable[[BrokerAdmin], Coroutine[Any, Any, Any]]]] = [
    (21, {}, lambda broker: broker.topic_configs()),
    (201, {}, lambda broker: broker.subscription_groups()),
    (28, {}, lambda broker: broker.runtime()),
    (26, {}, lambda broker: broker.config()),
    (402, {}, lambda broker: broker.message_request_modes()),
    (328, {}, lambda broker: broker.producers()),
    (202, {"topic": "pay"}, lambda broker: broker.topic_stats("pay")),
    (208, {"consumerGroup": "g", "topic": ""}, lambda broker: broker.consume_stats("g")),
    (43, {}, lambda broker: broker.committed_offsets()),
    (203, {"consumerGroup": "g"}, lambda broker: broker.consumer_connection("g")),
    (38, {"consumerGroup": "g"}, lambda broker: broker.consumer_ids("g")),
    (
        307,
        {"consumerGroup": "g", "clientId": "c", "jstackEnable": "false"},
        lambda broker: broker.consumer_running_info("g", "c"),
    ),
]


@pytest.mark.parametrize(("code", "fields", "call"), CALLS)
def test_each_call_asks_a_broker_its_own_request(
    code: int, fields: dict[str, str], call: Callable[[BrokerAdmin], Coroutine[Any, Any, Any]]
) -> None:
    async def run() -> None:
        async with SpeakingPeer(empty) as peer:
            broker = BrokerAdmin(peer.address, PATIENT)
            await call(broker)
            await broker.close()
            assert [(one.code, dict(one.ext_fields)) for one in peer.requests] == [(code, fields)]

    asyncio.run(run())


def test_a_name_server_is_asked_for_brokers_topics_and_routes_in_strict_json() -> None:
    async def run() -> None:
        async with SpeakingPeer(empty) as peer:
            names = NameServers([peer.address], PATIENT)
            assert (await names.cluster_info()).brokers == ()
            assert (await names.topic_list()).topics == ()
            assert (await names.topic_route("pay")).queues == ()
            await names.close()
            route = {"topic": "pay", "acceptStandardJsonOnly": "true"}
            assert [(one.code, dict(one.ext_fields)) for one in peer.requests] == [(106, {}), (206, {}), (105, route)]

    asyncio.run(run())


@pytest.mark.parametrize("broken", [never, speaks_http])
def test_the_next_name_server_is_asked_when_one_fails_and_stays_the_first_choice(broken: Any) -> None:
    async def run() -> None:
        async with SpeakingPeer(broken) as first, SpeakingPeer(empty) as second:
            names = NameServers([first.address, second.address], QUICK)
            assert names.address == first.address
            await names.topic_list()
            assert names.address == second.address
            asked = len(first.requests)
            await asyncio.gather(*(names.topic_route("pay") for _ in range(20)))
            assert len(first.requests) == asked
            await names.close()

    asyncio.run(run())


def test_a_name_server_that_answers_and_refuses_has_the_last_word() -> None:
    async def run() -> None:
        async with SpeakingPeer(refuses) as first, SpeakingPeer(empty) as second:
            names = NameServers([first.address, second.address], PATIENT)
            with pytest.raises(ResponseError, match="no route"):
                await names.topic_route("pay")
            assert second.requests == []
            await names.close()

    asyncio.run(run())


def test_when_all_fail_the_error_names_every_address_and_how_it_failed(free_address: Address) -> None:
    async def run() -> None:
        async with SpeakingPeer(never) as frozen, SpeakingPeer(speaks_http) as other:
            addresses = [free_address, frozen.address, other.address]
            names = NameServers(addresses, QUICK)
            with pytest.raises(NoNameServerError) as failure:
                await names.topic_list()
            await names.close()
        assert [address for address, _ in failure.value.failures] == addresses
        words = str(failure.value)
        assert f"{free_address}: cannot connect: Connection refused" in words
        assert f"{addresses[1]}: timed out after 1.5 s" in words
        assert f"{addresses[2]}: the peer announces a frame of" in words

    asyncio.run(run())
