"""What strategies answer: who gets which queues, and whether RocketMQ would allocate by a strategy at all.

A strategy takes a :class:`Division` and gives :class:`Shares`. Loads, rules and simulations use :class:`Owners`, which
are the same by client id and only for business topics.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.queues import NOTHING, Queues
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import Dialect

NOBODY: Final = -1
"""The place of the owner of a queue that has no owner."""


@dataclass(frozen=True)
class Shares:
    """Which queues a strategy gives to which consumers.

    Attributes:
        queue: indexes of queues; a queue is listed once for each consumer that gets it.
        place: the place of that consumer, one entry for each of ``queue``.
        popped: indexes of the topics of which every consumer pops every queue of every broker.
        strangers: queues that do not exist (CONFIG): the place of the consumer, the index of the topic, the queue.
        owner: of each queue of the division the place of its consumer, or NOBODY; None if a queue may have several.
    """

    queue: Integers
    place: Integers
    popped: tuple[int, ...] = ()
    strangers: tuple[tuple[int, int, Queue], ...] = ()
    owner: Integers | None = None

    @classmethod
    def of_owners(cls, place: Integers) -> "Shares":
        """The shares of a strategy that gives each queue to one place, or to :data:`NOBODY`."""
        queue = np.flatnonzero(place != NOBODY)
        return cls(queue, place[queue], owner=place)

    def without(self, topics: Collection[int], queues: Queues) -> "Shares":
        """The shares without those of these topics (indexes into ``queues.topics``)."""
        keep = ~np.isin(queues.topic[self.queue], list(topics))
        return Shares(
            self.queue[keep],
            self.place[keep],
            popped=tuple(topic for topic in self.popped if topic not in topics),
            strangers=tuple(one for one in self.strangers if one[1] not in topics),
        )


@dataclass(frozen=True)
class Owners:
    """Who owns which business queue, by client id; a queue is listed once for an id.

    Attributes:
        queue: indexes of queues of the division.
        client: the index of a client id that owns the queue, one entry for each of ``queue``.
        strangers: queues that do not exist (CONFIG), each with the index of a client id that owns it.
        is_popped: whether several clients may read the queue, as under POP; one entry for each of ``queue``.
        unknown: indexes of the business topics whose owners are unknown. If a strategy throws for a topic, its queues
            keep the owners that they had.
        owner: of each queue of the division the index of its owner, or NOBODY; None if a queue may have several.
    """

    queue: Integers
    client: Integers
    strangers: tuple[tuple[int, Queue], ...] = ()
    is_popped: Flags | bool = False
    unknown: frozenset[int] = frozenset()
    owner: Integers | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether RocketMQ would allocate a group's queues by a strategy.

    Attributes:
        is_applicable: whether it allocates at least one topic.
        throws_for: indexes of the topics for which it throws, if it allocates others.
        reason: why it does not allocate all topics; if it allocates some, the reason names the others. Else None.
        dialects: libraries by whose code its clients compute it; empty if all compute as the official classes do.
    """

    is_applicable: bool
    throws_for: frozenset[int] = frozenset()
    reason: str | None = None
    dialects: tuple[Dialect, ...] = ()


class Allocator(Protocol):
    """The strategies as an argument, for stages that must not import them."""

    def verdict(self, strategy: str, division: Division) -> Verdict:
        """Whether a strategy allocates the queues of a group."""

    def owners(self, strategy: str, division: Division) -> Owners:
        """Who owns which business queue; unknown for topics that the strategy does not allocate."""

    def owners_of_each(self, asked: Sequence[tuple[str, Division]]) -> list[Owners]:
        """The owners of several divisions, each under a strategy: all in one go, where that can be done."""

    def single_owners(self, asked: Sequence[tuple[str, Division]]) -> Iterator[tuple[list[int], Integers]]:
        """The same where each queue has one owner at most: divisions under one strategy by number, with their owners.

        An entry for each queue of these divisions, one after the other: the index of its owner, or NOBODY.
        """

    def dialect(self, strategy: str, consumer: Consumer) -> Dialect:
        """The library by whose code a consumer computes a strategy."""

    def reported(self, strategy: str, division: Division) -> set[tuple[int, Queue]]:
        """The queues that clients would report: pairs of a client id's index and a queue.

        The queue id is -1 for a client that pops all queues of a broker.
        """


NO_OWNERS: Final = Owners(NOTHING, NOTHING)


def with_proxied(owners: Owners, division: Division) -> Owners:
    """The owners together with the gRPC consumers of the group, who pop every queue of the topics that they read."""
    if not division.members.has_grpc:
        return owners
    queue, place = division.proxied
    keep = division.queues.is_business[queue]
    pairs = np.stack([queue[keep], division.members.client[place[keep]]])
    queue, client = np.unique(pairs, axis=1) if division.members.has_copies else pairs
    popped = np.concatenate([np.broadcast_to(owners.is_popped, owners.queue.shape), np.ones(len(queue), bool)])
    return Owners(
        np.concatenate([owners.queue, queue]),
        np.concatenate([owners.client, client]),
        owners.strangers,
        is_popped=popped,
        unknown=owners.unknown,
    )
