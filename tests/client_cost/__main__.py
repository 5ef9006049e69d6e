"""What a real broker bears of clients: ``python -m tests.client_cost --connections 5000``.

It starts a name server and a broker of one topic without messages. Each line has the requests a second that the broker
answered, the processors that it was busy with, and its processor time for a request. The load comes from one thread of
the same machine, so the most that a broker bears is above what is reached here; the processor time for a request says
by how much.
"""

import asyncio
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tests.client_cost.load import (
    BEATS,
    COMMITS,
    LOOKUPS,
    PULLS,
    TOPIC,
    Connection,
    Rate,
    answered,
    beating,
    commit,
    connected,
    group_of,
    heartbeat,
    hold,
    lookup,
    pull,
)
from tests.cluster.rocketmq import Broker, Cluster

BROKER = "broker-a"
QUEUES = 256
LONGEST_S = 20.0
"""How long a pull waits at most."""
WAITING_S = 60.0
"""A pull comes back three times at least, and four times at most."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What a broker was asked, and its processor time meanwhile."""

    what: str
    rate: Rate
    processor_s: float

    @property
    def request_ms(self) -> float:
        """Its processor time for a request."""
        return 1_000 * self.processor_s / max(1, self.rate.answers)

    def line(self) -> str:
        """The line that is printed."""
        busy = self.processor_s / self.rate.lasted_s
        return f"{self.what}: {self.rate.per_s:,.0f}/s, {busy:.2f} processors, {self.request_ms:.3f} ms a request"


async def measure(
    cluster: Cluster, connections: int, busy: int, lasts_s: float, tell: Callable[[Measured], None]
) -> None:
    """Measure each kind of request as fast as it is answered, then connections that wait as real ones do."""
    address = cluster.broker_addrs[BROKER, 0]
    some = await connected(address, busy)
    numbers = range(busy)
    kinds: Sequence[tuple[str, int, list[bytes]]] = (
        ("heartbeats", BEATS, [heartbeat(number) for number in numbers]),
        ("look-ups of members", LOOKUPS, [lookup(number) for number in numbers]),
        ("offset commits", COMMITS, [commit(number, number % QUEUES) for number in numbers]),
        ("pulls of empty queues", PULLS, [pull(number, number % QUEUES, is_held=False) for number in numbers]),
    )
    for what, kind, frames in kinds:
        await answered(some, kind, frames, lasts_s / 2)  # Java compiles what is called often
        before = cluster.processor_s(BROKER)
        rate = await answered(some, kind, frames, lasts_s)
        tell(Measured(f"{what}, {busy} at once", rate, cluster.processor_s(BROKER) - before))
    await _waiting(cluster, address, connections, tell)


async def _waiting(cluster: Cluster, address: str, connections: int, tell: Callable[[Measured], None]) -> None:
    many: list[Connection] = await connected(address, connections)
    await hold(many, QUEUES, LONGEST_S)
    await beating(many, LONGEST_S)
    before = cluster.processor_s(BROKER)
    beaten, pulled = await beating(many, WAITING_S)
    every = Rate(beaten.answers + pulled.answers, beaten.lasted_s)
    tell(
        Measured(
            f"{connections:,} connections, {beaten.per_s:,.1f} heartbeats/s, {pulled.per_s:,.1f} pulls/s that waited",
            every,
            cluster.processor_s(BROKER) - before,
        )
    )


def main() -> int:
    """A line for each measurement."""
    parser = ArgumentParser(prog="python -m tests.client_cost", description=__doc__)
    parser.add_argument("--connections", type=int, default=5_000, metavar="N", help="clients that wait (5000)")
    parser.add_argument("--busy", type=int, default=64, metavar="N", help="clients that ask without a pause (64)")
    parser.add_argument("--seconds", type=float, default=10.0, metavar="S", help="of each measurement (10)")
    asked = parser.parse_args()
    print(f"{os.cpu_count()} processors, shared by the broker and its clients", flush=True)
    compiled = ("-Xmx1g", "-XX:TieredStopAtLevel=4")
    with Cluster([Broker(BROKER, own_process=True)], jvm=compiled) as cluster:
        cluster.create_topic(TOPIC, {BROKER: QUEUES})
        groups = {group_of(client) for client in range(max(asked.connections, asked.busy))}
        cluster.create_many(BROKER, [], sorted(groups))

        def tell(measured: Measured) -> None:
            print(measured.line(), flush=True)

        asyncio.run(measure(cluster, asked.connections, asked.busy, asked.seconds, tell))
    return 0


if __name__ == "__main__":
    sys.exit(main())
