"""MACHINE_ROOM: divides only queues on brokers named ``room@name`` of the given rooms; nobody owns the others."""

from collections.abc import Collection
from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.contracts.division import NOBODY, Division, Integers, Shares
from rocketmq_capacity.settings.policy import Policy

NAME: Final = vocabulary.MACHINE_ROOM


def is_kept(broker_name: str, machine_rooms: Collection[str]) -> bool:
    """Whether the strategy uses a broker: ``split("@")`` gives two parts, and the first is one of the rooms.

    Java's split drops empty parts at the end: ``a@b`` and ``a@b@`` have two parts, ``a@`` has one, and ``@b`` has two,
    with the room "".
    """
    parts = broker_name.rstrip("@").split("@")
    return len(parts) == 2 and parts[0] in machine_rooms


def owner_index(queue: Integers, queues: Integers, consumers: Integers | int) -> Integers:
    """Index of the consumer that owns each kept queue: equal blocks, and the remaining queues one by one.

    The first consumers get one of the remaining queues each.
    Shape and units: as ``avg.owner_index``, over the kept queues only.
    Source: AllocateMessageQueueByMachineRoom.java, rocketmq-all-5.3.3.
    """
    block = queues // consumers
    return np.where(queue < block * consumers, queue // np.maximum(block, 1), queue - block * consumers)


def refusal(_: Division, policy: Policy) -> str | None:
    """Why the strategy cannot run."""
    return "the policy has no machine_rooms (consumeridcs)" if policy.machine_rooms is None else None


def shares(division: Division, policy: Policy) -> Shares:
    """The share of each consumer."""
    rooms = policy.machine_rooms or ()
    rank, kept = division.queues.ranked(lambda topic, place: topic if is_kept(place.broker_name, rooms) else None)
    owner = owner_index(rank, kept, len(division.members))
    return Shares.of_owners(np.where(kept > 0, owner, NOBODY))
