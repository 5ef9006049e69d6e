"""CLIENT_MEMORY: clients whose caches of pulled messages may become too large for their heap.

A client caches messages of each queue that it pulls, up to ``pullThresholdForQueue`` messages or
``pullThresholdSizeForQueue`` MiB. Messages count with the average size on their broker. Popped queues have no such
cache.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import floor
from typing import Annotated, Final

import numpy as np

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.sizes import divided
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.model.broker_figures import MIB, mean_message_bytes
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import ClusterFacts, Consumer
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import WARNING
from rocketmq_capacity.wording import counted, fixed, rounded


class ClientMemoryEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CLIENT_MEMORY."""

    queues: Annotated[int, means("that the client with the largest caches pulls", "queue")]
    cache_bytes: Annotated[int, means("its full caches")]
    lost_clients: Annotated[int, means("whose loss is looked at as well", "client")]
    with_lost_cache_bytes: Annotated[int | None, means("the largest full caches after this loss")]
    average_message_bytes: Annotated[float, means("mean size of the messages that it caches")]
    pull_threshold_for_queue: Annotated[int | None, means("that it caches for a queue", "message")]
    pull_threshold_size_for_queue_mib: Annotated[int | None, means("size that it caches for a queue")]
    heap_mib: Annotated[float, means("heap of a client, by the policy")]
    bound_ratio: Annotated[float, means("share of the heap that caches may take, by the policy")]
    needed_pull_threshold_for_queue: Annotated[int | None, means("for a queue that fit at most", "message")]
    needed_pull_threshold_for_topic: Annotated[int | None, means("for a topic that fit at most", "message")]
    needed_cache_bytes: Annotated[int | None, means("full caches with these thresholds")]


CLIENT_MEMORY: Final = Rule(
    name="CLIENT_MEMORY",
    title="Consumers that may buffer more than they can hold",
    meaning=(
        "A consumer caches messages for each queue that it owns. If all caches are full, they do not fit its memory."
    ),
    place=300,
    goal="CAPACITY_AT_PEAK",
    evidence=ClientMemoryEvidence,
    leaves_with_clients=True,
    severities={
        "WARNING": "caches fill once the group falls behind",
    },
    details="""
    A client caches up to `pullThresholdForQueue` messages or `pullThresholdSizeForQueue` MiB of each queue that it
    owns, whichever comes first. If all caches are full, they take more than `heap_ratio` of its heap, now or with
    `lost_clients` lost. Caches are full once a group falls behind, so it is a WARNING, also where they take more
    than the whole heap.

    No client reports its heap, so it is the policy's `client_heap_mib`; without it there is no verdict. A message
    counts with the average size of the broker's messages. Lower the threshold to `needed_pull_threshold_for_queue`.
    `pullThresholdForTopic` is divided by the queues that a client owns, so it also holds when clients leave. Queues
    that are popped have no such cache.
    """,
)


@dataclass(frozen=True)
class Caches:
    """The most that the clients of a group cache; arrays have one entry for each client id.

    Attributes:
        client_ids: the client ids.
        queues: how many queues a client pulls.
        message_bytes: the sum of the average message sizes of these queues; NaN if unknown.
        full_bytes: the size of its full caches; NaN if unknown.
    """

    client_ids: list[str]
    queues: Integers
    message_bytes: Numbers
    full_bytes: Numbers

    @property
    def fullest(self) -> int:
        """The index of the client with the largest caches."""
        return int(self.full_bytes.argmax())

    @property
    def most(self) -> float:
        """The bytes of its caches; NaN if those of any client are unknown."""
        return float(self.full_bytes.max(initial=0))


def client_memory(group: AssessedGroup) -> Iterator[Finding]:
    """CLIENT_MEMORY: full caches take more than the policy's share of a client's heap, now or with clients lost.

    Caches are full once a group falls behind, so that the next peak hurts: it is never CRITICAL.
    """
    bounds, heap_mib = group.policy.thresholds.CLIENT_MEMORY, group.policy.heap_mib(group.name)
    if heap_mib is None or group.owners_today is None:
        return
    everyone = np.arange(len(group.client_ids))
    now = _caches(group, group.division, group.owners_today, everyone, is_today=True)
    left = _with_lost(group, bounds.lost_clients)
    limit = bounds.heap_ratio * heap_mib * MIB
    worst = now if left is None or not left.most > now.most else left
    if np.isnan(now.most) or worst.most <= limit:
        return
    is_now, needed_messages = now.most > limit, floor(limit / worst.message_bytes.max())
    shown = now if is_now else worst
    client_id, settings = shown.client_ids[shown.fullest], _first(group, now.fullest)
    yield finding(
        CLIENT_MEMORY,
        WARNING,
        consumer_group=group.name,
        subjects=[now.client_ids[client] for client in np.flatnonzero(now.full_bytes > limit)] or [client_id],
        evidence=ClientMemoryEvidence(
            queues=int(now.queues[now.fullest]),
            cache_bytes=round(now.most),
            lost_clients=bounds.lost_clients,
            with_lost_cache_bytes=None if left is None or np.isnan(left.most) else round(left.most),
            average_message_bytes=rounded(float(shown.message_bytes[shown.fullest] / shown.queues[shown.fullest]), 1),
            pull_threshold_for_queue=settings.pull_threshold_for_queue,
            pull_threshold_size_for_queue_mib=settings.pull_threshold_size_for_queue_mib,
            heap_mib=heap_mib,
            bound_ratio=bounds.heap_ratio,
            needed_pull_threshold_for_queue=needed_messages or None,
            needed_pull_threshold_for_topic=floor(limit / (worst.message_bytes / worst.queues.clip(1)).max()) or None,
            needed_cache_bytes=round(needed_messages * worst.message_bytes.max()) if needed_messages else None,
        ),
        message=("" if is_now else f"With {counted(bounds.lost_clients, 'client')} lost, ")
        + f"{client_id} may cache {fixed(shown.most / MIB, 1)} MiB of messages; its heap has {heap_mib} MiB.",
    )


def _with_lost(group: AssessedGroup, clients: int) -> Caches | None:
    """The caches after the loss of this number of clients; None if no client is left, or if it cannot be computed.

    Clients of a broadcasting group take over no queues.
    """
    left = group.facts.connections - clients
    after = divided([(group.staff, left)])[0] if group.is_clustering and left > 0 else None
    if after is None or after.owners.unknown:
        return None
    return _caches(group, after.division, after.owners, after.rows, is_today=False)


def _caches(group: AssessedGroup, division: Division, owners: Owners, rows: Integers, *, is_today: bool) -> Caches:
    clients = len(rows)
    is_pulled = ~np.broadcast_to(owners.is_popped, owners.queue.shape)
    queue, client = owners.queue[is_pulled], owners.client[is_pulled]
    queues = np.bincount(client, minlength=clients)
    bounds = [
        _bounds(_first(group, row), own, is_today=is_today)
        for row, own in zip(rows.tolist(), queues.tolist(), strict=True)
    ]
    most = np.array(bounds, np.float64).reshape(-1, 2)
    message = average_bytes(division, group.cluster)[queue]
    full = np.minimum(most[client, 0] * message, most[client, 1] * MIB)
    of_client = (np.bincount(client, part, clients).astype(np.float64) for part in (message, full))
    return Caches(division.members.client_ids, queues, *of_client)


def _bounds(consumer: Consumer, queues: int, *, is_today: bool) -> tuple[float, float]:
    """The most messages and MiB that a client caches for a queue; NaN if unknown.

    A client with ``pullThresholdForTopic`` divides it by all queues that it owns, and reports the result.
    Source: RebalancePushImpl.messageQueueChanged, rocketmq-all-5.3.3.
    """
    messages, mib = consumer.pull_threshold_for_queue, consumer.pull_threshold_size_for_queue_mib
    if not is_today and queues:
        of_topic, mib_of_topic = consumer.pull_threshold_for_topic, consumer.pull_threshold_size_for_topic_mib
        messages = messages if of_topic is None else max(1, of_topic // queues)
        mib = mib if mib_of_topic is None else max(1, mib_of_topic // queues)
    return np.nan if messages is None else float(messages), np.nan if mib is None else float(mib)


def _first(group: AssessedGroup, client: int) -> Consumer:
    """The first consumer of a client id: only this one of equal ids has reported its settings."""
    members = group.division.members
    return members.consumers[int(members.first[client])]


def average_bytes(division: Division, cluster: ClusterFacts) -> Numbers:
    """The average message size on each queue's broker; NaN if unknown."""
    of_broker = {one.broker_name: mean_message_bytes(one) for one in cluster.brokers if one.broker_id == 0}
    of_place = [of_broker.get(place.broker_name) for place in division.queues.places]
    return np.array(of_place, np.float64)[division.queues.place]


GROUP_RULES: Final[tuple[GroupRule, ...]] = (client_memory,)
