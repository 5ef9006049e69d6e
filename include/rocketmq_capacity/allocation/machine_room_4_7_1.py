"""MACHINE_ROOM of Java up to 4.7.1 and of Go: the kept queues give the size of the blocks, which hold any queues.

So some queues outside the rooms have an owner, other queues have no owner, and some have two.
"""

from collections.abc import Collection

import numpy as np

from rocketmq_capacity.allocation import machine_room
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.settings.policy import Policy


def is_kept_by_go(broker_name: str, machine_rooms: Collection[str]) -> bool:
    """As in Java, but Go's Split keeps empty parts at the end: ``a@`` has two parts, ``a@b@`` has three."""
    parts = broker_name.split("@")
    return len(parts) == 2 and parts[0] in machine_rooms


def shares_by_java(division: Division, policy: Policy) -> Shares:
    """The share of each consumer. Source: AllocateMessageQueueByMachineRoom, rocketmq-all-4.7.1 (mended by #2477)."""
    return _shares(machine_room.is_kept, division, policy)


def shares_by_go(division: Division, policy: Policy) -> Shares:
    """The share of each consumer. Source: AllocateByMachineRoom (strategy.go, apache/rocketmq-client-go at 2173d07)."""
    return _shares(is_kept_by_go, division, policy)


def _shares(is_kept: machine_room.IsKept, division: Division, policy: Policy) -> Shares:
    queues, consumers = division.queues, len(division.members)
    of_all, _ = queues.in_topic
    of_kept, kept = machine_room.ranked_in_topic(is_kept, queues, policy)
    kept_of_topic = np.zeros(len(queues.topics), np.int64)
    kept_of_topic[queues.topic[kept > 0]] = kept[kept > 0]
    block = (kept_of_topic // consumers)[queues.topic]
    in_block = np.flatnonzero(of_all < block * consumers)
    rest = np.flatnonzero((kept > 0) & (of_kept >= block * consumers))
    queue = np.concatenate([in_block, rest])
    place = np.concatenate([of_all[in_block] // block[in_block], of_kept[rest] - (block * consumers)[rest]])
    # A consumer may have a queue both in its block and as its additional one.
    pairs = np.unique(np.stack([queue, place]), axis=1)
    return Shares(pairs[0], pairs[1])
