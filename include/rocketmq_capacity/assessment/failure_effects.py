"""What a failure takes from a group: readers of queues, topics, messages that wait; and the verdict on it."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.effect import NONE, Crossed, JudgedEffect, Shift, effect_of, lag_grows_idly
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Owners


@dataclass(frozen=True, slots=True)
class QueuesByReaders:
    """Queues that stay, by their readers after a failure.

    Attributes:
        unread: by whether nobody reads them.
        twice: by whether two consumers read every message of them.
    """

    unread: Crossed = NONE
    twice: Crossed = NONE


@dataclass(frozen=True, slots=True)
class FailureImpact:
    """What a failure takes from a group.

    Attributes:
        unread: queues that stay, by whether nobody reads them; None if an owner is unknown.
        twice: the same, by whether two consumers read every message of them.
        unreadable: topics that lose all queues that consumers see.
        unwritable: topics that lose all queues that producers see.
        waiting: messages of lag on lost queues, or on all if no client is left; None if unknown.
        has_clients: whether a client is left.
    """

    unread: Crossed | None = NONE
    twice: Crossed | None = NONE
    unreadable: int = 0
    unwritable: int = 0
    waiting: int | None = 0
    has_clients: bool = True

    @classmethod
    def of(
        cls,
        readers: QueuesByReaders | None,
        unreadable: int = 0,
        unwritable: int = 0,
        waiting: int | None = 0,
        *,
        has_clients: bool = True,
    ) -> "FailureImpact":
        """The same, given the readers of the queues that stay; None if an owner is unknown."""
        if readers is None:
            return cls(None, None, unreadable, unwritable, waiting, has_clients)
        return cls(readers.unread, readers.twice, unreadable, unwritable, waiting, has_clients)


def impacts(losses: BrokerLosses, readers: Sequence[QueuesByReaders | None]) -> list[FailureImpact]:
    """What each loss takes, given the readers after it; None where they are unknown."""
    has_clients = len(losses.division.members) > 0
    figures = zip(readers, losses.unreadable, losses.unwritable, losses.waiting, strict=True)
    return [FailureImpact.of(*loss, has_clients=has_clients) for loss in figures]


def unread_after(group: AssessedGroup, owners: Owners, base_queue: Integers) -> tuple[Flags, Flags]:
    """For each queue of a change whether only afterwards nobody reads it, and whether only before nobody did.

    Args:
        group: the group as it is; who owns its queues is known.
        owners: the owners afterwards.
        base_queue: for each queue that is left its index in the group's division.
    """
    was_unread = np.zeros(len(group.division.queues), bool)
    if group.whole_load is not None:
        was_unread[group.whole_load.orphans] = True
    is_business = group.division.queues.is_business[base_queue]
    is_read = np.zeros(len(base_queue), bool)
    is_read[owners.queue] = True
    before = was_unread[base_queue]
    return ~is_read & ~before & is_business, is_read & before


def twice_after(group: AssessedGroup, owners: Owners, division: Division, base_queue: Integers) -> tuple[Flags, Flags]:
    """For each queue of a change whether only afterwards two consumers read it, and whether only before two did.

    Under one strategy only consumers with equal ids do that. The arguments are those of :func:`unread_after`, and what
    is divided afterwards.
    """
    before = np.zeros(len(group.division.queues), bool)
    if group.whole_load is not None:
        before = _is_read_twice(group.whole_load.owners, group.division)
    was_twice, is_twice = before[base_queue], _is_read_twice(owners, division)
    return is_twice & ~was_twice, was_twice & ~is_twice


def _is_read_twice(owners: Owners, division: Division) -> Flags:
    queues = len(division.queues)
    if not division.members.has_copies:
        return np.zeros(queues, bool)
    readers = division.readers(owners.queue, owners.client) * ~_is_popped(owners)
    return np.asarray(np.bincount(owners.queue, readers, queues) > 1)


def _is_popped(owners: Owners) -> Flags:
    """For each pair of a queue and an owner whether clients share the queue's messages."""
    return np.zeros(len(owners.queue), bool) | owners.is_popped


def effect_on(
    group: AssessedGroup, loss: FailureImpact, use: Interval | None, *, is_loss: bool, is_more: bool = False
) -> JudgedEffect:
    """The verdict on a failure; ``use`` is the busy share of the busiest client afterwards, at the peak.

    Lag that grows for another cause goes on growing, unless a client comes (``is_more``): then it is unknown.
    """
    provision = group.provision
    lag_grew = lag_grows_idly(provision, group.policy.thresholds)
    shift = Shift(
        was_busy=provision.at_peak,
        is_busy=use,
        lag_grew=lag_grew,
        lag_grows=None if lag_grew and is_more else lag_grew,
        has_clients=loss.has_clients,
        unread=loss.unread,
        twice=loss.twice,
        unreadable=Crossed(loss.unreadable),
        unwritable=Crossed(loss.unwritable),
        waiting=loss.waiting,
        is_loss=is_loss,
    )
    return effect_of(shift, group.policy.thresholds)
