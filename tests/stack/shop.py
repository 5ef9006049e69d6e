"""The cluster that is planned: a real RocketMQ, small, with a mistake in each of three groups."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tests.cluster.clients import Clients, Consumer
from tests.cluster.rocketmq import Broker, Cluster

NAME: Final = "shop"
BROKERS: Final = (Broker("broker-a"), Broker("broker-b"))


@dataclass(frozen=True, slots=True)
class Reading:
    """A group, and the topic that it alone reads: half of its clients are idle, which asks for an approval."""

    group: str
    topic: str
    queues_a_broker: int

    @property
    def queues(self) -> dict[str, int]:
        """Of the topic, by broker."""
        return {broker.broker_name: self.queues_a_broker for broker in BROKERS}

    @property
    def clients(self) -> int:
        """Twice as many as there are queues."""
        return 2 * sum(self.queues.values())


PAY: Final = Reading("g_pay", "pay", 2)
"""The one group that somebody owns."""
READINGS: Final = (PAY, Reading("g_mail", "mail", 1), Reading("g_sms", "sms", 1))


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
        """Mend the mistakes."""
        for number in self.idle:
            self.clients.stop_consumer(number)


@contextmanager
def running_shop() -> Iterator[Shop]:
    """A name server, two brokers, the consumers and what they consume.

    Errors: OracleUnavailable without Java, Maven or Maven Central; ClusterError where it does not come up.
    """
    with Cluster(BROKERS, cluster_name=NAME) as cluster:
        for reading in READINGS:
            cluster.create_topic(reading.topic, reading.queues)
            cluster.create_group(reading.group)
        with Clients(cluster.nameserver) as clients:
            for reading in READINGS:
                for number in range(reading.clients):
                    clients.start_consumer(Consumer(reading.group, f"{reading.topic}{number}", [reading.topic]))
            idle = tuple(owned.number for owned in clients.settled() if not owned.queues)
            clients.start_load(PAY.topic, 20)
            yield Shop(cluster.nameserver, clients, idle)
