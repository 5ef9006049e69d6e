"""What happens between two states of a group: each queue that changes its owner, and totals over all of them.

Most queues of a group change owners in one of a few ways. So the times are computed once for each way.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, NamedTuple

from rocketmq_capacity.assessment.current import client_runs
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.contracts import Transition
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.division import Division
from rocketmq_capacity.contracts.owners import NO_OWNERS, Owners
from rocketmq_capacity.contracts.transition import TransitionTotals
from rocketmq_capacity.simulation.delays import NO_TIME, Delay, Span
from rocketmq_capacity.simulation.handover import NOTHING_PASSES, Old, Passing, Traffic, messages_twice, passing
from rocketmq_capacity.simulation.scenario import Ending
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.views import NONE, NOWHERE, Interleavings
from rocketmq_capacity.vocabulary import FIRST_OFFSET

Cause = Literal["SHUTDOWN", "KILL", "SILENT", "STARTS", "MEMBERS", "ROUTE", "RESTART"]
Role = Literal["ENDS", "STARTS", "RESTARTS", "STAYS"]
"""What a change does to a client: it ends, it starts, it restarts with other code, or it stays as it is."""
Readers = Mapping[Queue, tuple[str, ...]]
"""The client ids that own each queue that is pulled, sorted."""

AT_ONCE: Final = Delay()
DIGITS: Final = 3


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

    @cached_property
    def readers(self) -> Readers:
        """Who owns each business queue that clients pull."""
        ids, queues = self.division.members.client_ids, self.division.queues
        popped = {reads.topic.topic for reads in queues.topics if self.division.group.pops(reads)}
        business = queues.is_business.tolist()
        found: dict[Queue, list[str]] = {
            name: [] for name, keep in zip(queues.names, business, strict=True) if keep and name.topic not in popped
        }
        for queue, client in zip(self.owners.queue.tolist(), self.owners.client.tolist(), strict=True):
            if (own := found.get(queues.names[queue])) is not None:
                own.append(ids[client])
        return {name: tuple(own) if len(own) < 2 else tuple(sorted(set(own))) for name, own in found.items()}

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
    def queues(self) -> Mapping[str, frozenset[Queue]]:
        """By business topic its queues, pulled or popped."""
        queues, found = self.division.queues, dict[str, list[Queue]]()
        for name, keep in zip(queues.names, queues.is_business.tolist(), strict=True):
            if keep:
                found.setdefault(name.topic, []).append(name)
        return {topic: frozenset(own) for topic, own in found.items()}

    @cached_property
    def client_ids(self) -> frozenset[str]:
        """Its different client ids."""
        return frozenset(self.division.members.client_ids)

    @cached_property
    def rates(self) -> dict[Queue, float]:
        """Messages a second of each queue whose rate is known."""
        weights, names = Weights.of(self.division), self.division.queues.names
        rates = weights.msgs_per_s.tolist()
        return {names[queue]: rates[queue] for queue in weights.queue.tolist() if rates[queue] == rates[queue]}

    @cached_property
    def committed(self) -> frozenset[Queue]:
        """The queues for which the group has committed an offset."""
        lags = self.division.group.lags
        return frozenset(
            Queue(one.topic, one.broker_name, one.queue_id) for one in lags if one.consumer_offset is not None
        )

    @cached_property
    def lags(self) -> dict[Queue, int]:
        """The lag of the group on each queue, where it is known."""
        lags = self.division.group.lags
        return {Queue(one.topic, one.broker_name, one.queue_id): one.lag for one in lags if one.lag is not None}

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


class Move(NamedTuple):
    """A queue that changes its owner; times and messages as in :class:`Transition`, the messages rounded.

    Attributes:
        queue: the queue.
        old: the client ids that own it before.
        new: the client ids that own it afterwards.
        way: how it goes from the old owner to the new one.
        unread: how long nobody reads it; None if nobody reads it afterwards.
        twice_expected: messages that are consumed twice, on average.
        twice_worst: messages that are consumed twice, at worst.
        starts_at: where its new owner begins to read.
        skipped_worst: messages that are never read, at worst.
        is_new: whether the change creates the queue.
    """

    queue: Queue
    old: tuple[str, ...]
    new: tuple[str, ...]
    way: Way
    unread: Span | None
    twice_expected: float | None
    twice_worst: float | None
    starts_at: str | None
    skipped_worst: float | None
    is_new: bool

    def row(self, consumer_group: str) -> Transition:
        """Its row of the dataset."""
        notice = None if self.way.notice is None else self.way.notice.span
        unread, passed = self.unread, self.way.passing
        return Transition(
            consumer_group=consumer_group,
            topic=self.queue.topic,
            broker_name=self.queue.broker_name,
            queue_id=self.queue.queue_id,
            old_owners=self.old,
            new_owners=self.new,
            cause=self.way.cause,
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
            messages_twice_expected=self.twice_expected,
            messages_twice_worst=self.twice_worst,
            starts_at=self.starts_at,
            messages_skipped_worst=self.skipped_worst,
        )


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
    def moves(self) -> list[Move]:
        """The queues that get other owners, and the new queues, in order."""
        was = self.before.readers
        return [
            self._move(queue, was.get(queue, ()), own)
            for queue, own in self.after.readers.items()
            if was.get(queue, ()) != own or (not own and self._is_new(queue))
        ]

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
    def _routed(self) -> frozenset[str]:
        """Topics that gain or lose queues, of those that are there afterwards."""
        was = self.before.queues
        return frozenset(topic for topic, queues in self.after.queues.items() if was.get(topic, frozenset()) != queues)

    def _is_new(self, queue: Queue) -> bool:
        return queue not in self.before.queues.get(queue.topic, ())

    def rows(self) -> Iterator[Transition]:
        """A row for each queue that changes its owner."""
        consumer_group = self.after.division.group.consumer_group
        return (move.row(consumer_group) for move in self.moves)

    def _move(self, queue: Queue, old: tuple[str, ...], new: tuple[str, ...]) -> Move:
        gives = next((one for one in old if one not in new), None)
        takes = next((one for one in new if one not in old), None)
        way = self._way(gives, takes, queue.topic)
        is_new = self._is_new(queue)
        starts_at, skipped = self._begins(queue, is_new, way.notice)
        expected, worst = self._messages_twice(gives, way, queue)
        unread: Span | None = way.passing.unread
        if not new:
            unread = None
        elif not set(old).isdisjoint(new):  # it has another reader all the while
            unread = NO_TIME
        return Move(
            queue,
            old,
            new,
            way,
            unread,
            None if expected is None else round(expected, DIGITS),
            None if worst is None else round(worst, DIGITS),
            starts_at,
            None if skipped is None else round(skipped, DIGITS),
            is_new=is_new,
        )

    def _way(self, gives: str | None, takes: str | None, topic: str) -> Way:
        """How a queue of a topic goes from one client to another.

        It depends only on the roles of the two clients and on whether the topic's route changes.
        """
        key = self._role(gives), self._role(takes), topic in self._routed
        if key not in self._ways:
            self._ways[key] = self._way_of(*key)
        return self._ways[key]

    def _role(self, client_id: str | None) -> Role | None:
        return None if client_id is None else self.roles[client_id]

    @cached_property
    def _ways(self) -> dict[tuple[Role | None, Role | None, bool], Way]:
        return {}

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

    def _messages_twice(self, gives: str | None, way: Way, queue: Queue) -> tuple[float | None, float | None]:
        """Messages consumed twice, on average and at worst; None if the rate is unknown."""
        if gives is None or way.old is None:
            return 0.0, 0.0
        rate = self.before.rates.get(queue)
        traffic = Traffic(rate, self.before.consumed.get((gives, queue.topic)), self.before.lags.get(queue))
        return messages_twice(
            way.old, way.passing, traffic, persist_s=self.timing.persist_s, at_once=self.before.at_once.get(gives)
        )

    def _begins(self, queue: Queue, is_new: bool, notice: Delay | None) -> tuple[str | None, float | None]:
        """Where reading begins, and how many messages may never be read.

        A broker without the offset answers 0 if the queue begins at 0 and its first message is in memory. Otherwise the
        client begins where consumeFromWhere says. At the first offset it skips nothing. Else it begins at the end at
        worst, which is also the default.
        Source: ConsumerManageProcessor.queryConsumerOffset, RebalancePushImpl.computePullFromWhere.
        """
        is_first = self.after.division.group.consume_from_where == FIRST_OFFSET
        if is_new:
            if is_first and notice is not None:
                return "NEW_QUEUE", 0.0
            rate = self.after.rates.get(queue)
            return "NEW_QUEUE", None if rate is None or notice is None else rate * notice.most
        if queue in self.before.committed:
            return "COMMITTED", 0.0
        if not self.before.committed:
            return None, None
        return "NO_OFFSET", 0.0 if is_first else self.before.written.get(queue)

    def totals(self) -> TransitionTotals:
        """All moves of the group together."""
        ids = sorted(self.before.client_ids | self.after.client_ids)
        index = {client_id: place for place, client_id in enumerate(ids)}
        moves = self.moves
        owned = [move for move in moves if move.new]
        single = [move for move in owned if len(move.old) <= 1 and len(move.new) == 1]
        others = len(owned) - len(single)
        between = Interleavings.of(
            [index[move.old[0]] if move.old else NONE for move in single],
            [index[move.new[0]] for move in single],
            frozenset(index[one] for one in self.ended),
        )
        # The broker's lock keeps two clients from a queue that is consumed in order.
        is_orderly = bool(self.after.division.group.is_orderly)
        unread, twice = between.unread(), NOWHERE if is_orderly else between.twice()
        unread_spans = {move.unread for move in owned if move.unread is not None}
        passed = {move.way.passing for move in moves}
        return TransitionTotals(
            moved_queues=sum(not move.is_new and move.old != move.new for move in moves),
            new_queues=sum(move.is_new for move in owned),
            ownerless_queues=len(moves) - len(owned),
            unread_longest_expected_s=_longest(span.expected for span in unread_spans),
            unread_longest_worst_s=_longest(span.worst for span in unread_spans),
            twice_longest_worst_s=_longest(one.twice.worst for one in passed),
            lock_wait_worst_s=_longest(one.lock_wait.worst for one in passed),
            messages_twice_expected=_sum([move.twice_expected for move in moves]),
            messages_twice_worst=_sum([move.twice_worst for move in moves]),
            messages_skipped_worst=_sum([move.skipped_worst for move in moves]),
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


def _sum(parts: Sequence[float | None]) -> float | None:
    """The sum, rounded; None if a part is unknown."""
    known = [part for part in parts if part is not None]
    return round(sum(known), DIGITS) if len(known) == len(parts) else None
