"""How many queues of a group get another owner when one client or one broker comes or goes, under each strategy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.change import Change, compare
from rocketmq_capacity.contracts.division import Division, Flags, Members
from rocketmq_capacity.contracts.facts import Consumer
from rocketmq_capacity.contracts.owners import Owners
from rocketmq_capacity.contracts.wording import rounded
from rocketmq_capacity.vocabulary import CONFIG, CONSISTENT_HASH, POP, STRATEGIES

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group

STAYING: Final = (CONSISTENT_HASH, CONFIG)
"""Strategies under which a queue's owner does not depend on which other queues exist."""


@dataclass(frozen=True, slots=True)
class Moves:
    """How many queues get another owner under a strategy; None if their owners before or after are unknown.

    Attributes:
        fewer: if the last client in Java's order leaves; also None if it is the only one.
        more: if one more client comes, which sorts last.
        brokers: if a broker is lost, counted among the queues that stay; by its name.
    """

    fewer: int | None
    more: int | None
    brokers: Mapping[str, int | None]

    @property
    def worst_broker(self) -> int | None:
        """The most queues that the loss of one broker moves."""
        moved = self.brokers.values()
        return None if None in moved else max((number or 0 for number in moved), default=0)

    @property
    def total(self) -> int | None:
        """The sum of all three, by which strategies are compared."""
        worst = self.worst_broker
        if self.fewer is None or self.more is None or worst is None:
            return None
        return self.fewer + self.more + worst


UNKNOWN: Final = Moves(None, None, {"": None})
"""For a group without clients."""


@dataclass(frozen=True)
class Churn:
    """The queues that move if one client or one broker comes or goes, in a group that divides its queues."""

    group: "Group"

    @cached_property
    def losses(self) -> BrokerLosses:
        """The group without each of its brokers."""
        return BrokerLosses.of_each(self.group.division)

    @cached_property
    def without_brokers(self) -> Change:
        """The same as one change."""
        losses = self.losses
        return Change(losses.division, losses.base_queue, np.arange(len(self.group.client_ids)))

    @cached_property
    def fewer(self) -> Change | None:
        """The group without its last client; None if it has no other."""
        consumers = self.group.division.members.consumers
        return self._of(consumers[:-1]) if len(consumers) > 1 else None

    @cached_property
    def more(self) -> Change:
        """The group with one more client, which is like the last one and sorts after it."""
        consumers = self.group.division.members.consumers
        last = consumers[-1]
        new = structs.replace(last, client_id=f"{last.client_id}~", consumer_index=len(consumers))
        return self._of((*consumers, new))

    @property
    def last_client(self) -> str:
        """The id of the client that leaves in ``fewer``."""
        return self.group.division.members.consumers[-1].client_id

    def _of(self, consumers: tuple[Consumer, ...]) -> Change:
        """Other consumers, each like one of today's; a new one has an id of its own."""
        members = self.group.division.members
        now = members.alike(consumers, [one.client_id for one in consumers]) if members.is_plain else Members(consumers)
        return Change.of_members(self.group.division, now, np.arange(len(now.client_ids)))

    @cached_property
    def moves(self) -> dict[str, Moves]:
        """By strategy; none for one that does not apply."""
        if not self.group.is_clustering or not self.group.client_ids:
            return {}
        return {name: self._moves(name) for name in self.group.loads}

    def changes(self, strategy: str) -> Iterator[Change]:
        """The changes whose owners are compared with today's under a strategy."""
        if strategy not in STRATEGIES or self._all_read_all(strategy):
            return
        if self.fewer is not None and not self._leaves_a_ring(strategy):
            yield self.fewer
        yield self.more
        if strategy not in STAYING and len(self.without_brokers.division.queues):
            yield self.without_brokers

    def owners(self, strategy: str, change: Change) -> Owners:
        """The owners after a change; each is computed once."""
        if strategy not in change.owners:
            change.owners[strategy] = self.group.allocator.owners(strategy, change.division)
        return change.owners[strategy]

    def _differ(self, strategy: str, change: Change) -> Flags:
        """For each queue after a change whether it has other owners than today; each is computed once."""
        if strategy not in change.differ:
            self.owners(strategy, change)
            compare([(strategy, self.group.division, self.group.owners(strategy), change)])
        return change.differ[strategy]

    @cached_property
    def pareto_best(self) -> dict[str, bool]:
        """Of each strategy whether it is Pareto-best.

        No other strategy is at least as good in queues with no reader or two readers, EXCESS by queues and moved
        queues, and better in one of them. A strategy is missing if one of these is not known. POP is missing because
        its clients share queues.
        """
        aims: dict[str, tuple[float, ...]] = {}
        for name, load in self.group.loads.items():
            moved = self.moves[name].total if name in self.moves else None
            excess = None if load.count is None else load.count.get("excess")
            if moved is not None and excess is not None:
                aims[name] = len(load.orphans), len(load.doubly_owned), rounded(excess, 6) or 0.0, moved
        return {name: not any(_is_better(other, own) for other in aims.values()) for name, own in aims.items()}

    def _moves(self, strategy: str) -> Moves:
        if strategy not in STRATEGIES:  # a class of the deployment's own is asked about what is there alone
            return Moves(None, None, dict.fromkeys(self.losses.losses))
        if self._all_read_all(strategy):
            every = len(self.group.weights.queue)
            return Moves(
                None if self.fewer is None else every if self._loses_an_id else 0,
                every,
                dict.fromkeys(self.losses.losses, 0),
            )
        return Moves(self._fewer(strategy), self._between(strategy, self.more), self._brokers(strategy))

    @property
    def _loses_an_id(self) -> bool:
        ids = [one.client_id for one in self.group.division.members.consumers]
        return ids[-1] not in ids[:-1]

    def _all_read_all(self, strategy: str) -> bool:
        """Whether every client pops every queue, whoever comes and goes."""
        if strategy != POP:
            return False
        members = self.group.division.members
        if members.has_readers_of_some:
            return False
        return bool(members.is_grpc.all()) or (
            not members.has_grpc and all(reads.pop_share_queue_num <= 0 for reads in self.group.business)
        )

    def _fewer(self, strategy: str) -> int | None:
        if self.fewer is None:
            return None
        if self._leaves_a_ring(strategy):
            return self._of_those_who_leave(strategy, self.fewer)
        return self._between(strategy, self.fewer)

    def leaves_the_rest(self, strategy: str) -> bool:
        """Whether the queues that move when a client leaves are known without the owners afterwards."""
        return self._all_read_all(strategy) or self._leaves_a_ring(strategy)

    def _leaves_a_ring(self, strategy: str) -> bool:
        """Whether only the queues of the client that leaves move."""
        if strategy != CONSISTENT_HASH:
            return False
        return self.group.division.members.is_plain and not self.group.verdicts[strategy].dialects

    def _of_those_who_leave(self, strategy: str, change: Change) -> int:
        """How many of the queues that stay are owned today by a client that leaves."""
        leaves = np.ones(len(self.group.client_ids), bool)
        leaves[change.base_client] = False
        own = self.group.owners(strategy)
        stays = np.zeros(len(self.group.division.queues), bool)
        stays[change.base_queue] = True
        return int(np.count_nonzero(leaves[own.client] & stays[own.queue]))

    def _between(self, strategy: str, change: Change) -> int | None:
        """Queues with other owners when the last client leaves, or when another one comes."""
        own, after = self.group.owners(strategy), self.owners(strategy, change)
        # If the strategy throws afterwards, queues keep the owners that they have, except one that leaves.
        if own.unknown - (after.unknown if change is self.more else frozenset()):
            return None
        moves = self._differ(strategy, change)
        if after.unknown:
            moves = moves & ~np.isin(self.group.division.queues.topic, list(after.unknown))
        if change is self.fewer and not self._loses_an_id and strategy != POP:
            # A copy of an id leaves: what the id owns has a reader less.
            moves = moves.copy()
            moves[own.queue[own.client == len(self.group.client_ids) - 1]] = True
        return _business(self.group.division, moves)

    def moved(self, change: Change) -> dict[str, int | None]:
        """How many queues stay and get another owner, by strategy, if only some of the client ids are left."""
        if change.is_empty:
            return dict.fromkeys(self.group.loads, None if len(change.division.queues) else 0)
        return {name: self._moved(name, change) for name in self.group.loads}

    def _moved(self, strategy: str, change: Change) -> int | None:
        if self._all_read_all(strategy):
            some_leave = len(change.base_client) < len(self.group.client_ids)
            return int(np.count_nonzero(change.division.queues.is_business)) if some_leave else 0
        if self._leaves_a_ring(strategy):
            return self._of_those_who_leave(strategy, change)
        if self.group.owners(strategy).unknown or self.owners(strategy, change).unknown:
            return None
        return _business(change.division, self._differ(strategy, change))

    def _brokers(self, strategy: str) -> Mapping[str, int | None]:
        losses, change = self.losses, self.without_brokers
        if strategy in STAYING or not len(change.division.queues):
            return dict.fromkeys(losses.losses, 0)
        own, after = self.group.owners(strategy), self.owners(strategy, change)
        differ = self._differ(strategy, change)
        if not own.unknown and not after.unknown:
            return dict(zip(losses.losses, losses.per_loss(differ).tolist(), strict=True))
        # Where the strategy throws afterwards, queues keep the owners that they have.
        pair = change.division.queues.topic
        throws = np.zeros(len(losses.loss), bool)
        throws[list(after.unknown)] = True
        moved = losses.per_loss(differ & ~throws[pair])
        unknown = np.isin(losses.base_topic, list(own.unknown)) & ~throws
        is_unknown = losses.touched(unknown & (np.bincount(pair, minlength=len(unknown)) > 0))
        return {name: None if is_unknown[index] else int(moved[index]) for index, name in enumerate(losses.losses)}


def _business(division: Division, moves: Flags) -> int:
    """How many of the flagged queues are of business topics."""
    queues = division.queues
    return int(np.count_nonzero(moves if queues.is_all_business else moves & queues.is_business))


def _is_better(other: tuple[float, ...], own: tuple[float, ...]) -> bool:
    """Whether ``other`` is at least as good in every figure and better in one; less is better."""
    return other != own and all(theirs <= ours for theirs, ours in zip(other, own, strict=True))
