"""A snapshot does no harm to a process that consumes for many groups and has just started."""

from typing import Final

import pytest

from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Clients, Cluster

pytestmark = [pytest.mark.real_cluster, pytest.mark.slow]

GROUPS: Final = 8
OVER_ITS_PATIENCE: Final = "close socket because of timeout"


def test_a_client_of_many_groups_answers_and_keeps_its_connections(running: Cluster) -> None:
    running.create_topic("never_written", {"broker-a": 4, "broker-b": 4})
    # Two processors are two threads in which the client answers, and waits for offsets that nobody committed yet.
    with Clients(running.nameserver, processors=2) as clients:
        for number in range(GROUPS):
            clients.start_consumer(Consumer(f"g{number}", "one", ["never_written"]))
        clients.settled()
        inventory = collect_now([running.nameserver], options=CollectOptions(sample_count=1))
        assert OVER_ITS_PATIENCE not in clients.log
    assert inventory.failures == ()
    told = {group.consumer_group: group.clients or () for group in inventory.consumer_groups}
    for number in range(GROUPS):
        (client,) = told[f"g{number}"]
        assert client.client_id == "127.0.0.1@one"
        assert len([queue for queue in client.owned_queues or () if queue.topic == "never_written"]) == 8
