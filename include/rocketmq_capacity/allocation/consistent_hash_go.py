"""CONSISTENT_HASH as Go clients compute it: a ring of CRC32 sums, where consumers with one id share their nodes."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final
from zlib import crc32

import numpy as np

from rocketmq_capacity.allocation.consistent_hash import TOPICS_REMEMBERED
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import NOBODY, Shares
from rocketmq_capacity.settings.policy import Policy

AFTER: Final = "right"
"""A queue with the same hash as a node goes to the next node; in Java it goes to that node."""


def shares(division: Division, policy: Policy) -> Shares:
    """The share of each consumer; nobody gets a queue without virtual nodes (Go panics).

    Source: AllocateByConsistentHash (strategy.go, apache/rocketmq-client-go at 2173d07), and Add and Get of
    stathat.com/c/consistent 1.0.0.
    """
    nodes, owner = ring(division.members, policy.consistent_hash.virtual_nodes)
    queues = division.queues
    if not len(nodes):
        return Shares.of_owners(np.full(len(queues), NOBODY))
    points = np.concatenate([
        _points(reads.topic.topic, place.broker_name, place.readable) for reads, place in queues.of_topics
    ])
    at = np.searchsorted(nodes, points, AFTER)
    return Shares.of_owners(owner[np.where(at == len(nodes), 0, at)])


def ring(members: Members, virtual_nodes: int) -> tuple[Integers, Integers]:
    """The ascending keys of all virtual nodes, and the place of each node's consumer.

    The keys are sums of ``0clientId``, ``1clientId`` and so on. If two are equal, the later client id's node stays.
    """
    texts = (
        b"%d%b" % (replica, client_id.encode(errors="replace"))
        for client_id in members.client_ids
        for replica in range(virtual_nodes)
    )
    keys = _sums(texts)
    order = np.argsort(keys, kind="stable")
    keys, owner = keys[order], np.repeat(members.first, virtual_nodes)[order]
    stays = np.append(keys[1:] != keys[:-1], True)[: len(keys)]
    return keys[stays], owner[stays]


@lru_cache(TOPICS_REMEMBERED)
def _points(topic: str, broker_name: str, queues: int) -> Integers:
    """The keys of a topic's queues on a broker: the sums of ``MessageQueue.String()``."""
    beginning = f"MessageQueue [topic={topic}, brokerName={broker_name}, queueId=".encode(errors="replace")
    return _sums(b"%b%d]" % (beginning, queue_id) for queue_id in range(queues))


def _sums(texts: Iterable[bytes]) -> Integers:
    return np.fromiter(map(crc32, texts), np.int64)
