"""The stage: who owns which queues of a group, under each strategy."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

import numpy as np

from rocketmq_capacity.allocation.dialect import dialect_of, dialects_of, id_with_several_dialects, is_usual
from rocketmq_capacity.allocation.registry import Strategy, strategy_of
from rocketmq_capacity.allocation.rows import AllocationRows, rows_of_shares, with_proxied_rows
from rocketmq_capacity.allocation.shares import everyone, owners_of_parts, seen_from, shares_of_parts
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.members import Members
from rocketmq_capacity.model.owners import NO_OWNERS, NOBODY, Owners, Shares, Verdict, with_proxied
from rocketmq_capacity.model.queues import NOTHING
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BROADCASTING, BUSINESS, JAVA, POP, Dialect
from rocketmq_capacity.wording import MODEL_UNKNOWN, NO_STRATEGY, UNSEEN_CLIENTS

NO_CLIENTS: Final = "the group has no clients (cidAll is null or cidAll empty)"
PROXIED: Final = "a Proxy assigns the queues of gRPC clients, which run no strategy of their own"
APPLICABLE: Final = Verdict(is_applicable=True)
"""Of nearly every strategy and group."""
NO_QUEUES: Final = "none of its topics has a readable queue (mqAll is null or mqAll empty)"


@dataclass(frozen=True, slots=True)
class Strategies:
    """The strategies under one policy; an :class:`~rocketmq_capacity.model.owners.Allocator`."""

    policy: Policy

    def verdict(self, strategy: str, division: Division) -> Verdict:
        """Whether a strategy allocates the queues of a group.

        RocketMQ allocates one topic after the other. If a strategy throws for a topic, it continues with the next.
        Source: RebalanceImpl.rebalanceByTopic, rocketmq-all-5.3.3.
        """
        return self._judged(strategy, division)[0]

    def _judged(self, strategy: str, division: Division) -> "tuple[Verdict, Used]":
        """The verdict, and the implementations that the listed consumers run."""
        usual = strategy_of(strategy)
        if division.is_plain and (not usual.dialects or is_usual(division.members)):
            used: Used = {JAVA: usual}
            refusal = None if usual.refusal is None else usual.refusal(division, self.policy)
            if refusal is None and usual.throws is None:
                return APPLICABLE, used
        else:
            used = _implementations(usual, division.among_listed.members)
            refusal = self._refusal(strategy, division, used)
        if refusal is not None:
            return Verdict(is_applicable=False, reason=refusal), used
        thrown: dict[int, str] = {}
        for implementation in used.values():
            if implementation.throws is not None:
                thrown |= implementation.throws(division, self.policy)
        dialects = tuple(sorted(used)) if used.keys() != {JAVA} else ()
        if not thrown:
            return (Verdict(is_applicable=True, dialects=dialects) if dialects else APPLICABLE), used
        if len(thrown) == len(division.queues.topics):
            return Verdict(is_applicable=False, reason=_thrown(thrown, division)), used
        return Verdict(True, frozenset(thrown), _thrown(thrown, division), dialects), used

    def _refusal(self, strategy: str, division: Division, used: "Used") -> str | None:
        """Why the strategy cannot run for any topic of the group, or None."""
        if not division.group.is_clustering:
            return NO_STRATEGY if division.group.message_model else MODEL_UNKNOWN
        if not len(division.members):
            unseen = division.group.unseen_clients
            return NO_CLIENTS if unseen is None else UNSEEN_CLIENTS[unseen]
        if not len(division.queues):
            return NO_QUEUES
        listed = division.among_listed
        if not len(listed.members):
            return None if strategy == POP else PROXIED
        if len(used) > 1 and (client_id := id_with_several_dialects(listed.members)) is not None:
            return f"consumers of different libraries share the client id {client_id}, and compute it differently"
        for implementation in used.values():
            refuses = implementation.refusal
            if refuses is not None and (refusal := refuses(listed, self.policy)) is not None:
                return refusal
        return None

    def owners(self, strategy: str, division: Division) -> Owners:
        """Who owns which business queue of a clustering group; unknown for topics that are not allocated."""
        return self.owners_of_each([(strategy, division)])[0]

    def owners_of_each(self, asked: Sequence[tuple[str, Division]]) -> list[Owners]:
        """The owners of several divisions, each under a strategy."""
        judged = [self._judged(strategy, division) for strategy, division in asked]
        owners = [NO_OWNERS] * len(asked)
        for numbers, listed, shares in self._shares(asked, judged):
            for number, part_owners in zip(numbers, owners_of_parts(asked[numbers[0]][0], listed, shares), strict=True):
                owners[number] = part_owners
        return [
            own if verdict is APPLICABLE and not division.members.has_grpc else _completed(verdict, division, own)
            for (_, division), (verdict, _), own in zip(asked, judged, owners, strict=True)
        ]

    def single_owners(self, asked: Sequence[tuple[str, Division]]) -> Iterator[tuple[list[int], Integers]]:
        """The owners where each queue has one at most, as :class:`~rocketmq_capacity.model.owners.Allocator` says."""
        plain = [number for number, (_, division) in enumerate(asked) if division.is_plain]
        judged = [self._judged(*asked[number]) for number in plain]
        is_whole = [verdict is APPLICABLE for verdict, _ in judged]
        numbers = list(compress(plain, is_whole))
        judged = list(compress(judged, is_whole))
        for part, joined, shares in self._shares([asked[number] for number in numbers], judged):
            if shares.owner is not None:
                is_owned = shares.owner != NOBODY
                yield (
                    [numbers[index] for index in part],
                    np.where(is_owned, shares.owner - joined.first_place, NOBODY),
                )

    def rows(self, strategy: str, division: Division) -> AllocationRows | None:
        """The rows of ``allocation`` of a clustering group under a strategy; None if the strategy cannot run."""
        return self.rows_of_each([(strategy, division)])[0]

    def rows_of_each(self, asked: Sequence[tuple[str, Division]]) -> list[AllocationRows | None]:
        """The rows of several divisions, each under a strategy; None if the strategy cannot run."""
        judged = [self._judged(strategy, division) for strategy, division in asked]
        of_divisions = [
            AllocationRows(strategy, division, NOTHING, NOTHING, NOTHING) if verdict.is_applicable else None
            for (strategy, division), (verdict, _) in zip(asked, judged, strict=True)
        ]
        for numbers, listed, shares in self._shares(asked, judged):
            for number, part, part_shares in zip(numbers, listed.parts, shares_of_parts(listed, shares), strict=True):
                of_divisions[number] = rows_of_shares(asked[number][0], part, part_shares)
        return [
            with_proxied_rows(rows, division) if rows is not None and division.members.has_grpc else rows
            for (_, division), rows in zip(asked, of_divisions, strict=True)
        ]

    def _shares(
        self, asked: Sequence[tuple[str, Division]], judged: "Sequence[tuple[Verdict, Used]]"
    ) -> Iterator[tuple[list[int], Division, Shares]]:
        """What the listed consumers get where a strategy runs: the numbers of divisions, these joined, and the shares.

        Divisions whose consumers all compute alike are joined: numpy's calls cost more than their sums, and are made
        once for all of them.
        """
        alike: dict[tuple[str, Dialect], list[int]] = {}
        all_listed = [division.among_listed for _, division in asked]
        for number, ((strategy, _), listed, (verdict, used)) in enumerate(zip(asked, all_listed, judged, strict=True)):
            if not verdict.is_applicable or not listed.members.consumers:
                continue
            (dialect, implementation), *others = used.items()
            if others or verdict.throws_for or not implementation.can_join:
                yield [number], listed, self._of_all(used, listed, verdict)
            else:
                alike.setdefault((strategy, dialect), []).append(number)
        joined: dict[tuple[Division, ...], Division] = {}
        for (_, dialect), numbers in alike.items():
            divisions = [all_listed[number] for number in numbers]
            key = tuple(divisions)  # several strategies divide the same
            if key not in joined:
                joined[key] = divisions[0] if len(divisions) == 1 else Division.join(divisions)
            yield numbers, joined[key], judged[numbers[0]][1][dialect].shares(joined[key], self.policy)

    def dialect(self, strategy: str, consumer: Consumer) -> Dialect:
        """The library by whose code a consumer computes a strategy; JAVA if its own library does not differ."""
        dialect = dialect_of(consumer.language, consumer.version)
        return dialect if dialect in strategy_of(strategy).dialects else JAVA

    def _of_all(self, used: "Used", listed: Division, verdict: Verdict) -> Shares:
        """The shares of the listed consumers in the allocated topics, each as its own library computes it."""
        parts = [one.shares(listed, self.policy) for one in used.values()]
        if len(parts) == 1:
            shares = parts[0]
        else:
            dialect_of_place = np.array([_own(dialect, used) for dialect in dialects_of(listed.members)])
            keep = [(dialect_of_place == dialect)[part.place] for dialect, part in zip(used, parts, strict=True)]
            shares = Shares(
                np.concatenate([part.queue[own] for part, own in zip(parts, keep, strict=True)]),
                np.concatenate([part.place[own] for part, own in zip(parts, keep, strict=True)]),
            )
        return shares.without(verdict.throws_for, listed.queues) if verdict.throws_for else shares

    def reported(self, strategy: str, division: Division) -> set[tuple[int, Queue]]:
        """The queues that clients would report: pairs of a client id's index and a queue.

        The queue id is -1 for a client that pops all queues of a broker.
        """
        rows = self.rows(strategy, division)
        if rows is None:
            return set()
        business = {reads.topic.topic for reads in division.queues.topics if reads.topic.kind == BUSINESS}
        return {(client, queue) for client, queue in rows.named() if queue.topic in business}


Used = Mapping[Dialect, Strategy]
"""The implementations of a strategy that the consumers of a group run, by dialect."""


def _implementations(usual: Strategy, members: Members) -> Used:
    """The implementations of a strategy that these consumers run, by dialect; JAVA if a dialect does not differ."""
    return {
        one: usual.dialects.get(one, usual)
        for one in sorted({_own(dialect, usual.dialects) for dialect in dialects_of(members)})
    }


def _own(dialect: Dialect, computed: Collection[Dialect]) -> Dialect:
    """The dialect by which a consumer computes: its own if it is one of ``computed``, else JAVA."""
    return dialect if dialect in computed else JAVA


def _business_topics(division: Division) -> frozenset[int]:
    """The indexes of the business topics that have queues."""
    return frozenset(topic for topic, reads in enumerate(division.queues.topics) if reads.topic.kind == BUSINESS)


def _thrown(thrown: Mapping[int, str], division: Division) -> str:
    """The messages of a strategy that throws, each with the topics for which it throws."""
    topics: dict[str, list[str]] = {}
    for topic in sorted(thrown):
        topics.setdefault(thrown[topic], []).append(division.queues.topics[topic].topic.topic)
    return "; ".join(f"{message} (throws for {', '.join(names)})" for message, names in topics.items())


def _completed(verdict: Verdict, division: Division, owners: Owners) -> Owners:
    """The owners among the listed consumers, with unknown topics, and with the gRPC consumers of the group."""
    if not verdict.is_applicable:
        return replace(NO_OWNERS, unknown=_business_topics(division))
    if verdict.throws_for:
        owners = replace(owners, unknown=verdict.throws_for & _business_topics(division))
    if division.members.has_grpc and len(division.among_listed.members):
        owners = seen_from(division, owners)
    return with_proxied(owners, division)


def rows_of(division: Division, strategies: Strategies) -> list[AllocationRows]:
    """The rows of one group; see :func:`rows_of_each`."""
    return rows_of_each([division], strategies)[0]


def rows_of_each(divisions: Sequence[Division], strategies: Strategies) -> list[list[AllocationRows]]:
    """The rows of each group, one :class:`AllocationRows` for each strategy of the policy that can run.

    There is a row for each queue and each consumer that takes it. Broadcasting groups have the strategy BROADCASTING.
    """
    of_divisions: list[list[AllocationRows]] = [[] for _ in divisions]
    asked: list[tuple[str, Division]] = []
    of_group: list[list[AllocationRows]] = []
    for division, rows in zip(divisions, of_divisions, strict=True):
        if not len(division.members) or not len(division.queues):
            continue
        if division.group.is_broadcasting:
            rows.append(rows_of_shares(BROADCASTING, division, everyone(division)))
            continue
        # A group with only gRPC consumers gets what the Proxy assigns, whatever strategies the policy names.
        is_proxied = not len(division.among_listed.members)
        for strategy in (POP,) if is_proxied else strategies.policy.strategies_of(division.group.consumer_group):
            asked.append((strategy, division))
            of_group.append(rows)
    for rows, computed in zip(of_group, strategies.rows_of_each(asked), strict=True):
        if computed is not None:
            rows.append(computed)
    return of_divisions
