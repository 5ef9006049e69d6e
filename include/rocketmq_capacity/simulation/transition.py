"""What happens between two states of a group: each queue that changes its owner, and totals over all of them.

Most queues of a group change owners in one of a few ways. So the times are computed once for each way. All else is
computed for all queues at once, with arrays that have an entry for each queue.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from rocketmq_capacity.assessment.current import client_runs
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.contracts import Transition
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.division import Division, Flags, Integers
from rocketmq_capacity.contracts.owners import NO_OWNERS, Owners
from rocketmq_capacity.contracts.transition import TransitionTotals
from rocketmq_capacity.simulation.delays import NO_TIME, Delay, Span
from rocketmq_capacity.simulation.handover import NOTHING_PASSES, Old, Passing, Traffic, messages_twice, passing
from rocketmq_capacity.simulation.scenario import Ending
from rocketmq_capacity.simulation.timing import MAX_SPAN, Timing
from rocketmq_capacity.simulation.views import NONE, NOWHERE, Interleavings
from rocketmq_capacity.vocabulary import BUSINESS, FIRST_OFFSET

Cause = Literal["SHUTDOWN", "KILL", "SILENT", "STARTS", "MEMBERS", "ROUTE", "RESTART"]
Role = Literal["ENDS", "STARTS", "RESTARTS", "STAYS"]
"""What a change does to a client: it ends, it starts, it restarts with other code, or it stays as it is."""
Readers = Mapping[Queue, tuple[str, ...]]
"""The client ids that own each queue that is pulled, sorted."""

AT_ONCE: Final = Delay()
DIGITS: Final = 3
STARTS_AT: Final = ("COMMITTED", "NEW_QUEUE", "NO_OFFSET", None)
"""Where the new owner of a queue may begin to read, as in :class:`Transition`."""


@dataclass(frozen=True)
class State:
    """A group before or after a change.

    Attributes:
        division: its queues and clients.
        owners: who owns which queue, as far as that is known.
        runs: by client id, the strategy or mode that its code sets.
    """

    division: Division
    owners: Owners
    runs: Mapping[str, str]

    @property
    def readers(self) -> Readers:
        """Who owns each business queue that clients pull."""
        ids, names = self.division.members.client_ids, self.division.queues.names
        found: dict[Queue, list[str]] = {names[queue]: [] for queue in np.flatnonzero(self.is_pulled).tolist()}
        for queue, client in zip(self.owners.queue.tolist(), self.owners.client.tolist(), strict=True):
            if (own := found.get(names[queue])) is not None:
                own.append(ids[client])
        return {name: tuple(sorted(set(own))) for name, own in found.items()}

    @classmethod
    def of(cls, group: Group) -> "State | None":
        """A clustering group as it runs today, with or without clients; None if an owner is unknown."""
        if not group.is_clustering or group.current is None:
            return None
        modes = "".join(f" {reads.topic.topic} {reads.message_request_mode}" for reads in group.business)
        strategies = client_runs(group.division, group.current.strategy, group.policy)
        runs = {one: run + modes for one, run in zip(group.client_ids, strategies, strict=True)}
        if not group.client_ids:
            return cls(group.division, NO_OWNERS, runs)
        return None if group.whole_load is None else cls(group.division, group.whole_load.owners, runs)

    @cached_property
    def is_pulled(self) -> Flags:
        """Whether each queue is of a business topic that clients pull."""
        queues, pops = self.division.queues, self.division.group.pops
        return np.array([one.topic.kind == BUSINESS and not pops(one) for one in queues.topics], bool)[queues.topic]

    @cached_property
    def client_ids(self) -> frozenset[str]:
        """Its different client ids."""
        return frozenset(self.division.members.client_ids)

    @cached_property
    def weights(self) -> Weights:
        """Messages a second and lag of each queue."""
        return Weights.of(self.division)

    @cached_property
    def is_committed(self) -> Flags:
        """Whether the group has committed an offset for each queue."""
        first = self.division.queues.first
        found = self.weights.has_lag.copy()
        for one in self.division.group.lags:
            if one.lag is None and one.consumer_offset is not None:
                begin, readable = first.get(one.topic, {}).get(one.broker_name, (0, 0))
                if one.queue_id < readable:
                    found[begin + one.queue_id] = True
        return found

    @cached_property
    def has_committed(self) -> bool:
        """Whether the group has committed an offset for any queue, one that nobody can read included."""
        return any(one.consumer_offset is not None for one in self.division.group.lags)

    @cached_property
    def written(self) -> dict[Queue, int]:
        """Messages that each queue holds, where both ends are known."""
        return {
            Queue(reads.topic.topic, one.broker_name, one.queue_id): one.max_offset - one.min_offset
            for reads in self.division.group.business
            for one in reads.topic.written
            if one.max_offset is not None and one.min_offset is not None
        }

    @cached_property
    def consumed(self) -> dict[tuple[str, str], float]:
        """Messages a second that a client id consumes of a topic."""
        ids = {one.consumer_index: one.client_id for one in self.division.members.consumers}
        found: dict[tuple[str, str], float] = {}
        for one in self.division.group.consumed:
            if one.msgs_per_s is not None and one.consumer_index in ids:
                key = ids[one.consumer_index], one.topic
                found[key] = found.get(key, 0.0) + one.msgs_per_s
        return found

    @cached_property
    def at_once(self) -> dict[str, int]:
        """Messages that a client handles at the same time."""
        return {
            one.client_id: one.consume_threads * one.consume_batch_size
            for one in self.division.members.consumers
            if one.consume_threads is not None and one.consume_batch_size is not None
        }


class Way(NamedTuple):
    """How queues go from one client to another.

    Attributes:
        cause: why the new owner takes the queue.
        notice: when the new owner notices; None without a new owner.
        old: who reads the queue before; None without an old or a new owner.
        passing: the times in between.
    """

    cause: Cause
    notice: Delay | None
    old: Old | None
    passing: Passing


@dataclass(frozen=True, slots=True)
class Moved:
    """The queues that get other owners, and the new queues, in order. Arrays have one entry for each of them.

    Attributes:
        queue: its index among the queues afterwards.
        was: its index among the queues before; NONE for a new queue.
        gives: the first client that no longer owns it, by index; NONE if there is none.
        takes: the first client that did not own it before, by index; NONE if there is none.
        old: how many clients own it before.
        new: how many clients own it afterwards.
        kept: how many clients own it before and afterwards.
    """

    queue: Integers
    was: Integers
    gives: Integers
    takes: Integers
    old: Integers
    new: Integers
    kept: Integers

    @classmethod
    def between(cls, before: State, after: State, client_ids: Iterable[str]) -> "Moved":
        """The queues that a change moves; clients have the index of their id in ``client_ids``."""
        number = {client_id: place for place, client_id in enumerate(client_ids)}
        clients, queues = max(len(number), 1), after.division.queues
        was = _indexes_before(before, after)
        now = np.full(len(before.division.queues) + 1, NONE)  # the last entry is for the queues that are new
        now[was] = np.arange(len(queues))
        new = _pairs(after, np.arange(len(queues)), number)
        old = _pairs(before, now[:-1], number)
        left, joined = _without(old, new), _without(new, old)
        gives, takes = _first_client(left, clients, len(queues)), _first_client(joined, clients, len(queues))
        owns, owned = (np.bincount(pairs // clients, minlength=len(queues)) for pairs in (new, old))
        has_moved = (gives != NONE) | (takes != NONE) | ((owns == 0) & (was == NONE))
        queue = np.flatnonzero(has_moved & after.is_pulled)
        kept = owned - np.bincount(left // clients, minlength=len(queues))
        return cls(queue, *(each[queue] for each in (was, gives, takes, owned, owns, kept)))

    @property
    def is_new(self) -> Flags:
        """Whether the change creates each queue."""
        return np.equal(self.was, NONE)


def _indexes_before(before: State, after: State) -> Integers:
    """For each queue afterwards its index among the queues before; NONE for a new queue."""
    queues, first = after.division.queues, before.division.queues.first
    places = [first.get(reads.topic.topic, {}).get(place.broker_name, (0, 0)) for reads, place in queues.of_topics]
    begin, readable = np.array(places, np.int64).reshape(-1, 2).T
    return np.where(queues.queue_id < readable[queues.place], begin[queues.place] + queues.queue_id, NONE)


def _pairs(state: State, queue: Integers, number: Mapping[str, int]) -> Integers:
    """Who owns the queues that are pulled, a number for each pair: queue times number of clients + client; sorted.

    Args:
        state: the group before or after the change.
        queue: for each of its queues the index afterwards; NONE for a queue that is gone.
        number: by client id its index.
    """
    client = np.array([number[one] for one in state.division.members.client_ids], np.int64)
    keep = (state.is_pulled & (queue != NONE))[state.owners.queue]
    own, owner = queue[state.owners.queue[keep]], client[state.owners.client[keep]]
    return np.unique(own * max(len(number), 1) + owner)


def _without(pairs: Integers, others: Integers) -> Integers:
    """The pairs that are not among the others; both are sorted."""
    found: Integers = np.append(others, NONE)[np.searchsorted(others, pairs)]
    return pairs[~np.equal(found, pairs)]


def _first_client(pairs: Integers, clients: int, queues: int) -> Integers:
    """For each queue the first of the clients that are paired with it; NONE without one."""
    found = np.full(queues, NONE)
    queue, client = np.divmod(pairs[::-1], clients)
    found[queue] = client
    return found


@dataclass(frozen=True)
class Change:
    """Two states of a group, and how it goes from one to the other.

    Attributes:
        before: the group as it is.
        after: the group as it would be; it may be of a few topics alone, if the others stay as they are.
        timing: the timers of the cluster and its clients.
        ending: how the clients end that the change removes.
    """

    before: State
    after: State
    timing: Timing
    ending: Ending = "SHUTDOWN"

    @cached_property
    def ids(self) -> list[str]:
        """The client ids before or afterwards, sorted; their places are the indexes of the clients."""
        return sorted(self.before.client_ids | self.after.client_ids)

    @cached_property
    def moved(self) -> Moved:
        """The queues that get other owners, and the new queues."""
        return Moved.between(self.before, self.after, self.ids)

    @cached_property
    def ended(self) -> frozenset[str]:
        """Client ids that are gone afterwards."""
        return self.before.client_ids - self.after.client_ids

    @cached_property
    def roles(self) -> Mapping[str, Role]:
        """What the change does to each client id."""
        was, now = self.before.runs, self.after.runs
        found: dict[str, Role] = dict.fromkeys(self.ended, "ENDS")
        for one in self.after.client_ids:
            if one not in self.before.client_ids:
                found[one] = "STARTS"
            else:
                found[one] = "STAYS" if was[one] == now[one] else "RESTARTS"
        return found

    @cached_property
    def _topic(self) -> Integers:
        """The index of the topic of each queue that moves."""
        return self.after.division.queues.topic[self.moved.queue]

    @cached_property
    def _ways(self) -> tuple[list[Way], Integers]:
        """The ways in which queues go from one client to another, and for each queue that moves the index of its way.

        A way depends only on the roles of the two clients and on whether the topic's route changes.
        """
        role = [*(self.roles[one] for one in self.ids), None]  # NONE is the last index
        gives, takes = ([role[client] for client in each.tolist()] for each in (self.moved.gives, self.moved.takes))
        index: dict[tuple[Role | None, Role | None, bool], int] = {}
        kinds = zip(gives, takes, self._is_routed[self._topic].tolist(), strict=True)
        way = np.array([index.setdefault(kind, len(index)) for kind in kinds], np.int64)
        return [self._way_of(*kind) for kind in index], way

    @cached_property
    def _is_routed(self) -> Flags:
        """Whether each topic that is there afterwards gains or loses queues."""
        was, now = (
            {topic: {name: number for name, (_, number) in own.items()} for topic, own in queues.first.items()}
            for queues in (self.before.division.queues, self.after.division.queues)
        )
        topics = [reads.topic.topic for reads in self.after.division.queues.topics]
        return np.array([was.get(topic) != now[topic] for topic in topics], bool)

    def rows(self) -> Iterator[Transition]:
        """A row for each queue that changes its owner."""
        was, now, names = self.before.readers, self.after.readers, self.after.division.queues.names
        ways, way = self._ways
        starts_at, skipped = self._begins
        moved = [names[queue] for queue in self.moved.queue.tolist()]
        messages = zip(*map(_rounded, (*self._messages_twice, skipped)), strict=True)
        parts = zip(moved, way.tolist(), self.moved.kept.tolist(), starts_at.tolist(), messages, strict=True)
        for queue, number, kept, starts, (expected, worst, skips) in parts:
            old, new, one = was.get(queue, ()), now[queue], ways[number]
            notice, passed = None if one.notice is None else one.notice.span, one.passing
            unread: Span | None = passed.unread
            if not new:
                unread = None
            elif kept:  # it has another reader all the while
                unread = NO_TIME
            yield Transition(
                consumer_group=self.after.division.group.consumer_group,
                topic=queue.topic,
                broker_name=queue.broker_name,
                queue_id=queue.queue_id,
                old_owners=old,
                new_owners=new,
                cause=one.cause,
                notice_best_s=notice and round(notice.best, DIGITS),
                notice_expected_s=notice and round(notice.expected, DIGITS),
                notice_worst_s=notice and round(notice.worst, DIGITS),
                unread_best_s=unread and round(unread.best, DIGITS),
                unread_expected_s=unread and round(unread.expected, DIGITS),
                unread_worst_s=unread and round(unread.worst, DIGITS),
                twice_best_s=round(passed.twice.best, DIGITS),
                twice_expected_s=round(passed.twice.expected, DIGITS),
                twice_worst_s=round(passed.twice.worst, DIGITS),
                lock_wait_best_s=round(passed.lock_wait.best, DIGITS),
                lock_wait_expected_s=round(passed.lock_wait.expected, DIGITS),
                lock_wait_worst_s=round(passed.lock_wait.worst, DIGITS),
                messages_twice_expected=expected,
                messages_twice_worst=worst,
                starts_at=STARTS_AT[starts],
                messages_skipped_worst=skips,
            )

    def _way_of(self, gives: Role | None, takes: Role | None, is_routed: bool) -> Way:
        cause = self._cause(gives, takes, is_routed=is_routed)
        if takes is None:
            return Way(cause, None, None, NOTHING_PASSES)
        begins, refused_s = self._switches(takes, gives, is_routed=is_routed), self.timing.refused_s
        if gives is None:
            # Nobody reads the queue before. So it is unread until its first owner begins.
            nobody = Old(AT_ONCE, "SHUTDOWN")
            return Way(cause, begins, None, passing(nobody, begins, is_orderly=False, refused_s=refused_s))
        has_ended = gives == "ENDS"
        old = Old(AT_ONCE, self.ending) if has_ended else Old(self._switches(gives, takes, is_routed=is_routed))
        is_orderly = bool(self.after.division.group.is_orderly)
        return Way(cause, begins, old, passing(old, begins, is_orderly=is_orderly, refused_s=refused_s))

    def _cause(self, gives: Role | None, takes: Role | None, *, is_routed: bool) -> Cause:
        if gives == "ENDS":
            return self.ending
        if takes == "STARTS":
            return "STARTS"
        if "RESTARTS" in (gives, takes):
            return "RESTART"
        return "ROUTE" if is_routed else "MEMBERS"

    def _switches(self, role: Role, other: Role | None, *, is_routed: bool) -> Delay:
        """When a client takes or gives up its queues for the new state; ``other`` is the client on the other side.

        If a third client falls silent, two clients that stay hear of it from the same brokers. Then only their own
        loops and the brokers' scans differ.
        """
        timing = self.timing
        if role == "STARTS":
            # A new client that takes nothing from a client that stays starts in the same deployment as the restarts.
            comes_with_others = other == "RESTARTS" if other is not None else "RESTARTS" in self.roles.values()
            return timing.restarted if comes_with_others else Delay.of(0.0, (1.0,), timing.told.most)
        if role == "RESTARTS":
            return timing.restarted
        if is_routed:
            return timing.routed
        if not self.ended:
            return timing.told
        return timing.forgotten(self.ending) if other in (None, "ENDS") else timing.apart(self.ending)

    @cached_property
    def _messages_twice(self) -> tuple[Numbers, Numbers]:
        """Messages of each queue that are consumed twice, on average and at worst; NaN if the rate is unknown."""
        expected, worst = np.zeros((2, len(self.moved.queue)))
        ways, way = self._ways
        for number, one in enumerate(ways):
            if one.old is not None:
                own = way == number
                expected[own], worst[own] = messages_twice(
                    one.old, one.passing, self._traffic(own), persist_s=self.timing.persist_s
                )
        return expected, worst

    def _traffic(self, own: Flags) -> Traffic:
        """What is known of the messages of some of the queues, which have old readers."""
        was, weights = self.moved.was[own], self.before.weights
        topics = [reads.topic.topic for reads in self.after.division.queues.topics]
        gives = [self.ids[client] for client in self.moved.gives[own].tolist()]
        consumed = zip(gives, [topics[topic] for topic in self._topic[own].tolist()], strict=True)
        return Traffic(
            weights.msgs_per_s[was],
            np.array([self.before.consumed.get(one, 0.0) for one in consumed]),
            np.where(weights.has_lag[was], weights.lag[was], MAX_SPAN),
            np.array([self.before.at_once.get(one, 0) for one in gives]),
        )

    @cached_property
    def _begins(self) -> tuple[Integers, Numbers]:
        """Where reading begins on each queue, and how many messages may never be read; NaN if unknown.

        A broker without the offset answers 0 if the queue begins at 0 and its first message is in memory. Otherwise the
        client begins where consumeFromWhere says. At the first offset it skips nothing. Else it begins at the end at
        worst, which is also the default.
        Shape: indexes in STARTS_AT, and messages.
        Source: ConsumerManageProcessor.queryConsumerOffset, RebalancePushImpl.computePullFromWhere.
        """
        is_first = self.after.division.group.consume_from_where == FIRST_OFFSET
        moved, names = self.moved, self.after.division.queues.names
        starts, skipped = np.zeros(len(moved.queue), np.int64), np.zeros(len(moved.queue))
        starts[moved.is_new] = STARTS_AT.index("NEW_QUEUE")
        if moved.is_new.any():
            ways, way = self._ways
            most = np.array([np.nan if one.notice is None else one.notice.most for one in ways])[way[moved.is_new]]
            if is_first:
                skipped[moved.is_new] = np.where(np.isnan(most), np.nan, 0.0)
            else:
                skipped[moved.is_new] = self.after.weights.msgs_per_s[moved.queue[moved.is_new]] * most
        if not self.before.has_committed:
            starts[~moved.is_new] = STARTS_AT.index(None)
            skipped[~moved.is_new] = np.nan
            return starts, skipped
        old = np.flatnonzero(~moved.is_new)
        uncommitted = old[~self.before.is_committed[moved.was[old]]]
        starts[uncommitted] = STARTS_AT.index("NO_OFFSET")
        if not is_first:
            written = self.before.written
            skipped[uncommitted] = [written.get(names[queue], np.nan) for queue in moved.queue[uncommitted].tolist()]
        return starts, skipped

    def totals(self) -> TransitionTotals:
        """All moves of the group together."""
        moved, ids = self.moved, self.ids
        ways, way = self._ways
        is_owned = moved.new > 0
        is_single = (moved.old <= 1) & (moved.new == 1)
        others = int(np.count_nonzero(is_owned & ~is_single))
        between = Interleavings.of(
            moved.gives[is_single].tolist(),
            moved.takes[is_single].tolist(),
            frozenset(place for place, client_id in enumerate(ids) if client_id in self.ended),
        )
        # The broker's lock keeps two clients from a queue that is consumed in order.
        is_orderly = bool(self.after.division.group.is_orderly)
        unread, twice = between.unread(), NOWHERE if is_orderly else between.twice()
        # A queue with another reader all the while is never unread.
        unread_spans = [ways[number].passing.unread for number in np.unique(way[is_owned & (moved.kept == 0)]).tolist()]
        passed = [one.passing for one in ways]
        return TransitionTotals(
            moved_queues=int(np.count_nonzero(~moved.is_new)),
            new_queues=int(np.count_nonzero(moved.is_new & is_owned)),
            ownerless_queues=int(np.count_nonzero(~is_owned)),
            unread_longest_expected_s=_longest(span.expected for span in unread_spans),
            unread_longest_worst_s=_longest(span.worst for span in unread_spans),
            twice_longest_worst_s=_longest(one.twice.worst for one in passed),
            lock_wait_worst_s=_longest(one.lock_wait.worst for one in passed),
            messages_twice_expected=_sum(self._messages_twice[0]),
            messages_twice_worst=_sum(self._messages_twice[1]),
            messages_skipped_worst=_sum(self._begins[1]),
            most_unread_at_once=unread.queues,
            unread_switched=None if unread.switched is None else tuple(ids[one] for one in unread.switched),
            # A pair cannot describe several readers of one queue. So each such queue counts as read twice.
            most_twice_at_once=twice.queues + others,
            twice_switched=None if twice.switched is None or others else tuple(ids[one] for one in twice.switched),
            timers=self.timing.as_text(),
        )


def change_of(before: Group, after: Group, timing: Timing, ending: Ending) -> Change | None:
    """The change of a group that keeps its strategy; None if owners are unknown or the group does not divide queues."""
    was, now = State.of(before), State.of(after)
    return None if was is None or now is None else Change(was, now, timing, ending)


def _longest(times_s: Iterable[float]) -> float:
    """The longest time, rounded; 0 if there is none."""
    return round(max(times_s, default=0.0), DIGITS)


def _rounded(messages: Numbers) -> list[float | None]:
    """Numbers of messages, rounded; None for one that is unknown."""
    return [None if one != one else round(one, DIGITS) for one in messages.tolist()]


def _sum(messages: Numbers) -> float | None:
    """The sum of rounded numbers of messages, rounded; None if one is unknown."""
    return None if np.isnan(messages).any() else round(sum(round(one, DIGITS) for one in messages.tolist()), DIGITS)
