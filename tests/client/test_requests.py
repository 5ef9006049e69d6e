"""Every request is sent as what it asks."""

import asyncio
from typing import Any

import pytest

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.command import Command
from rocketmq_capacity.protocol.errors import ResponseError
from rocketmq_capacity.protocol.request import Request
from tests.client.speaking_peer import SpeakingPeer, Visit

PATIENT = ConnectionSettings(connect_timeout_s=60, request_timeout_s=60, attempts=2, retry_wait_s=0.01)


async def empty(visit: Visit, asked: Command) -> None:
    visit.answer(asked, b"" if asked.code == 26 else b"{}")


async def refuses(visit: Visit, asked: Command) -> None:
    visit.answer(asked, code=17, remark="no route")


REQUESTS: list[tuple[int, dict[str, str], Request[Any]]] = [
    (21, {}, request.topic_configs()),
    (201, {}, request.subscription_groups()),
    (28, {}, request.broker_runtime()),
    (26, {}, request.broker_config()),
    (402, {}, request.message_request_modes()),
    (328, {}, request.producers()),
    (202, {"topic": "pay"}, request.topic_stats("pay")),
    (208, {"consumerGroup": "g", "topic": ""}, request.consume_stats("g")),
    (43, {}, request.committed_offsets()),
    (203, {"consumerGroup": "g"}, request.consumer_connection("g")),
    (38, {"consumerGroup": "g"}, request.consumer_ids("g")),
    (
        307,
        {"consumerGroup": "g", "clientId": "c", "jstackEnable": "false"},
        request.consumer_running_info("g", "c"),
    ),
]


@pytest.mark.parametrize(("code", "fields", "question"), REQUESTS)
def test_each_request_asks_a_broker_its_own_question(code: int, fields: dict[str, str], question: Request[Any]) -> None:
    async def run() -> None:
        async with SpeakingPeer(empty) as peer:
            broker = Peer(peer.address, PATIENT)
            await broker.call(question)
            await broker.close()
            assert [(one.code, dict(one.ext_fields)) for one in peer.requests] == [(code, fields)]

    asyncio.run(run())


def test_a_name_server_is_asked_for_brokers_topics_and_routes_in_strict_json() -> None:
    async def run() -> None:
        async with SpeakingPeer(empty) as peer:
            names = Peer(peer.address, PATIENT)
            assert (await names.call(request.cluster_info())).brokers == ()
            assert (await names.call(request.topic_list())).topics == ()
            assert (await names.call(request.topic_route("pay"))).queues == ()
            await names.close()
            route = {"topic": "pay", "acceptStandardJsonOnly": "true"}
            assert [(one.code, dict(one.ext_fields)) for one in peer.requests] == [(106, {}), (206, {}), (105, route)]

    asyncio.run(run())


def test_a_name_server_that_refuses_is_an_error_with_its_code() -> None:
    async def run() -> None:
        async with SpeakingPeer(refuses) as peer:
            names = Peer(peer.address, PATIENT)
            with pytest.raises(ResponseError, match="no route") as refused:
                await names.call(request.topic_route("pay"))
            await names.close()
            assert refused.value.code == 17

    asyncio.run(run())
