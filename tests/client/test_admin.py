"""Every typed call sends its own request."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from rocketmq_capacity.client.admin import BrokerAdmin, NameServerAdmin
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import ResponseError
from tests.client.speaking_peer import SpeakingPeer, Visit

PATIENT = ConnectionSettings(connect_timeout_s=60, request_timeout_s=60, attempts=2, retry_wait_s=0.01)


async def empty(visit: Visit, asked: Command) -> None:
    visit.answer(asked, b"" if asked.code == 26 else b"{}")


async def refuses(visit: Visit, asked: Command) -> None:
    visit.answer(asked, code=17, remark="no route")


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
            names = NameServerAdmin(peer.address, PATIENT)
            assert (await names.cluster_info()).brokers == ()
            assert (await names.topic_list()).topics == ()
            assert (await names.topic_route("pay")).queues == ()
            await names.close()
            route = {"topic": "pay", "acceptStandardJsonOnly": "true"}
            assert [(one.code, dict(one.ext_fields)) for one in peer.requests] == [(106, {}), (206, {}), (105, route)]

    asyncio.run(run())


def test_a_name_server_that_refuses_is_an_error_with_its_code() -> None:
    async def run() -> None:
        async with SpeakingPeer(refuses) as peer:
            names = NameServerAdmin(peer.address, PATIENT)
            with pytest.raises(ResponseError, match="no route") as refused:
                await names.topic_route("pay")
            await names.close()
            assert refused.value.code == 17

    asyncio.run(run())
