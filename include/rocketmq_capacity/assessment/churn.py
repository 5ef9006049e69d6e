"""How many queues of a group get another owner when one client or one broker comes or goes, under each strategy."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.change import GroupAfterChange, Moved, moved_queues
from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import Verdict
from rocketmq_capacity.model.together import Together
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
        numbers = self.brokers.values()
        return None if None in numbers else max([number or 0 for number in numbers], default=0)

    @property
    def total(self) -> int | None:
        """The sum of all three, by which strategies are compared."""
        worst = self.worst_broker
        if self.fewer is None or self.more is None or worst is None:
            return None
        return self.fewer + self.more + worst


UNKNOWN: Final = Moves(None, None, {"": None})
"""For a group without clients."""


def _moves(churns: "Sequence[Churn]") -> "list[dict[str, Moves]]":
    """By strategy; none for one that does not apply."""
    asked = [churn.changes() for churn in churns]
    counts = moved_queues(list(chain.from_iterable(of_churn.items() for of_churn in asked)))
    moves = []
    for churn, of_churn in zip(churns, asked, strict=True):
        moved = dict(zip(of_churn, counts, strict=False))
        moves.append({strategy: churn.moves_under(strategy, moved) for strategy in churn.strategies})
    return moves


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
    def without_brokers(self) -> GroupAfterChange:
        """The group without each of its brokers, as one change."""
        return GroupAfterChange.of_losses(self.before, self.losses, np.arange(len(self.division.members.client_ids)))

    @cached_property
    def fewer(self) -> GroupAfterChange | None:
        """The group without its last client; None if it has no other."""
        consumers = self.division.members.consumers
        return self._of(consumers[:-1]) if len(consumers) > 1 else None

    @cached_property
    def more(self) -> GroupAfterChange:
        """The group with one more client, which is like the last one and sorts after it."""
        consumers = self.division.members.consumers
        last = consumers[-1]
        new = structs.replace(last, client_id=f"{last.client_id}~", consumer_index=len(consumers))
        return self._of((*consumers, new))

    @property
    def last_client(self) -> str:
        """The id of the client that leaves in ``fewer``."""
        return self.division.members.consumers[-1].client_id

    def _of(self, consumers: tuple[Consumer, ...]) -> GroupAfterChange:
        """Other consumers, each like one of today's; a new one has an id of its own."""
        members = self.division.members
        ids = [one.client_id for one in consumers]
        now = members.alike(consumers, ids) if members.is_plain else Members(consumers)
        loses_a_copy = len(consumers) < len(members) and not self._loses_an_id
        thinned = len(members.client_ids) - 1 if loses_a_copy else None
        return GroupAfterChange.of_members(self.before, now, np.arange(len(now.client_ids)), thinned)

    moves = Together(_moves)

    def changes(self) -> dict[GroupAfterChange, list[str]]:
        """The changes whose owners are compared with today's, each with the strategies."""
        names: list[str] = [name for name in self.strategies if name in STRATEGIES and not self._all_read_all(name)]
        if not names:
            return {}
        changes = {self.more: names}
        if self.fewer is not None:
            changes[self.fewer] = [name for name in names if name not in self.leave_the_rest]
        if len(self.without_brokers.base_queue):
            changes[self.without_brokers] = [name for name in names if name not in STAYING]
        return changes

    def pareto_best(self, loads: Mapping[str, GroupLoad]) -> dict[str, bool]:
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

    def moves_under(self, strategy: str, moved: Mapping[GroupAfterChange, Mapping[str, Moved]]) -> Moves:
        """What moves under a strategy; ``moved`` is what each of :meth:`changes` moves."""
        if strategy not in STRATEGIES:  # a class of the deployment's own is asked about what is there alone
            return Moves(None, None, dict.fromkeys(self.losses.losses))
        if self._all_read_all(strategy):
            every = int(np.count_nonzero(self.division.queues.is_business))
            fewer = every if self._loses_an_id else 0
            return Moves(None if self.fewer is None else fewer, every, dict.fromkeys(self.losses.losses, 0))
        (more,), unknown = moved[self.more][strategy]
        is_unknown = bool(self.before[strategy].unknown - unknown)
        return Moves(self._fewer(strategy, moved), None if is_unknown else more, self._brokers(strategy, moved))

    @property
    def _loses_an_id(self) -> bool:
        return int(self.division.members.copies[-1]) == 1

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

    def _fewer(self, strategy: str, moved: Mapping[GroupAfterChange, Mapping[str, Moved]]) -> int | None:
        if self.fewer is None:
            return None
        if strategy in self.leave_the_rest:
            return self._of_those_who_leave(strategy, self.fewer)
        return None if self.before[strategy].unknown else moved[self.fewer][strategy][0][0]

    @cached_property
    def leave_the_rest(self) -> frozenset[str]:
        """The strategies of which is known without the owners afterwards what moves when a client leaves."""
        names = self.strategies
        return frozenset(name for name in names if self._all_read_all(name) or self._leaves_a_ring(name))

    def _leaves_a_ring(self, strategy: str) -> bool:
        """Whether only the queues of the client that leaves move."""
        if strategy != CONSISTENT_HASH:
            return False
        return self.division.members.is_plain and not self.verdicts[strategy].dialects

    def _of_those_who_leave(self, strategy: str, change: GroupAfterChange) -> int:
        """How many of the queues that stay are owned today by a client that leaves."""
        leaves = np.ones(len(self.division.members.client_ids), bool)
        leaves[change.base_client] = False
        owners = self.before[strategy]
        stays = np.zeros(len(self.division.queues), bool)
        stays[change.base_queue] = True
        return int(np.count_nonzero(leaves[owners.client] & stays[owners.queue]))

    def moved(self, change: GroupAfterChange, moved: Mapping[str, Moved]) -> dict[str, int | None]:
        """How many queues stay and get another owner, by strategy, if only some of the client ids are left.

        Args:
            change: what is left.
            moved: what has other owners, for each strategy that is not in ``leave_the_rest``.
        """
        if change.is_empty:
            return dict.fromkeys(self.strategies, None if len(change.division.queues) else 0)
        return {name: self._moved(name, change, moved) for name in self.strategies}

    def _moved(self, strategy: str, change: GroupAfterChange, moved: Mapping[str, Moved]) -> int | None:
        if strategy not in self.leave_the_rest:
            (number,), unknown = moved[strategy]
            return None if self.before[strategy].unknown or unknown else number
        if self._all_read_all(strategy):
            some_leave = len(change.base_client) < len(self.division.members.client_ids)
            return int(np.count_nonzero(change.division.queues.is_business)) if some_leave else 0
        return self._of_those_who_leave(strategy, change)

    def _brokers(
        self, strategy: str, moved: Mapping[GroupAfterChange, Mapping[str, Moved]]
    ) -> Mapping[str, int | None]:
        losses, change = self.losses, self.without_brokers
        if change not in moved or strategy not in moved[change]:
            return dict.fromkeys(losses.losses, 0)
        counts, unknown_after = moved[change][strategy]
        numbers = zip(losses.losses, counts, strict=True)
        owners = self.before[strategy]
        if not owners.unknown:
            return dict(numbers)
        # Where the strategy throws afterwards, queues keep the owners that they have.
        pair = change.division.queues.topic
        throws = np.zeros(len(losses.loss), bool)
        throws[list(unknown_after)] = True
        unknown = np.isin(losses.base_topic, list(owners.unknown)) & ~throws
        is_unknown = losses.touched(unknown & (np.bincount(pair, minlength=len(unknown)) > 0))
        return {name: None if is_unknown[index] else number for index, (name, number) in enumerate(numbers)}


def _is_better(other: tuple[float, ...], reference: tuple[float, ...]) -> bool:
    """Whether ``other`` is at least as good in every figure and better in one; less is better."""
    return other != reference and all(theirs <= ours for theirs, ours in zip(other, reference, strict=True))
