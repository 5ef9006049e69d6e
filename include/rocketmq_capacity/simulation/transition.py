"""What happens between two states of a group: each queue that changes hands, and the whole of them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

from rocketmq_capacity.assessment.current import client_runs
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.contracts import Transition
from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.division import NO_OWNERS, Division, Owners
from rocketmq_capacity.contracts.transition import TransitionTotals
from rocketmq_capacity.simulation.delays import NO_TIME, Delay, Span
from rocketmq_capacity.simulation.handover import Handover, Old, Traffic, handover
from rocketmq_capacity.simulation.scenario import Ending
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.views import NONE, NOWHERE, Interleavings

Cause = Literal["SHUTDOWN", "KILL", "SILENT", "STARTS", "MEMBERS", "ROUTE", "RESTART"]
Readers = Mapping[Queue, tuple[str, ...]]
"""The client ids that own each queue that is pulled, sorted."""

AT_ONCE: Final = Delay()
DIGITS: Final = 3


@dataclass(frozen=True)
class State:
    """A group before or after a change.

    Attributes:
        division: its queues and clients.
        owners: who owns what; of known owners alone.
        runs: by client id the strategy or mode that its code sets.
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
        return {name: tuple(sorted(set(own))) for name, own in found.items()}

    @classmethod
    def of(cls, group: Group) -> "State | None":
        """A clustering group as it runs today, without clients too; None where an owner is not known."""
        if not group.is_clustering or group.current is None:
            return None
        modes = "".join(f" {reads.topic.topic} {reads.message_request_mode}" for reads in group.business)
        strategies = client_runs(group.division, group.current.strategy, group.policy)
        runs = {one: run + modes for one, run in zip(group.client_ids, strategies, strict=True)}
        if not group.client_ids:
            return cls(group.division, NO_OWNERS, runs)
        return None if group.whole_load is None else cls(group.division, group.whole_load.owners, runs)

    @cached_property
    def queues(self) -> frozenset[Queue]:
        """Its business queues, pulled or popped."""
        queues = self.division.queues
        return frozenset(name for name, keep in zip(queues.names, queues.is_business.tolist(), strict=True) if keep)

    @cached_property
    def client_ids(self) -> frozenset[str]:
        """Its different client ids."""
        return frozenset(self.division.members.client_ids)

    @cached_property
    def rates(self) -> dict[Queue, float]:
        """Messages a second of each queue, where that is known."""
        weights, names = Weights.of(self.division), self.division.queues.names
        rates = weights.msgs_per_s.tolist()
        return {names[queue]: rates[queue] for queue in weights.queue.tolist() if rates[queue] == rates[queue]}


@dataclass(frozen=True)
class Change:
    """Two states of a group, and how it goes from one to the other.

    Attributes:
        before: the group as it is.
        after: the group as it would be.
        timing: the timers of the cluster and its clients.
        ending: how clients end that are not there afterwards.
    """

    before: State
    after: State
    timing: Timing
    ending: Ending = "SHUTDOWN"

    @cached_property
    def moved(self) -> list[Queue]:
        """The queues that get other owners, and the new ones, in order."""
        was = self.before.readers
        return [
            queue
            for queue, own in self.after.readers.items()
            if was.get(queue, ()) != own or (queue not in self.before.queues and not own)
        ]

    @cached_property
    def ended(self) -> frozenset[str]:
        """Client ids that are gone afterwards."""
        return self.before.client_ids - self.after.client_ids

    @cached_property
    def _routed(self) -> frozenset[str]:
        """Topics whose queues come or go."""
        return frozenset(queue.topic for queue in self.before.queues ^ self.after.queues)

    def rows(self) -> Iterator[Transition]:
        """A row for each queue that changes hands."""
        for queue in self.moved:
            yield self._row(queue)

    def _row(self, queue: Queue) -> Transition:
        old, new = self.before.readers.get(queue, ()), self.after.readers[queue]
        is_new = queue not in self.before.queues
        gives = next((one for one in old if one not in new), None)
        takes = next((one for one in new if one not in old), None)
        cause = self._cause(gives, takes, queue.topic)
        notice = None if takes is None else self._switches(takes, gives, queue.topic)
        passed = self._passed(gives, takes, queue)
        starts_at, skipped = self._begins(queue, is_new, notice)
        # A queue that has another reader all the while is never unread.
        unread: Span | None = NO_TIME if set(old) & set(new) else passed.unread
        if takes is None and not new:
            unread = None
        expected, worst = passed.messages_twice
        return Transition(
            consumer_group=self.after.division.group.consumer_group,
            topic=queue.topic,
            broker_name=queue.broker_name,
            queue_id=queue.queue_id,
            old_owners=old,
            new_owners=new,
            cause=cause,
            notice_best_s=None if notice is None else round(notice.span.best, DIGITS),
            notice_expected_s=None if notice is None else round(notice.span.expected, DIGITS),
            notice_worst_s=None if notice is None else round(notice.span.worst, DIGITS),
            unread_best_s=None if unread is None else round(unread.best, DIGITS),
            unread_expected_s=None if unread is None else round(unread.expected, DIGITS),
            unread_worst_s=None if unread is None else round(unread.worst, DIGITS),
            twice_best_s=round(passed.twice.best, DIGITS),
            twice_expected_s=round(passed.twice.expected, DIGITS),
            twice_worst_s=round(passed.twice.worst, DIGITS),
            lock_wait_best_s=round(passed.lock_wait.best, DIGITS),
            lock_wait_expected_s=round(passed.lock_wait.expected, DIGITS),
            lock_wait_worst_s=round(passed.lock_wait.worst, DIGITS),
            messages_twice_expected=None if expected is None else round(expected, DIGITS),
            messages_twice_worst=None if worst is None else round(worst, DIGITS),
            starts_at=starts_at,
            messages_skipped_worst=None if skipped is None else round(skipped, DIGITS),
        )

    def _cause(self, gives: str | None, takes: str | None, topic: str) -> Cause:
        if gives in self.ended:
            return self.ending
        if takes is not None and takes not in self.before.client_ids:
            return "STARTS"
        if any(self._restarts(one) for one in (gives, takes)):
            return "RESTART"
        return "ROUTE" if topic in self._routed else "MEMBERS"

    def _restarts(self, client_id: str | None) -> bool:
        was, now = (side.runs.get(client_id or "") for side in (self.before, self.after))
        return was is not None and now is not None and was != now

    @cached_property
    def _has_restarts(self) -> bool:
        return any(self._restarts(one) for one in self.before.client_ids)

    def _switches(self, client_id: str, other: str | None, topic: str) -> Delay:
        """When a client that is there afterwards owns what it owns then; ``other`` is who gives or takes the queue.

        Two clients that stay while a third one falls silent learn it from the same brokers. Then only their own loops
        and the brokers' scans are apart.
        """
        timing = self.timing
        if client_id not in self.before.client_ids:
            # One that takes nothing from a client that stays comes with the deployment that starts others again.
            comes_with_others = self._restarts(other) if other is not None else self._has_restarts
            return timing.restarted if comes_with_others else Delay.of(0.0, (1.0,), timing.told.most)
        if self._restarts(client_id):
            return timing.restarted
        if topic in self._routed:
            return timing.routed
        if not self.ended:
            return timing.told
        return timing.forgotten(self.ending) if other is None or other in self.ended else timing.apart(self.ending)

    def _passed(self, gives: str | None, takes: str | None, queue: Queue) -> Handover:
        """The queue between the client that gives it and the one that takes it."""
        if takes is None:
            return Handover(NO_TIME, NO_TIME, NO_TIME, (0.0, 0.0))
        begins = self._switches(takes, gives, queue.topic)
        if gives is None:
            # Nobody reads it before: it is unread until its first owner begins.
            nobody = Old(AT_ONCE, "SHUTDOWN")
            none = Traffic(0.0, 0.0, 0)
            return handover(nobody, begins, none, is_orderly=False, persist_s=0.0, refused_s=self.timing.refused_s)
        has_ended = gives in self.ended
        old = Old(AT_ONCE, self.ending) if has_ended else Old(self._switches(gives, takes, queue.topic))
        rate = self.before.rates.get(queue)
        traffic = Traffic(rate, self._consumed.get((gives, queue.topic)), self._lags.get(queue))
        group = self.after.division.group
        return handover(
            old,
            begins,
            traffic,
            is_orderly=bool(group.is_orderly),
            persist_s=self.timing.persist_s,
            refused_s=self.timing.refused_s,
            at_once=self._at_once.get(gives),
        )

    def _begins(self, queue: Queue, is_new: bool, notice: Delay | None) -> tuple[str | None, float | None]:
        """Where reading begins, and how many messages may never be read.

        A broker answers a question for an offset that it does not have with 0 while the queue begins at 0 and its first
        message is in memory; else the client goes where consumeFromWhere says, by default to the end.
        Source: ConsumerManageProcessor.queryConsumerOffset, RebalancePushImpl.computePullFromWhere.
        """
        if is_new:
            rate = self.after.rates.get(queue)
            return "NEW_QUEUE", None if rate is None or notice is None else rate * notice.most
        offsets = self._offsets
        if offsets.get(queue) is not None:
            return "COMMITTED", 0.0
        if not any(offset is not None for offset in offsets.values()):
            return None, None
        written = self._written.get(queue)
        return "NO_OFFSET", written

    @cached_property
    def _offsets(self) -> dict[Queue, int | None]:
        lags = self.before.division.group.lags
        return {Queue(one.topic, one.broker_name, one.queue_id): one.consumer_offset for one in lags}

    @cached_property
    def _lags(self) -> dict[Queue, int]:
        lags = self.before.division.group.lags
        return {Queue(one.topic, one.broker_name, one.queue_id): one.lag for one in lags if one.lag is not None}

    @cached_property
    def _written(self) -> dict[Queue, int]:
        """Messages that lie in each queue, where both ends are known."""
        return {
            Queue(reads.topic.topic, one.broker_name, one.queue_id): one.max_offset - one.min_offset
            for reads in self.before.division.group.business
            for one in reads.topic.written
            if one.max_offset is not None and one.min_offset is not None
        }

    @cached_property
    def _consumed(self) -> dict[tuple[str, str], float]:
        """Messages a second that a client id consumes of a topic."""
        ids = {one.consumer_index: one.client_id for one in self.before.division.members.consumers}
        found: dict[tuple[str, str], float] = {}
        for one in self.before.division.group.consumed:
            if one.msgs_per_s is not None and one.consumer_index in ids:
                key = ids[one.consumer_index], one.topic
                found[key] = found.get(key, 0.0) + one.msgs_per_s
        return found

    @cached_property
    def _at_once(self) -> dict[str, int]:
        """Messages that a client handles at the same time."""
        return {
            one.client_id: one.consume_threads * one.consume_batch_size
            for one in self.before.division.members.consumers
            if one.consume_threads is not None and one.consume_batch_size is not None
        }

    def totals(self, rows: Sequence[Transition]) -> TransitionTotals:
        """All rows of the group together."""
        ids = sorted(self.before.client_ids | self.after.client_ids)
        index = {client_id: place for place, client_id in enumerate(ids)}
        single = [row for row in rows if len(row.old_owners) <= 1 and len(row.new_owners) == 1]
        others = sum(bool(row.new_owners) for row in rows) - len(single)
        moves = Interleavings.of(
            [index[row.old_owners[0]] if row.old_owners else NONE for row in single],
            [index[row.new_owners[0]] for row in single],
            frozenset(index[one] for one in self.ended),
        )
        # The broker's lock keeps two clients from a queue that is consumed in order.
        is_orderly = bool(self.after.division.group.is_orderly)
        unread, twice = moves.unread(), NOWHERE if is_orderly else moves.twice()
        owned = [row for row in rows if row.new_owners]
        return TransitionTotals(
            moved_queues=sum(self._is_moved(row) for row in rows),
            new_queues=sum(bool(row.new_owners) and not self._was_there(row) for row in rows),
            ownerless_queues=sum(not row.new_owners for row in rows),
            unread_longest_expected_s=max((row.unread_expected_s or 0.0 for row in owned), default=0.0),
            unread_longest_worst_s=max((row.unread_worst_s or 0.0 for row in owned), default=0.0),
            twice_longest_worst_s=max((row.twice_worst_s for row in rows), default=0.0),
            lock_wait_worst_s=max((row.lock_wait_worst_s for row in rows), default=0.0),
            messages_twice_expected=_sum([row.messages_twice_expected for row in rows]),
            messages_twice_worst=_sum([row.messages_twice_worst for row in rows]),
            messages_skipped_worst=_sum([row.messages_skipped_worst for row in rows]),
            most_unread_at_once=unread.queues,
            unread_switched=None if unread.switched is None else tuple(ids[one] for one in unread.switched),
            # Several readers of one queue are told apart by no pair: each such queue may be read twice.
            most_twice_at_once=twice.queues + others,
            twice_switched=None if twice.switched is None or others else tuple(ids[one] for one in twice.switched),
            timers=self.timing.as_text(),
        )

    def _was_there(self, row: Transition) -> bool:
        return Queue(row.topic, row.broker_name, row.queue_id) in self.before.queues

    def _is_moved(self, row: Transition) -> bool:
        return self._was_there(row) and row.old_owners != row.new_owners


def change_of(before: Group, after: Group, timing: Timing, ending: Ending) -> Change | None:
    """A group that runs what it runs today, before and after; None where who owns what is not known, or not divided."""
    was, now = State.of(before), State.of(after)
    return None if was is None or now is None else Change(was, now, timing, ending)


def _sum(parts: Sequence[float | None]) -> float | None:
    """None where a part is unknown."""
    known = [part for part in parts if part is not None]
    return round(sum(known), DIGITS) if len(known) == len(parts) else None
