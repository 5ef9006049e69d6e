"""A real broker that ends with much in its commit log and starts again: how long until it serves, beside the estimate.

``.make/env.sh python -m tests.cluster.restarted_broker`` makes the runs and prints a table: some minutes, and 3 GiB
of disk under the temporary folder. Times hang on the machine, so this is a program and no test.
"""

import asyncio
import sys
import time
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocketmq_capacity.assessment.cluster_failures import cluster_failures
from rocketmq_capacity.client.errors import TransportError
from rocketmq_capacity.client.peer import Peer
from rocketmq_capacity.client.settings import ConnectionSettings
from rocketmq_capacity.protocol import request
from rocketmq_capacity.protocol.errors import ProtocolError
from rocketmq_capacity.settings.address import parse_address
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.vocabulary import RESTART
from tests.cluster.clients import Clients
from tests.cluster.rocketmq import Broker, Cluster, ClusterError
from tests.fixtures.units import units_of

NAME: Final = "broker-a"
TOPIC: Final = "pay"
GIB: Final = 1 << 30
MIB: Final = 1 << 20
MSGS_PER_S: Final = 4_000.0
"""More than a loaded machine stores would fill the memory of the clients."""
PATIENCE_S: Final = 600.0
PAUSE_S: Final = 0.05
OWN_SIZES: Final = {
    "mappedFileSizeCommitLog": str(GIB),
    "mappedFileSizeConsumeQueue": "6000000",
    "maxHashSlotNum": "5000000",
    "maxIndexNum": "20000000",
}
"""RocketMQ's own sizes of files; the other tests use small ones."""
OWN_JVM: Final = ("-XX:TieredStopAtLevel=4", "-Xmx1g")
"""Java compiles as in production."""


class Run(NamedTuple):
    """What is done to the broker: how much it stores, in messages of which size, how long it rests, and how it ends."""

    stored_bytes: int
    size_bytes: int
    rest_s: float
    is_killed: bool


RUNS: Final = (
    Run(GIB // 8, 4_000, 0.0, is_killed=True),
    Run(GIB // 2, 4_000, 0.0, is_killed=True),
    Run(GIB // 2, 4_000, 0.0, is_killed=False),
    Run(5 * GIB // 4, 4_000, 0.0, is_killed=True),
    Run(5 * GIB // 4, 4_000, 90.0, is_killed=True),
)


@dataclass(frozen=True, slots=True)
class Result:
    """One run; times in seconds from the start of the broker's process.

    Attributes:
        run: what was done.
        stored_bytes: how much the commit log held.
        why: what a plan says of it.
        estimated_s: what a plan says until it is back, without what clients need.
        registered_s: until the name server listed it.
        served_s: until it answered with every message that it had.
        processor_s: processor time of its process until it served.
    """

    run: Run
    stored_bytes: int
    why: str
    estimated_s: float
    registered_s: float
    served_s: float
    processor_s: float


def measured(run: Run) -> Result:
    """Make a run, on a broker of its own with RocketMQ's own size of files."""
    with Cluster([Broker(NAME, own_process=True, config=OWN_SIZES)], jvm=OWN_JVM) as cluster:
        cluster.create_topic(TOPIC, {NAME: 8})
        _store(cluster, run)
        stored, messages = asyncio.run(_stored(cluster))
        estimated_s, why = _estimate(cluster)
        time.sleep(run.rest_s)
        if run.is_killed:
            cluster.kill(NAME)
        else:
            cluster.shut_down(NAME)
        while cluster.is_registered(NAME):
            time.sleep(PAUSE_S)
        begin = time.monotonic()
        cluster.start_again(NAME)
        registered_s, served_s = _until_back(cluster, begin, messages)
        return Result(run, stored, why, estimated_s, registered_s, served_s, cluster.processor_s(NAME))


def _estimate(cluster: Cluster) -> tuple[float, str]:
    """What a plan says: until the broker is back, without what clients take to find it; and why."""
    options = CollectOptions(sample_count=2, sample_interval_s=1.0)
    inventory, policy = collect_now([cluster.nameserver], options=options), Policy()
    rows = cluster_failures(units_of(inventory, policy).cluster, policy)
    (row,) = (one for one in rows if one.failure == RESTART)
    if row.read_again_s is None:
        raise ClusterError(row.why)
    clients = policy.thresholds.TRANSITION
    return row.read_again_s - clients.poll_nameserver_s - clients.rebalance_s, row.why


def _until_back(cluster: Cluster, begin: float, messages: int) -> tuple[float, float]:
    """Seconds until the name server lists the broker, and until it answers with so many messages."""
    registered = served = None
    while registered is None or served is None:
        now = time.monotonic() - begin
        if now > PATIENCE_S:
            raise ClusterError("the broker does not come back")
        if registered is None and cluster.is_registered(NAME):
            registered = now
        if served is None and _serves(cluster, messages):
            served = now
        time.sleep(PAUSE_S)
    return registered, served


def _store(cluster: Cluster, run: Run) -> None:
    with Clients(cluster.nameserver) as clients:
        clients.start_load(TOPIC, MSGS_PER_S, size_bytes=run.size_bytes)
        deadline = time.monotonic() + PATIENCE_S
        while asyncio.run(_stored(cluster))[0] < run.stored_bytes:
            if time.monotonic() > deadline:
                raise ClusterError("the messages do not get stored")
            time.sleep(0.5)
        clients.stop_loads()
    # What is under way is stored, and in its queues.
    last = None
    while (now := asyncio.run(_stored(cluster))) != last:
        last = now
        time.sleep(2)


async def _stored(cluster: Cluster) -> tuple[int, int]:
    """Bytes in the commit log, and messages in the queues."""
    broker = Peer(parse_address(cluster.broker_addrs[NAME, 0]), ConnectionSettings())
    try:
        runtime, stats = await broker.call(request.broker_runtime()), await broker.call(request.topic_stats(TOPIC))
    finally:
        await broker.close()
    held = int(runtime["commitLogMaxOffset"]) - int(runtime["commitLogMinOffset"])
    return held, sum(one.max_offset for one in stats.values())


def _serves(cluster: Cluster, messages: int) -> bool:
    try:
        return asyncio.run(_stored(cluster))[1] >= messages
    except (TransportError, ProtocolError):
        return False


def _line(one: Result) -> str:
    ends = "killed" if one.run.is_killed else "shut down"
    cells = (
        f"{one.stored_bytes / MIB:,.0f} MiB of {one.run.size_bytes:,} B",
        f"{ends}, after {one.run.rest_s:g} s of rest" if one.run.rest_s else ends,
        *(f"{each:.1f} s" for each in (one.estimated_s, one.registered_s, one.served_s, one.processor_s)),
    )
    return f"| {' | '.join(cells)} |  {one.why}\n"


def main() -> None:
    """Make every run."""
    sys.stdout.write("| stored | ends | estimated | registered | serves | processor |\n|---|---|---|---|---|---|\n")
    for run in RUNS:
        sys.stdout.write(_line(measured(run)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
