"""A change of a group, and which queues get other owners by it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy, divide
from rocketmq_capacity.model.arrays import Flags, Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import NOBODY
from rocketmq_capacity.model.ragged import begins_of, joined_from, lengths
from rocketmq_capacity.vocabulary import POP

TOGETHER: Final = 100_000
"""Queues that are compared in one go: enough that numpy's calls cost nothing, few enough for small arrays."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupAfterChange:
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
    def of_losses(cls, before: OwnersByStrategy, losses: BrokerLosses, base_client: Integers) -> "GroupAfterChange":
        """What is left after losses."""
        return cls(before, OwnersByStrategy(before.allocator, losses.division), losses.base_queue, base_client, losses)

    @classmethod
    def of_members(
        cls, before: OwnersByStrategy, members: Members, base_client: Integers, thinned: int | None = None
    ) -> "GroupAfterChange":
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
        return not self.owners.division.members.consumers or not len(self.base_queue)


Moved = tuple[list[int], frozenset[int]]
"""How many business queues get other owners, an entry a loss or one for all; and the topics whose owners are unknown
afterwards, as indexes in the division that is left."""


def moved_queues(asked: Sequence[tuple[GroupAfterChange, Sequence[str]]]) -> Iterator[dict[str, Moved]]:
    """What moves with each change, under each of its strategies.

    Where a strategy throws afterwards, queues keep the owners that they have.
    """
    for part in _in_parts(asked):
        yield from _moved([change for change, _ in part], [strategies for _, strategies in part])


def _in_parts(
    asked: Iterable[tuple[GroupAfterChange, Sequence[str]]],
) -> Iterator[list[tuple[GroupAfterChange, Sequence[str]]]]:
    part: list[tuple[GroupAfterChange, Sequence[str]]] = []
    queues = 0
    for change, strategies in asked:
        part.append((change, strategies))
        queues += len(change.base_queue)
        if queues > TOGETHER:
            yield part
            part, queues = [], 0
    if part:
        yield part


def _moved(changes: Sequence[GroupAfterChange], strategies: Sequence[Sequence[str]]) -> list[dict[str, Moved]]:
    moved: list[dict[str, Moved]] = [{} for _ in changes]
    pairs = [(number, name) for number, names in enumerate(strategies) for name in names]
    single = [(number, name) for number, name in pairs if changes[number].before[name].owner is not None]
    batches: dict[tuple[int, ...], _Changes] = {}
    asked = [(name, changes[number].owners.division) for number, name in single]
    for part, owner in changes[0].before.allocator.single_owners(asked) if asked else ():
        numbers, strategy = tuple([single[index][0] for index in part]), single[part[0]][1]
        if numbers not in batches:  # several strategies run for the same
            batches[numbers] = _Changes([changes[number] for number in numbers])
        for number, count in zip(numbers, batches[numbers].moved(strategy, owner), strict=True):
            moved[number][strategy] = count, frozenset()
    several = [(changes[number], name) for number, name in pairs if name not in moved[number]]
    divide((change.owners, name) for change, name in several)
    counts = iter(_several_moved(several))
    for of_change, change, names in zip(moved, changes, strategies, strict=True):
        for name in names:
            if name not in of_change:
                of_change[name] = next(counts), change.owners[name].unknown
    return moved


class _Changes:
    """Changes of groups whose queues have one owner each; each array has those of all changes, one after the other."""

    def __init__(self, changes: Sequence[GroupAfterChange]) -> None:
        self.changes = changes
        self.losses = [1 if change.losses is None else len(change.losses.losses) for change in changes]
        sizes = lengths([change.base_queue for change in changes])
        befores = begins_of(lengths([change.before.division.queues.place for change in changes]))
        self.base_queue = joined_from([change.base_queue for change in changes], befores)
        # NOBODY is -1. At an end it stands for itself, and so does the end before the clients of the next change.
        ends = np.array([NOBODY])
        self.base_client = np.concatenate([part for change in changes for part in (change.base_client, ends)])
        self.first_client = np.repeat(begins_of(lengths([change.base_client for change in changes]) + 1), sizes)
        self.loss = np.repeat(begins_of(self.losses), sizes)
        self.loss += np.concatenate([_loss(change) for change in changes])
        self.is_business = np.concatenate([change.owners.division.queues.is_business for change in changes])

    def moved(self, strategy: str, owner: Integers) -> list[list[int]]:
        """How many queues each change moves; ``owner`` is each queue's client id after it, or NOBODY."""
        before = np.concatenate([change.before[strategy].owner for change in self.changes])[self.base_queue]
        differ = before != self.base_client[owner + self.first_client]
        return self.counted(differ & self.is_business)

    def counted(self, is_moved: Flags) -> list[list[int]]:
        """The number of flagged queues with each loss of each change."""
        numbers = np.bincount(self.loss[is_moved], minlength=sum(self.losses)).tolist()
        ends = np.cumsum(self.losses).tolist()
        return [numbers[end - number : end] for end, number in zip(ends, self.losses, strict=True)]


def _loss(change: GroupAfterChange) -> Integers:
    """The loss of each queue that is left."""
    if change.losses is None:
        return np.zeros(len(change.base_queue), np.int64)
    return change.losses.loss[change.losses.division.queues.topic]


def _several_moved(asked: Sequence[tuple[GroupAfterChange, str]]) -> list[list[int]]:
    """How many queues each change moves under a strategy, where a queue may have several owners."""
    if not asked:
        return []
    differ = _pairs_differ(asked)
    begin = 0
    for change, strategy in asked:
        part, queues = slice(begin, begin + len(change.base_queue)), change.division.queues
        begin = part.stop
        if change.owners[strategy].unknown:
            differ[part] &= ~np.isin(queues.topic, list(change.owners[strategy].unknown))
        if change.thinned is not None and strategy != POP:
            before = change.before[strategy]
            differ[part][before.queue[before.client == change.thinned]] = True
    changes = _Changes([change for change, _ in asked])
    return changes.counted(differ & changes.is_business)


def _pairs_differ(asked: Sequence[tuple[GroupAfterChange, str]]) -> Flags:
    """The queues that other clients own, where some have several."""
    changes = [change for change, _ in asked]
    befores = [change.before[strategy] for change, strategy in asked]
    afters = [change.owners[strategy] for change, strategy in asked]
    bases = lengths([change.before.division.queues for change in changes])
    queue = joined_from([before.queue for before in befores], begins_of(bases))
    order = np.argsort(queue, kind="stable")
    client_before = np.concatenate([before.client for before in befores])[order]
    number = np.bincount(queue, minlength=sum(bases))
    base = joined_from([change.base_queue for change in changes], begins_of(bases))
    begin, number = begins_of(number)[base], number[base]
    entry = np.repeat(np.arange(len(base)), number)
    client_before = client_before[np.repeat(begin - begins_of(number), number) + np.arange(len(entry))]
    client_after = np.concatenate([change.base_client[own.client] for change, own in zip(changes, afters, strict=True)])
    at = joined_from([own.queue for own in afters], begins_of(lengths([change.base_queue for change in changes])))
    clients = int(max(client_before.max(initial=0), client_after.max(initial=0))) + 1
    differ = np.setxor1d(entry * clients + client_before, at * clients + client_after, assume_unique=True)
    flags = np.zeros(len(base), bool)
    flags[differ // clients] = True
    return flags
