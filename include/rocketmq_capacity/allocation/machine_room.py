"""MACHINE_ROOM: divides only queues on brokers named ``room@name`` of the given rooms; nobody owns the others."""

from collections.abc import Callable, Collection
from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import NOBODY, Shares
from rocketmq_capacity.model.queues import NOT_RANKED, Queues
from rocketmq_capacity.settings.policy import Policy

NAME: Final = vocabulary.MACHINE_ROOM
IsKept = Callable[[str, Collection[str]], bool]
"""Whether the strategy counts a broker, by its name and the rooms."""


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
    rank, kept = ranked_in_topic(is_kept, division.queues, policy)
    owner = division.first_place + owner_index(rank, kept, division.consumers)
    return Shares.of_owners(np.where(kept > 0, owner, NOBODY))


def ranked_in_topic(counts: IsKept, queues: Queues, policy: Policy) -> tuple[Integers, Integers]:
    """The rank of each queue among the kept queues of its topic, and the number of these; both 0 if it is not kept."""
    rooms = policy.machine_rooms or ()
    names = {facts.broker_name for facts in queues.facts}
    kept = {name for name in names if counts(name, rooms)}
    is_counted = np.array([facts.broker_name in kept for facts in queues.facts], bool)[queues.facts_of_place]
    return queues.ranked(np.where(is_counted, queues.topic_of_place, NOT_RANKED))
