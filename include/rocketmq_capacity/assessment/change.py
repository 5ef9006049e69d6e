"""A change of a group, and which queues get other owners by it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy, divide
from rocketmq_capacity.model.division import Division, Flags, Integers, Members
from rocketmq_capacity.model.owners import NOBODY
from rocketmq_capacity.model.ragged import begins_of, joined_from
from rocketmq_capacity.vocabulary import POP

TOGETHER: Final = 100_000
"""Queues that are compared in one go: enough that numpy's calls cost nothing, few enough for small arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """What is left of a group after a change.

    Attributes:
        before: the owners before.
        owners: the owners afterwards, of the queues that are left by the clients that are left.
        base_queue: for each queue its index before.
        base_client: for each client id its index before; a new one has the next.
        losses: the losses of brokers that the change consists of; None if it is one change.
        thinned: a client id that stays and has a consumer less, so that its queues have a reader less; else None.
    """

    before: OwnersByStrategy
    owners: OwnersByStrategy
    base_queue: Integers
    base_client: Integers
    losses: BrokerLosses | None = None
    thinned: int | None = None

    @classmethod
    def of_losses(cls, before: OwnersByStrategy, losses: BrokerLosses, base_client: Integers) -> "Change":
        """What is left after losses."""
        return cls(before, OwnersByStrategy(before.allocator, losses.division), losses.base_queue, base_client, losses)

    @classmethod
    def of_members(
        cls, before: OwnersByStrategy, members: Members, base_client: Integers, thinned: int | None = None
    ) -> "Change":
        """Other clients for the same queues."""
        base = before.division
        owners = OwnersByStrategy(before.allocator, Division(base.group, base.queues, members))
        return cls(before, owners, np.arange(len(base.queues)), base_client, thinned=thinned)

    @property
    def division(self) -> Division:
        """The queues and the clients that are left."""
        return self.owners.division

    @property
    def is_empty(self) -> bool:
        """Whether no client or no queue is left."""
        return not len(self.division.members) or not len(self.division.queues)


Asked = tuple[Change, str]
"""A change, and a strategy."""


def moved_queues(asked: Iterable[Asked]) -> Iterator[list[int]]:
    """For each change how many business queues get other owners under a strategy: an entry a loss, or one for all.

    Where the strategy throws afterwards, queues keep the owners that they have.
    """
    for some in _in_parts(asked):
        divide((change.owners, strategy) for change, strategy in some)
        single: list[tuple[Asked, Integers, Integers]] = []
        several: list[Asked] = []
        is_single = []
        for each in some:
            change, strategy = each
            was = change.before[strategy].single(len(change.before.division.queues))
            now = None if was is None else change.owners[strategy].single(len(change.base_queue))
            is_single.append(was is not None and now is not None)
            if was is None or now is None:
                several.append(each)
            else:
                single.append((each, was, now))
        of_single = iter(_counted([each for each, _, _ in single], _owners_differ(single)))
        of_several = iter(_counted(several, _pairs_differ(several)))
        yield from (next(of_single if flag else of_several) for flag in is_single)


def _in_parts(asked: Iterable[Asked]) -> Iterator[list[Asked]]:
    some: list[Asked] = []
    queues = 0
    for each in asked:
        some.append(each)
        queues += len(each[0].base_queue)
        if queues > TOGETHER:
            yield some
            some, queues = [], 0
    if some:
        yield some


def _counted(asked: Sequence[Asked], differ: Flags) -> list[list[int]]:
    """How many of the flagged queues each change moves; ``differ`` has the queues of all, one after the other."""
    if not asked:
        return []
    changes = [change for change, _ in asked]
    losses = [1 if change.losses is None else len(change.losses.losses) for change in changes]
    sizes = [len(change.base_queue) for change in changes]
    of_queue = np.repeat(begins_of(losses), sizes)
    begin = 0
    for (change, strategy), size in zip(asked, sizes, strict=True):
        part, queues = slice(begin, begin + size), change.owners.division.queues
        begin += size
        if change.losses is not None:
            of_queue[part] += change.losses.loss[queues.topic]
        if change.owners[strategy].unknown:
            differ[part] &= ~np.isin(queues.topic, list(change.owners[strategy].unknown))
        if change.thinned is not None and strategy != POP:
            before = change.before[strategy]
            differ[part][before.queue[before.client == change.thinned]] = True
    differ &= np.concatenate([change.owners.division.queues.is_business for change in changes])
    numbers = np.bincount(of_queue[differ], minlength=sum(losses)).tolist()
    ends = np.cumsum(losses).tolist()
    return [numbers[end - number : end] for end, number in zip(ends, losses, strict=True)]


def _owners_differ(asked: Sequence[tuple[Asked, Integers, Integers]]) -> Flags:
    """The queues that have another owner, where each has at most one: before (by queue), and after the change."""
    if not asked:
        return np.zeros(0, bool)
    sizes = [len(now) for _, _, now in asked]
    base = joined_from([change.base_queue for (change, _), _, _ in asked], begins_of([len(was) for _, was, _ in asked]))
    # NOBODY is -1. At an end it stands for itself, and so does the end before the clients of the next change.
    ends = np.array([NOBODY])
    clients = [part for (change, _), _, _ in asked for part in (change.base_client, ends)]
    begins = np.repeat(begins_of([len(change.base_client) + 1 for (change, _), _, _ in asked]), sizes)
    now = np.concatenate(clients)[np.concatenate([now for _, _, now in asked]) + begins]
    return np.asarray(np.concatenate([was for _, was, _ in asked])[base] != now)


def _pairs_differ(asked: Sequence[Asked]) -> Flags:
    """The queues that other clients own, where some have several."""
    changes = [change for change, _ in asked]
    befores = [change.before[strategy] for change, strategy in asked]
    afters = [change.owners[strategy] for change, strategy in asked]
    if not asked:
        return np.zeros(0, bool)
    bases = [len(change.before.division.queues) for change in changes]
    queue = joined_from([before.queue for before in befores], begins_of(bases))
    order = np.argsort(queue, kind="stable")
    was = np.concatenate([before.client for before in befores])[order]
    number = np.bincount(queue, minlength=sum(bases))
    base = joined_from([change.base_queue for change in changes], begins_of(bases))
    begin, number = begins_of(number)[base], number[base]
    entry = np.repeat(np.arange(len(base)), number)
    was = was[np.repeat(begin - begins_of(number), number) + np.arange(len(entry))]
    now = np.concatenate([change.base_client[own.client] for change, own in zip(changes, afters, strict=True)])
    at = joined_from([own.queue for own in afters], begins_of([len(change.base_queue) for change in changes]))
    clients = int(max(was.max(initial=0), now.max(initial=0))) + 1
    differ = np.setxor1d(entry * clients + was, at * clients + now, assume_unique=True)
    flags = np.zeros(len(base), bool)
    flags[differ // clients] = True
    return flags
