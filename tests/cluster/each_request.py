"""Each request that is sent, asked of one real broker as one user: which of them are denied."""

import asyncio
from collections.abc import Sequence
from typing import Any

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.errors import ProtocolError, ResponseError
from rocketmq_capacity.settings.address import parse_address


def requests(topic: str, consumer_group: str, access_key: str) -> Sequence[request.Request[Any]]:
    """All requests, about a topic and a group."""
    return (
        request.topic_configs(),
        request.broker_config(),
        request.broker_runtime(),
        request.consumer_ids(consumer_group),
        request.committed_offsets(),
        request.acl_version(),
        request.topic_route(topic),
        request.cluster_info(),
        request.subscription_groups(),
        request.topic_stats(topic),
        request.consumer_connection(consumer_group),
        request.topic_list(),
        request.consume_stats(consumer_group),
        request.consumer_running_info(consumer_group, "nobody"),
        request.producers(),
        request.message_request_modes(),
        request.acl_of(access_key),
    )


def denied(broker_addr: str, asked: Sequence[request.Request[Any]], settings: ConnectionSettings) -> set[int]:
    """The codes of the requests that the broker denies; another error is no denial."""

    async def run() -> set[int]:
        peer = Peer(parse_address(broker_addr), settings)
        codes = set()
        try:
            for one in asked:
                try:
                    await peer.call(one)
                except ResponseError as error:
                    codes |= {int(one.code)} if error.is_refusal else set()
                except ProtocolError:
                    continue  # an answer that could not be read is an answer
        finally:
            await peer.close()
        return codes

    assert {one.code for one in asked} == set(RequestCode)
    return asyncio.run(run())
