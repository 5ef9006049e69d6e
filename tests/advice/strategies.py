"""Who owns which queue: RocketMQ's strategies again, written for these fleets from the Java sources alone.

Source: org.apache.rocketmq.client.consumer.rebalance, rocketmq-all-5.3.3.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from hashlib import md5
from typing import Final

from tests.advice.shape import Queue

Owners = dict[str, list[Queue]]
"""By client id, the queues of one topic that it owns."""
VIRTUAL_NODES: Final = 10


def avg(queues: Sequence[Queue], ids: Sequence[str]) -> Owners:
    """Blocks of neighbours; the first clients have one more where it does not come out even."""
    least, more = divmod(len(queues), len(ids))
    owned, begin = {}, 0
    for place, client_id in enumerate(ids):
        end = begin + least + (place < more)
        owned[client_id], begin = list(queues[begin:end]), end
    return owned


def avg_by_circle(queues: Sequence[Queue], ids: Sequence[str]) -> Owners:
    return {client_id: list(queues[place :: len(ids)]) for place, client_id in enumerate(ids)}


def consistent_hash(queues: Sequence[Queue], ids: Sequence[str]) -> Owners:
    ring = sorted((_hash(f"{client_id}-{node}"), client_id) for client_id in ids for node in range(VIRTUAL_NODES))
    keys = [key for key, _ in ring]
    owned: Owners = {client_id: [] for client_id in ids}
    for queue in queues:
        name = f"MessageQueue [topic={queue.topic}, brokerName={queue.broker_name}, queueId={queue.queue_id}]"
        owned[ring[bisect_left(keys, _hash(name)) % len(ring)][1]].append(queue)
    return owned


def nearby(queues: Sequence[Queue], ids: Sequence[str], room_of: Mapping[str, str]) -> Owners:
    """The queues of each room for its own clients, by AVG; those of a room without clients for all of them."""
    owned: Owners = {client_id: [] for client_id in ids}
    for room in sorted({room_of[queue.broker_name] for queue in queues}):
        here = [queue for queue in queues if room_of[queue.broker_name] == room]
        for client_id, share in avg(here, [one for one in ids if room_of[one] == room] or ids).items():
            owned[client_id] += share
    return owned


def _hash(text: str) -> int:
    return int.from_bytes(md5(text.encode(), usedforsecurity=False).digest()[:4], "big")


STRATEGIES: Final[Mapping[str, Callable[[Sequence[Queue], Sequence[str]], Owners]]] = {
    "AVG": avg,
    "AVG_BY_CIRCLE": avg_by_circle,
    "CONSISTENT_HASH": consistent_hash,
}
