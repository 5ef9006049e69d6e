"""What happens between two states of a group: each queue that changes its owner, and totals over all of them.

Most queues of a group change owners in one of a few ways. So the times are computed once for each way. All else is
computed for all queues at once, with arrays that have an entry for each queue.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

import numpy as np

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.queues import Queues
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.delays import NO_TIME, Delay, DelaySpan
from rocketmq_capacity.simulation.handover import NOTHING_PASSES, Old, Passing, Traffic, messages_twice, passing
from rocketmq_capacity.simulation.locks import Locks
from rocketmq_capacity.simulation.moved import Moved
from rocketmq_capacity.simulation.state import State
from rocketmq_capacity.simulation.timing import MAX_SPAN, Timing
from rocketmq_capacity.simulation.views import NOWHERE, Interleavings
from rocketmq_capacity.tables import Transition
from rocketmq_capacity.tables.transition import TransitionOfGroup
from rocketmq_capacity.vocabulary import FIRST_OFFSET

Cause = Literal["SHUTDOWN", "KILL", "SILENT", "STARTS", "MEMBERS", "ROUTE", "RESTART"]
Role = Literal["ENDS", "STARTS", "RESTARTS", "STAYS"]
"""What a change does to a client: it ends, it starts, it restarts with other code, or it stays as it is."""

AT_ONCE: Final = Delay()
DIGITS: Final = 3
STARTS_AT: Final = ("COMMITTED", "NEW_QUEUE", "NO_OFFSET", None)
"""Where the new owner of a queue may begin to read, as in :class:`Transition`."""


class QueueWays(NamedTuple):
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


@dataclass(frozen=True)
class OwnerChange:
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
        runs_before, runs_after = self.before.runs, self.after.runs
        roles: dict[str, Role] = dict.fromkeys(self.ended, "ENDS")
        for client_id in self.after.client_ids:
            if client_id not in self.before.client_ids:
                roles[client_id] = "STARTS"
            else:
                roles[client_id] = "STAYS" if runs_before[client_id] == runs_after[client_id] else "RESTARTS"
        return roles

    @cached_property
    def _locks(self) -> Locks | None:
        """How its clients pass on locks; None if they do not consume in order."""
        group = self.before.division.group
        return Locks.of(group, self.timing.rebalance_s) if self.after.division.group.is_orderly else None

    @cached_property
    def _topic(self) -> Integers:
        """The index of the topic of each queue that moves."""
        return self.after.division.queues.topic[self.moved.queue]

    @cached_property
    def _ways(self) -> tuple[list[QueueWays], Integers]:
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
        numbers_before = _queue_numbers(self.before.division.queues)
        numbers_after = _queue_numbers(self.after.division.queues)
        topics = [reads.topic.topic for reads in self.after.division.queues.topics]
        return np.array([numbers_before.get(topic) != numbers_after[topic] for topic in topics], bool)

    @cached_property
    def _is_created(self) -> Flags:
        """Whether each queue that moves is new to its broker, and not only to the group, which now reads its topic."""
        topics_before = {reads.topic.topic for reads in self.before.division.group.reads}
        is_known = np.array([reads.topic.topic in topics_before for reads in self.after.division.queues.topics], bool)
        created: Flags = self.moved.is_new & is_known[self._topic]
        return created

    def rows(self) -> Iterator[Transition]:
        """A row for each queue that changes its owner."""
        readers_before, readers_after, names = self.before.readers, self.after.readers, self.after.division.queues.names
        ways, index_of_way = self._ways
        starts_at, skipped = self._begins
        moved = [names[queue] for queue in self.moved.queue.tolist()]
        messages = zip(*map(_rounded, (*self._messages_twice, skipped)), strict=True)
        parts = zip(moved, index_of_way.tolist(), self.moved.kept.tolist(), starts_at.tolist(), messages, strict=True)
        for queue, number, kept, starts, (expected, worst, skips) in parts:
            old, new, way = readers_before.get(queue, ()), readers_after[queue], ways[number]
            passed = way.passing
            unread: DelaySpan | None = passed.unread
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
                cause=way.cause,
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

    def _way_of(self, gives: Role | None, takes: Role | None, is_routed: bool) -> QueueWays:
        cause = self._cause(gives, takes, is_routed=is_routed)
        if takes is None:
            return QueueWays(cause, None, None, NOTHING_PASSES)
        begins, refused_s = self._switches(takes, gives, is_routed=is_routed), self.timing.refused_s
        locks = self._locks
        if locks is not None and takes != "STAYS":
            locks = locks.of_newcomer
        if gives is None:
            # Nobody reads the queue before. So it is unread until its first owner begins.
            nobody = Old(AT_ONCE, "SHUTDOWN")
            return QueueWays(cause, begins, None, passing(nobody, begins, locks, refused_s=refused_s))
        has_ended = gives == "ENDS"
        old = Old(AT_ONCE, self.ending) if has_ended else Old(self._switches(gives, takes, is_routed=is_routed))
        return QueueWays(cause, begins, old, passing(old, begins, locks, refused_s=refused_s))

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
            return timing.restarted if comes_with_others else Delay.of(0.0, (1.0,), timing.notified.most)
        if role == "RESTARTS":
            return timing.restarted
        if is_routed:
            return timing.routed
        if not self.ended:
            return timing.notified
        return timing.forgotten(self.ending) if other in (None, "ENDS") else timing.apart(self.ending)

    @cached_property
    def _messages_twice(self) -> tuple[Numbers, Numbers]:
        """Messages of each queue that are consumed twice, on average and at worst; NaN if the rate is unknown."""
        expected, worst = np.zeros((2, len(self.moved.queue)))
        ways, index_of_way = self._ways
        for number, way in enumerate(ways):
            if way.old is not None:
                goes_so = index_of_way == number
                expected[goes_so], worst[goes_so] = messages_twice(
                    way.old, way.passing, self._traffic(goes_so), persist_s=self.timing.persist_s
                )
        return expected, worst

    def _traffic(self, goes_so: Flags) -> Traffic:
        """What is known of the messages of some of the queues, which have old readers."""
        index_before, weights = self.moved.index_before[goes_so], self.before.weights
        topics = [reads.topic.topic for reads in self.after.division.queues.topics]
        gives = [self.ids[client] for client in self.moved.gives[goes_so].tolist()]
        consumed = zip(gives, [topics[topic] for topic in self._topic[goes_so].tolist()], strict=True)
        return Traffic(
            weights.msgs_per_s[index_before],
            np.array([self.before.consumed.get(one, 0.0) for one in consumed]),
            np.where(weights.has_lag[index_before], weights.lag[index_before], MAX_SPAN),
            np.array([self.before.at_once.get(one, 0) for one in gives]),
        )

    @cached_property
    def _begins(self) -> tuple[Integers, Numbers]:
        """Where reading begins on each queue, and how many messages may never be read; NaN if unknown.

        A broker without the offset answers 0 if the queue begins at 0 and its first message is in memory. Otherwise the
        client begins where consumeFromWhere says. At the first offset it skips nothing. Else it begins at the end at
        worst, which is also the default. Brokers leave out the offsets on topics that no client of a group with clients
        subscribes to: whether the group left one there is unknown.
        Shape: indexes in STARTS_AT, and messages.
        Source: ConsumerManageProcessor.queryConsumerOffset, RebalancePushImpl.computePullFromWhere,
            AdminBrokerProcessor.getTopicsForCollectingConsumeStats.
        """
        is_first = self.after.division.group.consume_from_where == FIRST_OFFSET
        moved, names = self.moved, self.after.division.queues.names
        starts, skipped = np.zeros(len(moved.queue), np.int64), np.zeros(len(moved.queue))
        created, joined = np.flatnonzero(self._is_created), np.flatnonzero(moved.is_new & ~self._is_created)
        starts[created] = STARTS_AT.index("NEW_QUEUE")
        if not is_first:
            skipped[created] = self._written_until_read[created]
        else:
            skipped[created] = np.where(np.isnan(self._most_until_read[created]), np.nan, 0.0)
        if not self.before.has_committed:
            starts[~self._is_created] = STARTS_AT.index(None)
            skipped[~self._is_created] = np.nan
            return starts, skipped
        old = np.flatnonzero(~moved.is_new)
        uncommitted = old[~self.before.is_committed[moved.index_before[old]]]
        # The offsets of an earlier subscription are still on the brokers.
        first_time = joined[~self.after.is_committed[moved.queue[joined]]]
        without_offset = np.concatenate([uncommitted, first_time])
        starts[without_offset] = STARTS_AT.index("NO_OFFSET")
        if self.before.division.group.connections:
            starts[first_time] = STARTS_AT.index(None)
        if not is_first:
            written = self.after.written
            skipped[without_offset] = [written.get(names[q], np.nan) for q in moved.queue[without_offset].tolist()]
            skipped[first_time] += self._written_until_read[first_time]
        return starts, skipped

    @cached_property
    def unread_worst_s(self) -> Numbers:
        """For each queue that moves, how long nobody reads it at worst; 0 with another reader, or without a new one."""
        ways, way = self._ways
        worst = np.array([one.passing.unread.worst for one in ways])[way] if ways else np.zeros(0)
        return np.where((self.moved.new > 0) & (self.moved.kept == 0), worst, 0.0)

    @cached_property
    def _most_until_read(self) -> Numbers:
        """Seconds until the new owner of each queue that moves notices, at worst; NaN without a new owner."""
        ways, way = self._ways
        return np.array([np.nan if one.notice is None else one.notice.most for one in ways], np.float64)[way]

    @property
    def _written_until_read(self) -> Numbers:
        """Messages that come to each queue that moves until its new owner notices, at worst; NaN if unknown."""
        return self.after.weights.msgs_per_s[self.moved.queue] * self._most_until_read

    def totals(self) -> TransitionOfGroup:
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
        unread, twice = between.unread(), between.twice() if self._locks is None else NOWHERE
        # A queue with another reader all the while is never unread.
        unread_spans = [ways[number].passing.unread for number in np.unique(way[is_owned & (moved.kept == 0)]).tolist()]
        passed = [one.passing for one in ways]
        return TransitionOfGroup(
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


def change_of(before: AssessedGroup, after: AssessedGroup, timing: Timing, ending: Ending) -> OwnerChange | None:
    """The change of a group that keeps its strategy; None if owners are unknown or the group does not divide queues."""
    state_before, state_after = State.of(before), State.of(after)
    return (
        None if state_before is None or state_after is None else OwnerChange(state_before, state_after, timing, ending)
    )


def _longest(times_s: Iterable[float]) -> float:
    """The longest time, rounded; 0 if there is none."""
    return round(max(times_s, default=0.0), DIGITS)


def _queue_numbers(queues: Queues) -> dict[str, dict[str, int]]:
    """By topic and broker, how many queues it has there."""
    return {
        topic: {broker_name: number for broker_name, (_, number) in places.items()}
        for topic, places in queues.first.items()
    }


def _rounded(messages: Numbers) -> list[float | None]:
    """Numbers of messages, rounded; None for one that is unknown."""
    return [None if one != one else round(one, DIGITS) for one in messages.tolist()]


def _sum(messages: Numbers) -> float | None:
    """The sum of rounded numbers of messages, rounded; None if one is unknown."""
    return None if np.isnan(messages).any() else round(sum(round(one, DIGITS) for one in messages.tolist()), DIGITS)
