"""The stage: who owns which queues of a group, under each strategy."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Final

import numpy as np
import pyarrow as pa

from rocketmq_capacity.allocation.dialect import dialect_of, dialects_of, id_with_several_dialects, is_usual
from rocketmq_capacity.allocation.registry import Strategy, strategy_of
from rocketmq_capacity.model.division import NOTHING, Division, Flags, Integers, Members
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.owners import NO_OWNERS, NOBODY, Owners, Shares, Verdict, with_proxied
from rocketmq_capacity.model.ragged import lengths, within
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BROADCASTING, BUSINESS, CONFIG, EVERY_QUEUE, JAVA, POP, Dialect
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

    def rows(self, strategy: str, division: Division) -> "Rows | None":
        """The rows of ``allocation`` of a clustering group under a strategy; None if the strategy cannot run."""
        return self.rows_of_each([(strategy, division)])[0]

    def rows_of_each(self, asked: "Sequence[tuple[str, Division]]") -> "list[Rows | None]":
        """The rows of several divisions, each under a strategy; None if the strategy cannot run."""
        judged = [self._judged(strategy, division) for strategy, division in asked]
        of_divisions = [
            Rows(strategy, division, NOTHING, NOTHING, NOTHING) if verdict.is_applicable else None
            for (strategy, division), (verdict, _) in zip(asked, judged, strict=True)
        ]
        for numbers, listed, shares in self._shares(asked, judged):
            for number, part, part_shares in zip(numbers, listed.parts, shares_of_parts(listed, shares), strict=True):
                of_divisions[number] = _rows(asked[number][0], part, part_shares)
        return [
            _with_proxied_rows(rows, division) if rows is not None and division.members.has_grpc else rows
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


def owners_of_parts(strategy: str, division: Division, shares: Shares) -> list[Owners]:
    """For each part of a division its shares by client id, only of business topics, without those that nobody takes.

    Args:
        strategy: its name; CONFIG may list a queue twice, and POP may give it to several clients.
        division: the queues and consumers that were divided.
        shares: the result of the strategy.
    """
    queues = division.queues
    queue, place = _with_popped(division, shares) if shares.popped else (shares.queue, shares.place)
    if not queues.is_all_business:
        keep = queues.is_business[queue]
        queue, place = queue[keep], place[keep]
    single: list[Integers | None] = [None] * len(division.parts)
    if shares.owner is not None:
        is_owned = (shares.owner != NOBODY) & queues.is_business
        owner = np.where(is_owned, shares.owner - division.first_place, NOBODY)
        ends = division.ends.tolist()
        single = [owner[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]
    is_plain = strategy != CONFIG and not shares.strangers
    return [
        Owners(own, by, is_popped=strategy == POP, owner=owner)
        if is_plain and part.members.is_plain
        else _taken(strategy, part, Shares(own, by, strangers=shares.strangers))
        for part, (own, by), owner in zip(division.parts, _by_part(division, queue, place), single, strict=True)
    ]


def _taken(strategy: str, division: Division, shares: Shares) -> Owners:
    """The owners where ids have copies, clients read some topics only, or the strategy gives what does not exist."""
    queues, members = division.queues, division.members
    queue, place = shares.queue, shares.place
    if division.taken is not None:
        keep = division.taken[queues.topic[queue], place] > 0
        queue, place = queue[keep], place[keep]
    client = members.client[place]
    strangers = {
        (int(members.client[at]), name)
        for at, topic, name in shares.strangers
        if queues.topics[topic].topic.kind == BUSINESS and _takers(division, topic)[at]
    }
    if strategy == CONFIG:  # a client owns a queue once, also if the policy lists it twice
        queue, client = np.unique(np.stack([queue, client]), axis=1)
    return Owners(queue, client, tuple(sorted(strangers)), is_popped=strategy == POP)


def _with_popped(division: Division, shares: Shares) -> tuple[Integers, Integers]:
    """The shares together with the queues that all consumers of their topic pop: queues and places."""
    is_popped = np.zeros(len(division.queues.topics), bool)
    is_popped[list(shares.popped)] = True
    popped = np.flatnonzero(is_popped[division.queues.topic])
    readers = division.consumers[popped]
    place = within(readers) + np.repeat(division.first_place[popped], readers)
    return np.concatenate([shares.queue, np.repeat(popped, readers)]), np.concatenate([shares.place, place])


def shares_of_parts(division: Division, shares: Shares) -> Iterator[Shares]:
    """The shares of each part of a division."""
    if not division.joined:
        yield shares
        return
    ends = np.cumsum(lengths([part.queues.topics for part in division.parts]))
    popped = np.split(np.array(shares.popped, np.int64), np.searchsorted(shares.popped, ends))
    parts = zip(_by_part(division, shares.queue, shares.place), popped, [0, *ends.tolist()], strict=False)
    for (queue, place), topics, first in parts:
        yield Shares(queue, place, tuple((topics - first).tolist()))


def _by_part(division: Division, queue: Integers, place: Integers) -> list[tuple[Integers, Integers]]:
    """Queues of a joined division and their places by part; both count from the part's first one."""
    part = division.part[queue]
    if (part[1:] < part[:-1]).any():  # POP does not give all queues in order
        order = np.argsort(part, kind="stable")
        queue, place, part = queue[order], place[order], part[order]
    in_part, client = division.in_part[queue], place - division.first_place[queue]
    ends = np.searchsorted(part, np.arange(len(division.parts)), "right").tolist()
    return [(in_part[begin:end], client[begin:end]) for begin, end in zip([0, *ends], ends, strict=False)]


def _completed(verdict: Verdict, division: Division, owners: Owners) -> Owners:
    """The owners among the listed consumers, with unknown topics, and with the gRPC consumers of the group."""
    if not verdict.is_applicable:
        return replace(NO_OWNERS, unknown=_business_topics(division))
    if verdict.throws_for:
        owners = replace(owners, unknown=verdict.throws_for & _business_topics(division))
    if division.members.has_grpc and len(division.among_listed.members):
        owners = _seen_from(division, owners)
    return with_proxied(owners, division)


def _seen_from(division: Division, owners: Owners) -> Owners:
    """The owners among the listed consumers, as owners among all of the group's client ids.

    Nobody takes the share of a gRPC consumer in the list: its Proxy assigns it other queues.
    """
    index, takes = _client_index(division), _takes(division)
    strangers = tuple((int(index[client]), queue) for client, queue in owners.strangers if takes[client])
    keep = takes[owners.client]
    is_popped = owners.is_popped if isinstance(owners.is_popped, bool) else owners.is_popped[keep]
    return Owners(owners.queue[keep], index[owners.client[keep]], strangers, is_popped, owners.unknown)


def _takes(division: Division) -> Flags:
    """Whether each client id of the listed consumers takes its share; one entry for each id."""
    members = division.among_listed.members
    return ~members.is_grpc[members.first]


def _client_index(division: Division) -> Integers:
    """The index among all of the group's ids of each client id of the listed consumers."""
    index = {client_id: number for number, client_id in enumerate(division.members.client_ids)}
    return np.array([index[client_id] for client_id in division.among_listed.members.client_ids], np.int64)


def _takers(division: Division, topic: int) -> Integers:
    """The number of consumers that take each place's share of a topic; one entry for each place."""
    return division.members.takers if division.taken is None else division.taken[topic]


@dataclass(frozen=True, slots=True)
class Rows:
    """Rows of the dataset ``allocation`` of one group and strategy, as indexes.

    Attributes:
        strategy: its name, or BROADCASTING.
        division: the queues and consumers that the indexes are of.
        place: each row's index in ``division.queues.places``: its topic and broker.
        queue_id: each row's queue id, or :data:`~rocketmq_capacity.vocabulary.EVERY_QUEUE`.
        client: each row's index of the client id.
        strangers: rows of queues that do not exist: the index of the client id, and the queue.
    """

    strategy: str
    division: Division
    place: Integers
    queue_id: Integers
    client: Integers
    strangers: tuple[tuple[int, Queue], ...] = ()

    def named(self) -> Iterator[tuple[int, Queue]]:
        """Each row's index of the client id, and its queue."""
        queues = self.division.queues
        of_place = queues.topic_of_place.tolist()
        columns = (column.tolist() for column in (self.place, self.queue_id, self.client))
        for place, queue_id, client in zip(*columns, strict=True):
            at, topic = queues.places[place], queues.topics[of_place[place]].topic
            yield client, Queue(topic.topic, at.broker_name, queue_id)
        yield from self.strangers


def _with_proxied_rows(rows: Rows, division: Division) -> Rows:
    """The rows of the listed consumers, and those of gRPC consumers, with queue -1 for all queues of a broker.

    For an orderly group the Proxy names the queues one by one.
    """
    queues = division.queues
    queue, place = division.proxied
    queue_id = queues.queue_id[queue]
    if not division.group.is_orderly:
        is_first = queue_id == 0
        queue, place = queue[is_first], place[is_first]
        queue_id = np.full(len(queue), EVERY_QUEUE)
    if not len(division.among_listed.members):
        return Rows(rows.strategy, division, queues.place[queue], queue_id, division.members.client[place])
    index, takes = _client_index(division), _takes(division)
    keep = takes[rows.client]
    return Rows(
        rows.strategy,
        division,
        np.concatenate([rows.place[keep], queues.place[queue]]),
        np.concatenate([rows.queue_id[keep], queue_id]),
        np.concatenate([index[rows.client[keep]], division.members.client[place]]),
        tuple((int(index[client]), name) for client, name in rows.strangers if takes[client]),
    )


def rows_of(division: Division, strategies: Strategies) -> list[Rows]:
    """The rows of one group; see :func:`rows_of_each`."""
    return rows_of_each([division], strategies)[0]


def rows_of_each(divisions: Sequence[Division], strategies: Strategies) -> list[list[Rows]]:
    """The rows of each group, one :class:`Rows` for each strategy of the policy that can run.

    There is a row for each queue and each consumer that takes it. Broadcasting groups have the strategy BROADCASTING.
    """
    of_divisions: list[list[Rows]] = [[] for _ in divisions]
    asked: list[tuple[str, Division]] = []
    of_group: list[list[Rows]] = []
    for division, rows in zip(divisions, of_divisions, strict=True):
        if not len(division.members) or not len(division.queues):
            continue
        if division.group.is_broadcasting:
            rows.append(_rows(BROADCASTING, division, _everyone(division)))
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


def _everyone(division: Division) -> Shares:
    """The shares of broadcasting: every consumer gets every queue."""
    queues, places = len(division.queues), division.members.first
    return Shares(np.repeat(np.arange(queues), len(places)), np.tile(places, queues))


def _rows(strategy: str, division: Division, shares: Shares) -> Rows:
    queues, members = division.queues, division.members
    queue, place = shares.queue, shares.place
    if division.taken is not None:
        times = division.taken[queues.topic[queue], place]
        queue, place = np.repeat(queue, times), np.repeat(place, times)
    of_place, client = [queues.place[queue]], [members.client[place]]
    is_popped = set(shares.popped)
    for index, topic in enumerate(queues.topic_of_place.tolist() if is_popped else ()):
        if topic in is_popped:
            client.append(np.repeat(members.client, _takers(division, topic)))
            of_place.append(np.full(len(client[-1]), index))
    places = np.concatenate(of_place)
    queue_id = np.concatenate([queues.queue_id[queue], np.full(len(places) - len(queue), EVERY_QUEUE)])
    strangers = tuple(
        (int(members.client[place]), name)
        for place, topic, name in shares.strangers
        for _ in range(int(_takers(division, topic)[place]))
    )
    return Rows(strategy, division, places, queue_id, np.concatenate(client), strangers)


def allocation_columns(groups: Mapping[str, list[Rows]]) -> dict[str, pa.Array]:
    """The columns of ``allocation`` of several groups; texts are dictionary-encoded.

    All rows of a group are of one division.
    """
    texts = _Texts()
    columns: dict[str, list[Integers]] = {name: [] for name in ("strategy", "consumer_group", "topic", "broker_name")}
    queue_ids, clients = [], []
    for consumer_group, group_rows in groups.items():
        if not group_rows:
            continue
        queues = group_rows[0].division.queues
        of_topic = texts.numbers([reads.topic.topic for reads, _ in queues.of_topics])
        of_broker = texts.numbers([place.broker_name for place in queues.places])
        of_client = texts.numbers(group_rows[0].division.members.client_ids)
        for rows in group_rows:
            extra = len(rows.strangers)
            count = len(rows.place) + extra
            columns["strategy"].append(np.full(count, texts.number(rows.strategy)))
            columns["consumer_group"].append(np.full(count, texts.number(consumer_group)))
            columns["topic"] += [of_topic[rows.place], texts.numbers([name.topic for _, name in rows.strangers])]
            columns["broker_name"] += [
                of_broker[rows.place],
                texts.numbers([name.broker_name for _, name in rows.strangers]),
            ]
            queue_ids += [rows.queue_id, np.array([name.queue_id for _, name in rows.strangers], np.int64)]
            clients += [of_client[rows.client], of_client[np.array([client for client, _ in rows.strangers], np.int64)]]
    dictionary = pa.array(list(texts.known), pa.string())
    encoded = {name: _encoded(parts, dictionary) for name, parts in columns.items()}
    numbers = np.concatenate([*queue_ids, np.empty(0, np.int64)]).astype(np.int32)
    return {**encoded, "queue_id": pa.array(numbers, pa.int32()), "client_id": _encoded(clients, dictionary)}


def _encoded(parts: list[Integers], dictionary: pa.StringArray) -> pa.DictionaryArray:
    numbers = np.concatenate([*parts, np.empty(0, np.int64)]).astype(np.int32)
    return pa.DictionaryArray.from_arrays(pa.array(numbers), dictionary)


class _Texts:
    """Numbers different texts from 0 on."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def number(self, text: str) -> int:
        return self.known.setdefault(text, len(self.known))

    def numbers(self, texts: list[str]) -> Integers:
        return np.array([self.number(text) for text in texts], np.int64)
