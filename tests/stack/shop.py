"""The cluster that is planned: a real RocketMQ, small, with one mistake that is worth a recommendation."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster

NAME: Final = "shop"
BROKERS: Final = (Broker("broker-a"), Broker("broker-b"))
TOPIC: Final = "pay"
QUEUES: Final = {"broker-a": 2, "broker-b": 2}
GROUP: Final = "g_pay"
CLIENTS: Final = 8
"""Twice as many as there are queues: half of them are idle, which asks for an approval."""


@dataclass(frozen=True, slots=True)
class Shop:
    """The running cluster.

    Attributes:
        idle: the numbers of the consumers that have no queue.
    """

    nameserver: str
    clients: Clients
    idle: tuple[int, ...]

    def stop_idle_consumers(self) -> None:
        """Mend the mistake."""
        for number in self.idle:
            self.clients.stop_consumer(number)


@contextmanager
def running_shop() -> Iterator[Shop]:
    """A name server, two brokers, eight consumers and what they consume.

    Errors: OracleUnavailable without Java, Maven or Maven Central; ClusterError where it does not come up.
    """
    with Cluster(BROKERS, cluster_name=NAME) as cluster:
        cluster.create_topic(TOPIC, QUEUES)
        cluster.create_group(GROUP)
        with Clients(cluster.nameserver) as clients:
            for number in range(CLIENTS):
                clients.start_consumer(Consumer(GROUP, f"p{number}", [TOPIC]))
            idle = tuple(owned.number for owned in clients.settled() if not owned.queues)
            clients.start_load(TOPIC, 20)
            yield Shop(cluster.nameserver, clients, idle)
