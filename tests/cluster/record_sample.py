"""Record ``include/sample/inventory.json`` from a real cluster: ``python -m tests.cluster.record_sample [FILE]``.

Starts the brokers, the Proxy and the clients of :mod:`tests.cluster.sample_fleet`, keeps messages flowing, waits until
the clients have run long enough to be judged, and takes one snapshot with the product's own command.
"""

import argparse
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rocketmq_capacity.snapshot.inventory_file import read_inventory
from tests.cluster import sample_fleet
from tests.cluster.proxies import GrpcClients, Proxies
from tests.cluster.rocketmq import Clients, Cluster

SAMPLE: Final = Path(__file__).parents[2] / "include" / "sample" / "inventory.json"

RUNNING_FOR_S: Final = 150
"""A client that runs for less than 120 s does not count for SUBSCRIPTION_MISMATCH."""

HISTORY_MESSAGES: Final = 120
"""Sent to a topic before its queues on a broker become read-only, and to the nightly job's topic."""

HALF_A_HEARTBEAT_S: Final = sample_fleet.AS_DEPLOYED["heartbeat_ms"] / 2000

POLICY: Final = "snapshot: {sample_count: 10, sample_interval_s: 10}\n"
"""As many samples as the lag rules look at, so that one snapshot is enough for a verdict."""

PATIENT_S: Final = 60
"""Seconds for an answer: all of it runs on one machine, which may be busy."""

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
        proxies = Proxies(cluster.nameserver, cluster.cluster_name)
        with proxies, GrpcClients() as grpc, Clients(cluster.nameserver) as clients:
            run_offline_group(clients)
            close_queues(cluster, clients)
            start_grpc_clients(grpc, proxies.places[0].endpoint)
            start_clients(clients)
            start_loads(clients)
            clients.settled()
            grpc.settled()
            time.sleep(args.running_for_s)
            record(cluster.nameserver, proxies.places[0].remoting_addr, args.out)


def create_topics(cluster: Cluster) -> None:
    """Every topic, all of it readable and writable as yet, and what the POP groups need."""
    for topic in sample_fleet.TOPICS:
        cluster.create_topic(topic.topic, topic.queues, order=topic.order, message_type=topic.message_type)
    cluster.create_group(sample_fleet.GRPC_GROUP)
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


def start_grpc_clients(grpc: GrpcClients, endpoint: str) -> None:
    """The PushConsumers of the group behind the Proxy, which listens at the endpoint."""
    for _ in range(sample_fleet.GRPC_CLIENTS):
        grpc.start_push(endpoint, sample_fleet.GRPC_GROUP, {sample_fleet.GRPC_TOPIC: "*"}, delay_ms=5)


def start_clients(clients: Clients) -> None:
    """Every other consumer that is there when the snapshot is taken."""
    for group in sample_fleet.groups():
        for consumer in group:
            if consumer.instance_name == sample_fleet.LATE_CLIENT:
                time.sleep(HALF_A_HEARTBEAT_S)
            clients.start_consumer(consumer)


def start_loads(clients: Clients) -> None:
    """Messages to every topic, for as long as the clients live."""
    for topic in sample_fleet.TOPICS:
        clients.start_load(topic.topic, topic.msgs_per_s, weights=topic.weights, size_bytes=topic.size_bytes)


def record(nameserver: str, proxy_addr: str, out: Path) -> None:
    """Take the snapshot as a user would, and put it in the place of the old one once it is whole."""
    with tempfile.TemporaryDirectory(prefix="rocketmq-sample-") as folder:
        taken, policy, connection = (Path(folder) / name for name in ("inventory.json", "policy.yaml", "cluster.yaml"))
        policy.write_text(POLICY)
        connection.write_text(f"proxies: ['{proxy_addr}']\nrequest_timeout_s: {PATIENT_S}\n")
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
            "--connection",
            str(connection),
        ]
        subprocess.run(command, check=True, timeout=SNAPSHOT_TIME_LIMIT_S)
        if failures := read_inventory(taken).failures:
            raise SystemExit(f"the snapshot is not whole, and the old one stays: {failures}")
        shutil.move(taken, out)


if __name__ == "__main__":
    main()
