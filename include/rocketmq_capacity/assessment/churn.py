"""How many queues of a group get another owner when one client or one broker comes or goes, under each strategy."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.contracts.division import Division, Flags, Integers, Members
from rocketmq_capacity.contracts.owners import NOBODY, Owners
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
        known = [moved for moved in self.brokers.values() if moved is not None]
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
    """The queues that move if one client or one broker comes or goes, in a group that divides its queues."""

    group: "Group"

    @cached_property
    def losses(self) -> BrokerLosses:
        """The group without each of its brokers."""
        return BrokerLosses.of_each(self.group.division)

    @cached_property
    def fewer(self) -> Division | None:
        """The group without its last client; None if it has no other."""
        members = self.group.division.members
        if len(members) < 2:
            return None
        left = members.consumers[:-1]
        return self._of(members.alike(left, members.client_ids[:-1]) if members.is_plain else Members(left))

    @cached_property
    def more(self) -> Division:
        """The group with one more client, which is like the last one and sorts after it."""
        consumers = self.group.division.members.consumers
        last = consumers[-1]
        new = structs.replace(last, client_id=f"{last.client_id}~", consumer_index=len(consumers))
        return self._of(Members((*consumers, new)))

    @property
    def last_client(self) -> str:
        """The id of the client that leaves in ``fewer``."""
        return self.group.division.members.consumers[-1].client_id

    def _of(self, members: Members) -> Division:
        return Division(self.group.facts, self.group.division.queues, members)

    @cached_property
    def moves(self) -> dict[str, Moves]:
        """By strategy; none for one that does not apply."""
        if not self.group.is_clustering or not self.group.client_ids:
            return {}
        return {name: self._moves(name) for name in self.group.loads}

    def changes(self, strategy: str) -> Iterator[Division]:
        """The changed divisions that are compared with today's under a strategy."""
        if strategy not in STRATEGIES or self._all_read_all(strategy):
            return
        if self.fewer is not None and not self._leaves_a_ring(strategy):
            yield self.fewer
        yield self.more
        if strategy not in STAYING and len(self.losses.division.queues):
            yield self.losses.division

    def owners(self, strategy: str, division: Division) -> Owners:
        """The owners in a changed division; each is computed once."""
        key = strategy, id(division)
        if key not in self._owners:
            self.keep_owners(strategy, division, self.group.allocator.owners(strategy, division))
        return self._owners[key][1]

    def keep_owners(self, strategy: str, division: Division, owners: Owners) -> None:
        """Remember the owners in a changed division."""
        self._owners[strategy, id(division)] = division, owners

    @cached_property
    def _owners(self) -> dict[tuple[str, int], tuple[Division, Owners]]:
        # The division is kept with its owners: otherwise a later one could get the id() of one that is gone.
        return {}

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

    @cached_property
    def _differ_by_fewer(self) -> dict[str, Flags]:
        if self.fewer is None:
            return {}
        return self._differ([name for name in self._compared if not self._leaves_a_ring(name)], self.fewer)

    @cached_property
    def _differ_by_more(self) -> dict[str, Flags]:
        return self._differ(self._compared, self.more)

    @cached_property
    def _differ_by_losses(self) -> dict[str, Flags]:
        strategies = [name for name in self._compared if name not in STAYING]
        return self._differ(strategies, self.losses.division, self.losses.base_queue)

    @property
    def _compared(self) -> list[str]:
        """The strategies that apply, and whose owners after a change depend on the change."""
        return [name for name in self.group.loads if name in STRATEGIES and not self._all_read_all(name)]

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
        more = self._between(strategy, self.more, self._differ_by_more)
        return Moves(self._fewer(strategy), more, self._brokers(strategy))

    @property
    def _loses_an_id(self) -> bool:
        ids = [one.client_id for one in self.group.division.members.consumers]
        return ids[-1] not in ids[:-1]

    def _all_read_all(self, strategy: str) -> bool:
        """Whether every client pops every queue, whoever comes and goes."""
        members, facts = self.group.division.members, self.group.facts
        if strategy != POP or members.has_readers_of_some:
            return False
        return bool(members.is_grpc.all()) or (
            not members.has_grpc and all(reads.pop_share_queue_num <= 0 for reads in facts.business)
        )

    def _fewer(self, strategy: str) -> int | None:
        if self.fewer is None:
            return None
        own = self.group.owners(strategy)
        if self._leaves_a_ring(strategy):
            return int(np.count_nonzero(own.client == len(self.group.client_ids) - 1))
        return self._between(strategy, self.fewer, self._differ_by_fewer)

    def leaves_the_rest(self, strategy: str) -> bool:
        """Whether the queues that move when a client leaves are known without the owners afterwards."""
        return self._all_read_all(strategy) or self._leaves_a_ring(strategy)

    def _leaves_a_ring(self, strategy: str) -> bool:
        """Whether only the queues of the client that leaves move."""
        is_plain = self.group.division.members.is_plain
        return strategy == CONSISTENT_HASH and is_plain and not self.group.verdicts[strategy].dialects

    def _between(self, strategy: str, changed: Division, differ: Mapping[str, Flags]) -> int | None:
        """Queues with other owners among other clients; ``differ`` is of :meth:`_differ`."""
        before, after = self._before(strategy), self.owners(strategy, changed)
        # If the strategy throws afterwards, queues keep the owners that they have, except one that leaves.
        if before.owners.unknown - (after.unknown if changed is self.more else frozenset()):
            return None
        queues = self.group.division.queues
        moves = differ[strategy]
        if after.unknown:
            moves = moves & ~np.isin(queues.topic, list(after.unknown))
        if changed is self.fewer and not self._loses_an_id and strategy != POP:
            # A copy of an id leaves: what the id owns has a reader less.
            own, moves = before.owners, moves.copy()
            moves[own.queue[own.client == len(self.group.client_ids) - 1]] = True
        return int(np.count_nonzero(moves[self.group.weights.queue]))

    def _before(self, strategy: str) -> "_Owned":
        if strategy not in self._owned:
            owners = self.group.owners(strategy)
            self._owned[strategy] = _Owned(owners, owners.single(len(self.group.division.queues)))
        return self._owned[strategy]

    @cached_property
    def _owned(self) -> dict[str, "_Owned"]:
        return {}

    def moved_by_room(self, losses: BrokerLosses) -> dict[str, int | None]:
        """How many queues stay and get another owner if the brokers and clients of a machine room are lost."""
        strategies = list(self.group.loads)
        if not len(losses.division.queues):
            return dict.fromkeys(strategies, 0)
        if not len(losses.division.members):
            return dict.fromkeys(strategies)
        moves = self._moves_among(strategies, losses.division, losses.base_queue)
        return {name: None if each is None else int(np.count_nonzero(each)) for name, each in moves.items()}

    def moved_without(self, client_id: str, left: Division) -> dict[str, int | None]:
        """How many queues get another owner if the consumers of a client id leave.

        Args:
            client_id: the id.
            left: all queues, and the consumers that stay.
        """
        compared = [name for name in self.group.loads if not self.leaves_the_rest(name)]
        moves, business = self._moves_among(compared, left, None), self.group.weights.queue
        found: dict[str, int | None] = {}
        for name in self.group.loads:
            if self._all_read_all(name):
                found[name] = len(business)
            elif self._leaves_a_ring(name):
                own = self.group.owners(name)
                found[name] = int(np.count_nonzero(own.client == self.group.client_ids.index(client_id)))
            else:
                each = moves[name]
                found[name] = None if each is None else int(np.count_nonzero(each[business]))
        return found

    def _moves_among(
        self, strategies: Sequence[str], left: Division, base_queue: Integers | None
    ) -> dict[str, Flags | None]:
        """As :meth:`_differ`, if only some of the client ids are left; None if owners before or after are unknown."""
        known = [
            name for name in strategies if not self._before(name).owners.unknown and not self.owners(name, left).unknown
        ]
        stays = set(left.members.client_ids)
        clients = np.flatnonzero([client_id in stays for client_id in self.group.client_ids])
        return {**dict.fromkeys(strategies), **self._differ(known, left, base_queue, clients)}

    def _differ(
        self,
        strategies: Sequence[str],
        changed: Division,
        base_queue: Integers | None = None,
        clients: Integers | None = None,
    ) -> dict[str, Flags]:
        """For each queue after a change whether it has other owners than before, by strategy.

        Args:
            strategies: strategies that apply; they are compared together, because each call of numpy costs time.
            changed: the division after the change.
            base_queue: for each queue after the change its index before; None: it is the same.
            clients: for each client id after the change its index before; None: it is the same.
        """
        each = {name: (self._before(name), self.owners(name, changed)) for name in strategies}
        single = {name: (before.single, after.single(len(changed.queues))) for name, (before, after) in each.items()}
        pairs = [(name, was, now) for name, (was, now) in single.items() if was is not None and now is not None]
        found: dict[str, Flags] = {}
        if pairs:
            names, befores, afters = zip(*pairs, strict=True)
            was, now = np.stack(befores), np.stack(afters)
            was = was if base_queue is None else was[:, base_queue]
            now = now if clients is None else np.append(clients, NOBODY)[now]
            found.update(zip(names, was != now, strict=True))
        for name, (before, after) in each.items():
            if name not in found:
                base = np.arange(len(changed.queues)) if base_queue is None else base_queue
                own = after if clients is None else replace(after, client=clients[after.client], owner=None)
                found[name] = _pairs_differ(before.owners, own, base)
        return found

    def _brokers(self, strategy: str) -> Mapping[str, int | None]:
        losses = self.losses
        if strategy in STAYING or not len(losses.division.queues):
            return dict.fromkeys(losses.losses, 0)
        before, after = self._before(strategy), self.owners(strategy, losses.division)
        differ = self._differ_by_losses[strategy]
        if not before.owners.unknown and not after.unknown:
            return dict(zip(losses.losses, losses.per_loss(differ).tolist(), strict=True))
        # Where the strategy throws afterwards, queues keep the owners that they have.
        pair = losses.division.queues.topic
        throws = np.zeros(len(losses.loss), bool)
        throws[list(after.unknown)] = True
        moved = losses.per_loss(differ & ~throws[pair])
        unknown = np.isin(losses.base_topic, list(before.owners.unknown)) & ~throws
        is_unknown = losses.touched(unknown & (np.bincount(pair, minlength=len(unknown)) > 0))
        return {name: None if is_unknown[index] else int(moved[index]) for index, name in enumerate(losses.losses)}


def _is_better(other: tuple[float, ...], own: tuple[float, ...]) -> bool:
    """Whether ``other`` is at least as good in every figure and better in one; less is better."""
    return other != own and all(theirs <= ours for theirs, ours in zip(other, own, strict=True))


def _pairs_differ(before: Owners, after: Owners, base_queue: Integers) -> Flags:
    """For each queue after a change whether it has other owners than before.

    Args:
        before: the owners before.
        after: the owners after the change; client ids have the same indexes.
        base_queue: for each queue after the change its index before.
    """
    clients = int(max(before.client.max(initial=0), after.client.max(initial=0))) + 1
    order = np.argsort(before.queue, kind="stable")
    queue, client = before.queue[order], before.client[order]
    begin, end = np.searchsorted(queue, base_queue), np.searchsorted(queue, base_queue, "right")
    number = end - begin
    entry = np.repeat(np.arange(len(base_queue)), number)
    at = np.repeat(begin, number) + np.arange(len(entry)) - np.repeat(np.cumsum(number) - number, number)
    differ = np.setxor1d(entry * clients + client[at], after.queue * clients + after.client, assume_unique=True)
    flags = np.zeros(len(base_queue), bool)
    flags[differ // clients] = True
    return flags


@dataclass(frozen=True)
class _Owned:
    """Who owns what of the queues before a change.

    Attributes:
        owners: client ids by queue.
        single: of each queue the index of its owner, or NOBODY; None where one has several.
    """

    owners: Owners
    single: Integers | None
