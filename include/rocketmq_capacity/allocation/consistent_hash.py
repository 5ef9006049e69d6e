"""CONSISTENT_HASH: queues and virtual nodes of consumers are on one ring of 32 bits; the next node owns a queue."""

from collections.abc import Iterable
from functools import lru_cache
from hashlib import md5
from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import NOBODY, Shares
from rocketmq_capacity.model.queues import NOTHING, Queues
from rocketmq_capacity.settings.policy import Policy

NAME: Final = vocabulary.CONSISTENT_HASH
RING: Final = 2**32
"""Hashes are less than this."""
TOPICS_REMEMBERED: Final = 4096
"""Entries of the cache of queues: a topic's queues have the same hashes for every group that reads it."""
CLIENTS_REMEMBERED: Final = 4096
"""Entries of the cache of nodes: a client's nodes do not depend on the other clients of its group."""


def shares(division: Division, policy: Policy) -> Shares:
    """The share of each consumer; nobody gets a queue if the ring is empty.

    Source: AllocateMessageQueueConsistentHash and ConsistentHashRouter, rocketmq-all-5.3.3.
    """
    nodes, owner = ring(division, policy.consistent_hash.virtual_nodes)
    of_queues = {queues: points_of(queues) for queues in dict.fromkeys([part.queues for part in division.parts])}
    points = np.concatenate([of_queues[part.queues] for part in division.parts])
    begins = np.searchsorted(nodes, np.arange(len(division.parts) + 1) * RING)
    begin, end = begins[division.part], begins[division.part + 1]
    at = np.searchsorted(nodes, points + division.part * RING)
    return Shares.of_owners(
        np.append(owner, NOBODY)[np.where(begin == end, len(nodes), np.where(at == end, begin, at))]
    )


def ring(division: Division, virtual_nodes: int) -> tuple[Integers, Integers]:
    """The ascending keys of all virtual nodes, and the place of each node's consumer.

    Each part of a division has a ring of its own: the keys of the part at index i are at least i * RING and less than
    (i + 1) * RING.

    The keys are hashes of ``clientId-0``, ``clientId-1`` and so on. The numbers go on for further consumers with the
    same id, so an id with two consumers has twice as many nodes; the first of these consumers owns them all. If two
    nodes have the same hash, the later consumer's node stays, as in Java's ``TreeMap.put``. (Java does not count a node
    that another node of the same id overwrote. That two of ten hashes of one id are equal is not handled here.)
    Source: ConsistentHashRouter.addNode and getExistingReplicas.
    """
    of_each: list[bytes] = []
    firsts, counts = [NOTHING], [NOTHING]
    begins = np.cumsum(division.consumers_of_part) - division.consumers_of_part
    for part, first in zip(division.parts, begins.tolist(), strict=True):
        members = part.members
        number = members.copies * virtual_nodes
        of_each += [
            _nodes(client_id, count) for client_id, count in zip(members.client_ids, number.tolist(), strict=True)
        ]
        firsts.append(first + members.first)
        counts.append(number)
    parts = np.arange(len(division.parts))
    keys = _keys(of_each) + np.repeat(parts * RING, division.consumers_of_part * virtual_nodes)
    order = np.argsort(keys, kind="stable")
    keys, owner = keys[order], np.repeat(np.concatenate(firsts), np.concatenate(counts))[order]
    stays = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
    return keys[stays], owner[stays]


@lru_cache(CLIENTS_REMEMBERED)
def _nodes(client_id: str, count: int) -> bytes:
    """The hashes of a client id's virtual nodes."""
    text = client_id.encode(errors="replace")
    return _hashes([b"%b-%d" % (text, replica) for replica in range(count)])


def points_of(queues: Queues) -> Integers:
    """The key of each queue."""
    return _keys([_points(reads.topic.topic, place.broker_name, place.readable) for reads, place in queues.of_topics])


@lru_cache(TOPICS_REMEMBERED)
def _points(topic: str, broker_name: str, queues: int) -> bytes:
    """The hashes of a topic's queues on a broker: those of ``MessageQueue.toString()``."""
    beginning = f"MessageQueue [topic={topic}, brokerName={broker_name}, queueId=".encode(errors="replace")
    return _hashes([b"%b%d]" % (beginning, queue_id) for queue_id in range(queues)])


def _hashes(texts: list[bytes]) -> bytes:
    """The first four bytes of each text's MD5."""
    return b"".join([md5(text, usedforsecurity=False).digest()[:4] for text in texts])


def _keys(hashes: Iterable[bytes]) -> Integers:
    """Hashes of four bytes each as numbers."""
    return np.frombuffer(b"".join(hashes), ">u4").astype(np.int64)
