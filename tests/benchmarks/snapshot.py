"""The snapshot of a live cluster, compared with the official admin client that fetches the same facts."""

import statistics
import time
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from tests.cluster.admin_benchmark import AdminTiming, time_admin_client
from tests.cluster.clients import Consumer
from tests.cluster.rocketmq import Clients, Cluster

QUEUES_PER_BROKER: Final = 8
GROUPS: Final = 40
CLIENTS_PER_GROUP: Final = 2
PASSES: Final = 5
MANY_THREADS: Final = 16


@dataclass(frozen=True, slots=True)
class SnapshotTiming:
    """Ours and theirs over the same cluster."""

    topics: int
    seconds: tuple[float, ...]
    one_thread: AdminTiming
    many_threads: AdminTiming

    @property
    def ours(self) -> float:
        """The median pass."""
        return statistics.median(self.seconds)


def warm(timing: AdminTiming) -> float:
    """The median of the passes after the first."""
    return statistics.median(timing.seconds[1:])


def time_snapshots(topics: int) -> SnapshotTiming:
    """Start three brokers with so many topics and some groups of running clients; take the facts in both ways."""
    with Cluster() as cluster:
        names = [f"topic-{number:04}" for number in range(topics)]
        brokers = sorted({name for name, _ in cluster.broker_addrs})
        for name in names:
            cluster.create_topic(name, dict.fromkeys(brokers, QUEUES_PER_BROKER))
        with Clients(cluster.nameserver) as clients:
            for group in range(GROUPS):
                for client in range(CLIENTS_PER_GROUP):
                    # Each with an id of its own: DefaultMQAdminExt asks 16 at once, and a client that is asked twice at
                    # once can stop (see snapshot/collect.py).
                    client_id = f"client-{group:03}-{client}"
                    clients.start_consumer(Consumer(f"group-{group:03}", client_id, [names[group % topics]]))
            clients.settled()
            # Not measured: the brokers' JVM, which takes seconds to warm up, is to be as quick for each of them.
            time_admin_client(cluster.nameserver, passes=PASSES, threads=MANY_THREADS)
            one_thread = time_admin_client(cluster.nameserver, passes=PASSES, threads=1)
            seconds = []
            for _ in range(PASSES):
                start = time.perf_counter()
                inventory = collect_now([cluster.nameserver], options=CollectOptions(sample_count=1))
                seconds.append(time.perf_counter() - start)
            if inventory.failures:
                raise SystemExit(f"the snapshot is not whole: {inventory.failures}")
            return SnapshotTiming(
                len(inventory.topics),
                tuple(seconds),
                one_thread,
                time_admin_client(cluster.nameserver, passes=PASSES, threads=MANY_THREADS),
            )
