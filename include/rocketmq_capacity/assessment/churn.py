"""How many queues of a group get another owner when one client or one broker comes or goes, under each strategy."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.change import Change
from rocketmq_capacity.assessment.loads import Load
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.model.division import Division, Flags, Members
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.owners import Verdict
from rocketmq_capacity.vocabulary import CONFIG, CONSISTENT_HASH, POP, STRATEGIES
from rocketmq_capacity.wording import rounded

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
        known = [number for number in self.brokers.values() if number is not None]
        return max(known, default=0) if len(known) == len(self.brokers) else None

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
    """The queues that move if one client or one broker comes or goes, in a group that divides its queues.

    Attributes:
        before: the owners of today by strategy.
        verdicts: of each strategy of the policy whether it can run.
        losses: the group without each of its brokers.
    """

    before: OwnersByStrategy
    verdicts: Mapping[str, Verdict]
    losses: BrokerLosses

    @property
    def division(self) -> Division:
        """The group's queues and consumers today."""
        return self.before.division

    @cached_property
    def strategies(self) -> list[str]:
        """The strategies that can run; none for a group that does not divide its queues, or has no clients."""
        if not self.division.group.is_clustering or not self.division.members.client_ids:
            return []
        return [name for name, verdict in self.verdicts.items() if verdict.is_applicable]

    @cached_property
    def without_brokers(self) -> Change:
        """The group without each of its brokers, as one change."""
        losses = self.losses
        clients = np.arange(len(self.division.members.client_ids))
        return Change.of(self.before, losses.division, losses.base_queue, clients)

    @cached_property
    def fewer(self) -> Change | None:
        """The group without its last client; None if it has no other."""
        consumers = self.division.members.consumers
        return self._of(consumers[:-1]) if len(consumers) > 1 else None

    @cached_property
    def more(self) -> Change:
        """The group with one more client, which is like the last one and sorts after it."""
        consumers = self.division.members.consumers
        last = consumers[-1]
        new = structs.replace(last, client_id=f"{last.client_id}~", consumer_index=len(consumers))
        return self._of((*consumers, new))

    @property
    def last_client(self) -> str:
        """The id of the client that leaves in ``fewer``."""
        return self.division.members.consumers[-1].client_id

    def _of(self, consumers: tuple[Consumer, ...]) -> Change:
        """Other consumers, each like one of today's; a new one has an id of its own."""
        members = self.division.members
        now = members.alike(consumers, [one.client_id for one in consumers]) if members.is_plain else Members(consumers)
        return Change.of_members(self.before, now, np.arange(len(now.client_ids)))

    @cached_property
    def moves(self) -> dict[str, Moves]:
        """By strategy; none for one that does not apply."""
        return {name: self._moves(name) for name in self.strategies}

    def changes(self) -> Iterator[tuple[Change, str]]:
        """The changes whose owners are compared with today's, each with a strategy."""
        for strategy in self.strategies:
            yield from ((change, strategy) for change in self._changes(strategy))

    def _changes(self, strategy: str) -> Iterator[Change]:
        if strategy not in STRATEGIES or self._all_read_all(strategy):
            return
        if self.fewer is not None and not self._leaves_a_ring(strategy):
            yield self.fewer
        yield self.more
        if strategy not in STAYING and len(self.without_brokers.division.queues):
            yield self.without_brokers

    def pareto_best(self, loads: Mapping[str, Load]) -> dict[str, bool]:
        """Of each strategy whether it is Pareto-best, by its load of today.

        No other strategy is at least as good in queues with no reader or two readers, EXCESS by queues and moved
        queues, and better in one of them. A strategy is missing if one of these is not known. POP is missing because
        its clients share queues.
        """
        aims: dict[str, tuple[float, ...]] = {}
        for name, load in loads.items():
            moved = self.moves[name].total if name in self.moves else None
            excess = None if load.count is None else load.count.get("excess")
            if moved is not None and excess is not None:
                aims[name] = len(load.orphans), len(load.doubly_owned), rounded(excess, 6) or 0.0, moved
        return {name: not any(_is_better(other, own) for other in aims.values()) for name, own in aims.items()}

    def _moves(self, strategy: str) -> Moves:
        if strategy not in STRATEGIES:  # a class of the deployment's own is asked about what is there alone
            return Moves(None, None, dict.fromkeys(self.losses.losses))
        if self._all_read_all(strategy):
            every = int(np.count_nonzero(self.division.queues.is_business))
            fewer = every if self._loses_an_id else 0
            return Moves(None if self.fewer is None else fewer, every, dict.fromkeys(self.losses.losses, 0))
        return Moves(self._fewer(strategy), self._between(strategy, self.more), self._brokers(strategy))

    @property
    def _loses_an_id(self) -> bool:
        ids = [one.client_id for one in self.division.members.consumers]
        return ids[-1] not in ids[:-1]

    def _all_read_all(self, strategy: str) -> bool:
        """Whether every client pops every queue, whoever comes and goes."""
        if strategy != POP:
            return False
        members = self.division.members
        if members.has_readers_of_some:
            return False
        return bool(members.is_grpc.all()) or (
            not members.has_grpc and all(reads.pop_share_queue_num <= 0 for reads in self.division.group.business)
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
        return self.division.members.is_plain and not self.verdicts[strategy].dialects

    def _of_those_who_leave(self, strategy: str, change: Change) -> int:
        """How many of the queues that stay are owned today by a client that leaves."""
        leaves = np.ones(len(self.division.members.client_ids), bool)
        leaves[change.base_client] = False
        own = self.before[strategy]
        stays = np.zeros(len(self.division.queues), bool)
        stays[change.base_queue] = True
        return int(np.count_nonzero(leaves[own.client] & stays[own.queue]))

    def _between(self, strategy: str, change: Change) -> int | None:
        """Queues with other owners when the last client leaves, or when another one comes."""
        own, after = self.before[strategy], change.owners[strategy]
        # If the strategy throws afterwards, queues keep the owners that they have, except one that leaves.
        if own.unknown - (after.unknown if change is self.more else frozenset()):
            return None
        moves = change.differ(strategy)
        if after.unknown:
            moves = moves & ~np.isin(self.division.queues.topic, list(after.unknown))
        if change is self.fewer and not self._loses_an_id and strategy != POP:
            # A copy of an id leaves: what the id owns has a reader less.
            moves = moves.copy()
            moves[own.queue[own.client == len(self.division.members.client_ids) - 1]] = True
        return _business(self.division, moves)

    def moved(self, change: Change) -> dict[str, int | None]:
        """How many queues stay and get another owner, by strategy, if only some of the client ids are left."""
        if change.is_empty:
            return dict.fromkeys(self.strategies, None if len(change.division.queues) else 0)
        return {name: self._moved(name, change) for name in self.strategies}

    def _moved(self, strategy: str, change: Change) -> int | None:
        if self._all_read_all(strategy):
            some_leave = len(change.base_client) < len(self.division.members.client_ids)
            return int(np.count_nonzero(change.division.queues.is_business)) if some_leave else 0
        if self._leaves_a_ring(strategy):
            return self._of_those_who_leave(strategy, change)
        if self.before[strategy].unknown or change.owners[strategy].unknown:
            return None
        return _business(change.division, change.differ(strategy))

    def _brokers(self, strategy: str) -> Mapping[str, int | None]:
        losses, change = self.losses, self.without_brokers
        if strategy in STAYING or not len(change.division.queues):
            return dict.fromkeys(losses.losses, 0)
        own, after = self.before[strategy], change.owners[strategy]
        differ = change.differ(strategy)
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
