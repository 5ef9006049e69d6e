"""A real cluster of which a part is gone or silent: every part that answers is in the snapshot."""

import asyncio
import time
from typing import Final

import pytest

from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.errors import ClusterUnreachable
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.errors import ResponseError
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.snapshot.collect import CollectOptions, collect, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.client.conftest import free_address
from tests.cluster.rocketmq import Cluster
from tests.snapshot.real_cluster.conftest import PLACED, ROOM, Taken, settled_topics
from tests.waiting import until

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]
__all__ = ["free_address"]

IMPATIENT: Final = ConnectionSettings(request_timeout_s=5.0, attempts=2)
"""The frozen broker is waited for, and all others answer in time, on a loaded machine too."""


def test_the_second_name_server_is_asked_where_the_first_does_not_listen(
    running: Cluster, taken: Taken, free_address: object
) -> None:
    inventory = collect_now([f"{free_address};{running.nameserver}"])
    assert inventory.nameservers == (str(free_address), running.nameserver)
    assert {failure.broker_addr for failure in inventory.failures or ()} == {str(free_address)}
    alone = collect_now([running.nameserver])
    of_two, of_one = ([topic.topic for topic in settled_topics(one)] for one in (inventory, alone))
    assert of_two == of_one


def test_a_frozen_broker_leaves_failures_and_everything_else(running: Cluster, taken: Taken) -> None:
    frozen = running.broker_addrs[ROOM, 0]
    running.freeze(ROOM)
    try:
        inventory = collect_now([running.nameserver], options=CollectOptions(settings=IMPATIENT))
    finally:
        running.thaw(ROOM)
    failures = inventory.failures or ()
    assert {failure.broker_addr for failure in failures} == {frozen}
    assert {"GET_ALL_TOPIC_CONFIG", "GET_BROKER_RUNTIME_INFO", "GET_CONSUME_STATS", "GET_CONSUMER_CONNECTION_LIST"} <= {
        failure.request for failure in failures
    }
    assert all("timed out after 5 s" in (failure.error or "") for failure in failures)
    assert len(failures) == len({(failure.broker_addr, failure.request) for failure in failures})
    (broker,) = [one for one in inventory.brokers if one.broker_name == ROOM]
    assert (broker.broker_addr, broker.config, broker.runtime) == (frozen, None, None)
    pay = next(topic for topic in inventory.topics if topic.topic == "pay")
    assert {one.broker_name for one in pay.queues or ()} == set(PLACED)
    assert {one.broker_name for one in pay.offsets or ()} == {"broker-a", "broker-b"}
    group = next(group for group in inventory.consumer_groups if group.consumer_group == "g_avg")
    assert {client.seen_on for client in group.clients or ()} == {("broker-a", "broker-b")}
    assert all(client.owned_queues for client in group.clients or ())


def test_a_broker_that_freezes_half_way_still_ends_in_a_snapshot(running: Cluster, taken: Taken) -> None:
    options = CollectOptions(sample_count=2, sample_interval_s=1.0, settings=IMPATIENT)

    async def freeze_after_the_first_sample() -> Inventory:
        taking = asyncio.create_task(collect([running.nameserver], options=options))
        await asyncio.sleep(0.7)
        running.freeze(ROOM)
        return await asyncio.wait_for(taking, 300)

    try:
        inventory = asyncio.run(freeze_after_the_first_sample())
    finally:
        running.thaw(ROOM)
    assert {failure.broker_addr for failure in inventory.failures or ()} == {running.broker_addrs[ROOM, 0]}
    pay = next(topic for topic in inventory.topics if topic.topic == "pay")
    assert {one.broker_name for one in pay.offsets or ()} == {"broker-a", "broker-b"}


async def written_on(broker_addr: str, topic: str) -> dict[int, int]:
    """Queue id → max offset of a topic, as one broker says; empty where it has none of it yet."""
    broker = Peer(parse_address(broker_addr), ConnectionSettings())
    try:
        return {
            queue.queue_id: offset.max_offset
            for queue, offset in (await broker.call(request.topic_stats(topic))).items()
        }
    except ResponseError:
        return {}
    finally:
        await broker.close()


def wait_for_the_slave(running: Cluster, offsets: dict[int, int]) -> None:
    """Until the slave of broker-b has copied its topics, which it does every few seconds, and their messages."""
    deadline = time.monotonic() + 300
    while asyncio.run(written_on(running.broker_addrs["broker-b", 1], "pay")) != offsets:
        assert time.monotonic() < deadline, "the slave did not follow"
        time.sleep(0.5)


def test_the_slave_answers_for_a_broker_that_lost_its_master(running: Cluster, taken: Taken) -> None:
    before = {one.queue_id: one.max_offset for one in taken.topic("pay").offsets or () if one.broker_name == "broker-b"}
    wait_for_the_slave(running, {queue_id: offset or 0 for queue_id, offset in before.items()})
    running.kill("broker-b")
    until(lambda: not running.is_registered("broker-b"), 60)  # the name server sees that the connection is gone
    inventory = collect_now([running.nameserver])
    assert inventory.failures == ()
    brokers = {(one.broker_name, one.broker_id, one.broker_addr) for one in inventory.brokers}
    assert ("broker-b", 1, running.broker_addrs["broker-b", 1]) in brokers
    assert ("broker-b", 0) not in {(name, broker_id) for name, broker_id, _ in brokers}
    pay = next(topic for topic in inventory.topics if topic.topic == "pay")
    after = {one.queue_id: one.max_offset for one in pay.offsets or () if one.broker_name == "broker-b"}
    assert after == before
    assert {one.broker_name for one in pay.queues or ()} == set(PLACED)


def test_without_a_name_server_there_is_no_snapshot_and_the_error_names_each(free_address: object) -> None:
    with pytest.raises(ClusterUnreachable, match=f"{free_address}: cannot connect: Connection refused"):
        collect_now([str(free_address)])
