"""Snapshots of a real cluster that is in step."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from rocketmq_capacity.snapshot.collect import CollectOptions, collect_now
from rocketmq_capacity.snapshot.inventory import Inventory
from tests.cluster.rocketmq import Cluster, ClusterError
from tests.waiting import until

PATIENCE_S: Final = 180.0


def snapshot_of(cluster: Cluster, samples: int = 2) -> Inventory:
    """The first snapshot that everybody answers; with two samples it has rates."""
    options = CollectOptions(sample_count=samples, sample_interval_s=1.0)

    def look() -> Inventory | None:
        inventory = collect_now([cluster.nameserver], options=options)
        return None if inventory.failures else inventory

    return until(look, PATIENCE_S)


def committed_snapshot(nameservers: Sequence[str], queues: Mapping[str, int]) -> Inventory:
    """The first snapshot in which so many queues of each topic have an offset. Errors: ClusterError."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        inventory = collect_now(nameservers, options=CollectOptions(sample_count=2, sample_interval_s=3.0))
        known = Counter(
            one.topic
            for group in inventory.consumer_groups
            for one in group.offsets or ()
            if one.consumer_offset is not None
        )
        if all(known[topic] >= number for topic, number in queues.items()):
            return inventory
        if time.monotonic() > deadline:
            raise ClusterError(f"the clients have not committed their offsets: {known}")
