"""Record ``include/sample/inventory.json`` from a real cluster: ``python -m tests.cluster.record_sample [FILE]``.

Starts the brokers and the clients of :mod:`tests.cluster.sample_fleet`, keeps messages flowing, waits until the clients
have run long enough to be judged, and takes one snapshot with the product's own command.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from tests.cluster import sample_fleet
from tests.cluster.rocketmq import Clients, Cluster

SAMPLE: Final = Path(__file__).parents[2] / "include" / "sample" / "inventory.json"

RUNNING_FOR_S: Final = 150
"""A client that runs for less than 120 s does not count for SUBSCRIPTION_MISMATCH."""

HISTORY_MESSAGES: Final = 120
"""Sent to a topic before its queues on a broker become read-only, and to the nightly job's topic."""

POLICY: Final = "snapshot: {sample_count: 10, sample_interval_s: 10}\n"
"""As many samples as the lag rules look at, so that one snapshot is enough for a verdict."""

SNAPSHOT_TIME_LIMIT_S: Final = 900
OFFLINE_TIME_LIMIT_S: Final = 60


def main() -> None:
    """Build the cluster, let it run, record it."""
    parser = argparse.ArgumentParser(description="Record the sample inventory from a real cluster.")
    parser.add_argument("out", nargs="?", type=Path, default=SAMPLE, help="file to write (default: the sample)")
    parser.add_argument("--running-for-s", type=float, default=RUNNING_FOR_S, help="age of the youngest client")
    args = parser.parse_args()
    with Cluster(sample_fleet.BROKERS, cluster_name=sample_fleet.CLUSTER_NAME, pop=True) as cluster:
        create_topics(cluster)
        with Clients(cluster.nameserver) as clients:
            run_offline_group(clients)
            close_queues(cluster, clients)
            start_clients(clients)
            start_loads(clients)
            clients.settled()
            time.sleep(args.running_for_s)
            record(cluster.nameserver, args.out)


def create_topics(cluster: Cluster) -> None:
    """Every topic, all of it readable and writable as yet, and what the POP group needs."""
    for topic in sample_fleet.TOPICS:
        cluster.create_topic(topic.topic, topic.queues, order=topic.order, message_type=topic.message_type)
    cluster.create_group(sample_fleet.POP_GROUP)
    cluster.set_request_mode(sample_fleet.POP_TOPIC, sample_fleet.POP_GROUP, "POP", sample_fleet.POP_SHARE_QUEUE_NUM)


def run_offline_group(clients: Clients) -> None:
    """Let the nightly job read what there is, and go home."""
    consumers = sample_fleet.offline_group()
    numbers = [clients.start_consumer(consumer) for consumer in consumers]
    clients.produce("archive_events", HISTORY_MESSAGES)
    deadline = time.monotonic() + OFFLINE_TIME_LIMIT_S
    while sum(owned.consumed for owned in clients.owned()) < HISTORY_MESSAGES:
        if time.monotonic() > deadline:
            raise SystemExit(f"the nightly job did not read {HISTORY_MESSAGES} messages in {OFFLINE_TIME_LIMIT_S} s")
        time.sleep(0.5)
    for number in numbers:
        clients.stop_consumer(number)


def close_queues(cluster: Cluster, clients: Clients) -> None:
    """Make the queues read-only that are to be, after some messages have gone there."""
    for topic in sample_fleet.TOPICS:
        if topic.read_only_on is None:
            continue
        clients.produce(topic.topic, HISTORY_MESSAGES)
        perms = dict.fromkeys(topic.queues, sample_fleet.READ_WRITE) | {topic.read_only_on: sample_fleet.READ}
        cluster.create_topic(topic.topic, topic.queues, perm=perms, message_type=topic.message_type)


def start_clients(clients: Clients) -> None:
    """Every consumer that is there when the snapshot is taken."""
    for group in sample_fleet.groups():
        for consumer in group:
            clients.start_consumer(consumer)


def start_loads(clients: Clients) -> None:
    """Messages to every topic, for as long as the clients live."""
    for topic in sample_fleet.TOPICS:
        clients.start_load(topic.topic, topic.msgs_per_s, weights=topic.weights, size_bytes=topic.size_bytes)


def record(nameserver: str, out: Path) -> None:
    """Take the snapshot as a user would, and put it in the place of the old one once it is whole."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-sample-") as folder:
        taken, policy = Path(folder) / "inventory.json", Path(folder) / "policy.yaml"
        policy.write_text(POLICY)
        command = [
            sys.executable,
            "-m",
            "rocketmq_capacity",
            "snapshot",
            "--nameserver",
            nameserver,
            "--out",
            str(taken),
            "--policy",
            str(policy),
        ]
        subprocess.run(command, check=True, timeout=SNAPSHOT_TIME_LIMIT_S)
        shutil.move(taken, out)


if __name__ == "__main__":
    main()
