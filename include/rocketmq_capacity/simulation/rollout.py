"""One rolling restart of a group: its batches, and the two rebalances that each of them causes.

A batch stops, and the others take its queues. It starts again, and takes queues back. Both are changes between two
states, as any other change of members. Strategies know nothing of earlier states, so each batch is computed alone.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.arrays import Flags, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.owners import NO_OWNERS
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.rolling_restart import ClientIds, RestartStep, RestartTotals
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.restarted import changes_its_id, restarted
from rocketmq_capacity.simulation.state import State
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.simulation.transition import DIGITS, OwnerChange
from rocketmq_capacity.tables.transition import TransitionOfGroup


@dataclass(frozen=True, slots=True)
class Manner:
    """How the clients of a group are restarted.

    Attributes:
        strategy: what they run.
        batch: how many of them restart at the same time.
        pause_s: from the start of a batch until the next one stops.
        ending: how they end.
        keeps_ids: every client comes back with its own id.
    """

    strategy: str
    batch: int
    pause_s: float
    ending: Ending
    keeps_ids: bool = False


@dataclass(frozen=True)
class Batch:
    """A batch that stops and starts again.

    Attributes:
        step: its number, from 1 on.
        clients: its clients, as they are before.
        stop: what their end changes.
        start: what their start changes.
        down_s: how long they are down.
    """

    step: int
    clients: Sequence[Consumer]
    stop: OwnerChange
    start: OwnerChange
    down_s: float

    @cached_property
    def _totals(self) -> tuple[TransitionOfGroup, TransitionOfGroup]:
        return self.stop.totals(), self.start.totals()

    @cached_property
    def _waits_for_start(self) -> Flags:
        """Whether each queue has an owner only before and after, such as all queues if every client is down."""
        moved = self.stop.moved
        waits = np.zeros(len(self.start.after.division.queues), bool)
        waits[moved.queue] = (moved.new == 0) & (moved.old > 0)
        return waits

    @cached_property
    def unread_worst_s(self) -> Numbers:
        """For each queue, how long nobody reads it at worst: it waits in both rebalances, and while they are down."""
        unread_s = np.where(self._waits_for_start, self.down_s, 0.0)
        for change in (self.stop, self.start):
            unread_s[change.moved.queue] += change.unread_worst_s
        return unread_s

    @property
    def entry(self) -> RestartStep:
        """The batch as the plan file has it."""
        stop, start = self._totals
        expected = [one.unread_longest_expected_s for one in (stop, start)]
        if self._waits_for_start.any():
            expected.append(self.down_s + start.unread_longest_expected_s)
        return RestartStep(
            step=self.step,
            client_ids=tuple(one.client_id for one in self.clients),
            moved_at_stop=stop.moved_queues,
            moved_at_start=start.moved_queues,
            unread_longest_expected_s=max(expected),
            unread_longest_worst_s=round(float(self.unread_worst_s.max(initial=0.0)), DIGITS),
            lock_wait_worst_s=max(stop.lock_wait_worst_s, start.lock_wait_worst_s),
            messages_twice_expected=_sum((stop.messages_twice_expected, start.messages_twice_expected)),
            messages_twice_worst=_sum((stop.messages_twice_worst, start.messages_twice_worst)),
        )

    @property
    def settles_s(self) -> float:
        """After how long every queue has one reader at worst, if the clients come back at once."""
        waits = self.unread_worst_s - np.where(self._waits_for_start, self.down_s, 0.0)
        twice = [one.twice_longest_worst_s for one in self._totals]
        return round(max(float(waits.max(initial=0.0)), *twice), DIGITS)


@dataclass(frozen=True)
class Rollout:
    """A rolling restart of a group.

    Attributes:
        group: the group.
        manner: how it is done.
        timing: the timers of the cluster and its clients.
        budget: clients and queues of all computed batches together, which bounds the time that this takes.
    """

    group: AssessedGroup
    manner: Manner
    timing: Timing
    budget: int

    @property
    def _consumers(self) -> Sequence[Consumer]:
        """The clients in the order of their restarts: that of their ids."""
        return self.group.division.members.consumers

    @property
    def steps(self) -> int:
        """The number of batches."""
        return -(-len(self._consumers) // self.manner.batch)

    @property
    def _computed(self) -> list[int]:
        """The batches that are computed: all, or as many as the budget allows, evenly spread, with both ends."""
        size = len(self._consumers) + len(self.group.division.queues)
        most = max(LEAST_STEPS, self.budget // max(size, 1))
        if self.steps <= most:
            return list(range(self.steps))
        return sorted({round(place) for place in np.linspace(0, self.steps - 1, most).tolist()})

    def batches(self) -> Iterator[Batch] | None:
        """The computed batches; None if it is not known who owns the queues meanwhile."""
        if not all(self._is_known(one) for one in self._edges):
            return None
        return map(self._batch, self._computed)

    @property
    def _edges(self) -> Iterator[Division]:
        """The group with its first batch down, and after the whole restart."""
        yield self._division(0, min(self.manner.batch, len(self._consumers)))
        yield self._division(len(self._consumers), len(self._consumers))

    def _is_known(self, division: Division) -> bool:
        if not division.members.consumers:
            return True
        verdict = self.group.allocator.verdict(self.manner.strategy, division)
        return verdict.is_applicable and not verdict.throws_for

    def _batch(self, index: int) -> Batch:
        first, size = index * self.manner.batch, self.manner.batch
        last = min(first + size, len(self._consumers))
        before, without, after = self._state(first, first), self._state(first, last), self._state(last, last)
        stop = OwnerChange(before, without, self.timing, self.manner.ending)
        start = OwnerChange(without, after, self.timing, self.manner.ending)
        return Batch(index + 1, self._consumers[first:last], stop, start, self.timing.rollout_s)

    def _division(self, first: int, last: int) -> Division:
        """The group with the clients before ``first`` restarted, and those from there up to ``last`` down."""
        every, keeps = self._consumers, self.manner.keeps_ids
        done = (one if keeps else restarted(one, place) for place, one in enumerate(every[:first]))
        return Division.of(structs.replace(self.group.facts, consumers=(*done, *every[last:])))

    def _state(self, first: int, last: int) -> State:
        division, strategy = self._division(first, last), self.manner.strategy
        ids = division.members.client_ids
        owners = self.group.allocator.owners(strategy, division) if ids else NO_OWNERS
        return State(division, owners, dict.fromkeys(ids, strategy))

    @property
    def client_ids(self) -> ClientIds:
        """Whether clients come back with other ids."""
        new = sum(changes_its_id(one.client_id) for one in self._consumers)
        if self.manner.keeps_ids or not new:
            return "SAME"
        return "NEW" if new == len(self._consumers) else "SOME_NEW"

    @property
    def busy_ratio(self) -> float | None:
        """The busy share of the busiest client at the peak while a batch is down; None if unknown.

        The load of the batch spreads evenly.
        """
        use, left = self.group.provision.at_peak, len(self._consumers) - self.manner.batch
        return use.estimate * len(self._consumers) / left if use is not None and left > 0 else None

    def totals(self, batches: Sequence[Batch]) -> RestartTotals:
        """The whole restart, from its computed batches."""
        entries, manner = [one.entry for one in batches], self.manner
        scale, settles_s = self.steps / len(batches), max(one.settles_s for one in batches)
        moved = sum(one.moved_at_stop + one.moved_at_start for one in entries)
        return RestartTotals(
            strategy=manner.strategy,
            batch=manner.batch,
            pause_s=manner.pause_s,
            ending=manner.ending,
            client_ids=self.client_ids,
            steps=self.steps,
            computed_steps=len(batches),
            rebalances=2 * self.steps,
            moved_queues=round(moved * scale),
            unread_longest_expected_s=max(one.unread_longest_expected_s for one in entries),
            unread_longest_worst_s=self._unread_worst_s(batches, settles_s),
            lock_wait_worst_s=max(one.lock_wait_worst_s for one in entries),
            messages_twice_expected=_sum([one.messages_twice_expected for one in entries], scale),
            messages_twice_worst=_sum([one.messages_twice_worst for one in entries], scale),
            settles_s=settles_s,
            lasts_s=self.steps * self.timing.rollout_s + (self.steps - 1) * manner.pause_s,
            busy_ratio=self.busy_ratio,
        )

    def _unread_worst_s(self, batches: Sequence[Batch], settles_s: float) -> float | None:
        """The longest that a queue is unread at worst.

        If the pause is too short, a batch may stop before the last change has spread. Then a queue's waits add up over
        the steps. That is unknown if some steps are not computed.
        """
        unread_s = np.array([one.unread_worst_s for one in batches])
        if self.manner.pause_s >= settles_s:
            return round(float(unread_s.max(initial=0.0)), DIGITS)
        return round(float(unread_s.sum(axis=0).max(initial=0.0)), DIGITS) if len(batches) == self.steps else None


LEAST_STEPS: Final = 3
"""Batches that are computed of the largest group: the first, one in the middle, and the last."""


def _sum(messages: Sequence[float | None], scale: float = 1.0) -> float | None:
    """The sum, or that of all steps if these are some of them; None if one is unknown."""
    total = sum_of(messages)
    return None if total is None else round(total * scale, DIGITS)
