"""What one kind of producers does on one layout of queues while brokers are in trouble, as sums over its messages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

import numpy as np

from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.producers.ensemble import PROXY_REFRESH_MS, Habits, RouteTrouble, Watched, watch
from rocketmq_capacity.producers.layout import RouteLayout
from rocketmq_capacity.producers.senders import PROXY, Sender
from rocketmq_capacity.producers.troubles import (
    Troubles,
    answers,
    changes_ms,
    known_from_ms,
    route_after,
    slow_ms,
    trouble_ms,
    watched_ms,
)
from rocketmq_capacity.settings.policy import Policy

LENGTHS_S: Final = (1, 2, 5, 10, 30, 60, 300)
"""How long the slices of a timeline may be."""
_AT_ONCE: Final = 500_000
"""About so many messages are added up at once, which takes some 50 MB."""


@dataclass(frozen=True, slots=True)
class Slices:
    """Sums over the messages that begin in each slice of time. Arrays: a row a slice and a column a broker.

    Attributes:
        length_s: how long a slice is.
        messages: all messages; one entry a slice.
        ended: messages whose last try was at the broker.
        failed: those of them that failed for good.
        tries: tries at the broker.
        taken_ms: how long the messages took that ended there.
    """

    length_s: int
    messages: Integers
    ended: Integers
    failed: Integers
    tries: Integers
    taken_ms: Integers

    def longer(self, length_s: int) -> "Slices":
        """The sums of longer slices; ``length_s`` is a multiple of the length."""
        first = np.arange(0, len(self.messages), length_s // self.length_s)
        sums = (self.messages, self.ended, self.failed, self.tries, self.taken_ms)
        return Slices(length_s, *(np.add.reduceat(one, first, axis=0) for one in sums))


@dataclass(frozen=True, slots=True)
class SendingCourse:
    """The simulation of a kind of producers on a layout. Messages are those that begin while the trouble lasts.

    Attributes:
        sender: the kind.
        layout: the layout whose brokers were simulated; columns stand for its brokers.
        threads: the number of threads.
        turns: how much was simulated: messages one by one, and turns of messages.
        trouble_ms: how long the trouble lasts.
        until_ms: when the simulation ends.
        has_slow: whether a broker is slow.
        messages: the number of messages.
        failed: messages that failed for good.
        in_trouble: messages whose last try was at a broker in trouble.
        tries: all tries of the messages.
        taken_ms: how long all messages took together.
        last_failed_ms: when the last message begins that fails, to the end of the simulation; None if none does.
        left_ms: when the last message begins that is tried at a lost or read-only broker; None if none is.
        returns_ms: for each thread that tries a slow broker again, how long after the slow time it does.
        displaced_queues: entries of a thread's list that differ from the route, on average.
        afterwards: the share of each broker when all is well again; 0 without queues.
        slices: the sums by time and broker, to the end of the simulation.
    """

    sender: Sender
    layout: RouteLayout
    threads: int
    turns: int
    trouble_ms: int
    until_ms: int
    has_slow: bool
    messages: int
    failed: int
    in_trouble: int
    tries: int
    taken_ms: int
    last_failed_ms: int | None
    left_ms: int | None
    returns_ms: tuple[int, ...]
    displaced_queues: float
    afterwards: tuple[float, ...]
    slices: Slices


def simulate(
    sender: Sender, ending: str | None, layout: RouteLayout, troubles: Troubles, policy: Policy, *, most_slices: int
) -> SendingCourse:
    """Let an ensemble of a kind of producers send while brokers are in trouble.

    Args:
        sender: the kind.
        ending: how lost brokers end; None if none is lost.
        layout: the queues.
        troubles: what happens to brokers; those of other brokers do not count.
        policy: how producers send.
        most_slices: there are at most so many slices, if slices of 300 s allow it.
    """
    habits = habits_of(policy)
    if sender.client == PROXY:
        habits = replace(habits, refresh_ms=PROXY_REFRESH_MS)
    troubles = troubles.on({place.broker_name for place in layout.places})
    usual_ms = policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms
    trouble = RouteTrouble(
        answers(troubles, ending, usual_ms, is_ordered=layout.is_ordered),
        until_ms=watched_ms(sender, ending, troubles, habits),
        changes_ms=changes_ms(troubles),
        route_after=route_after(layout.places, troubles),
        known_from_ms=known_from_ms(ending) if troubles.lost else 0,
    )
    sums = _Sums(layout, trouble.until_ms, trouble_ms(ending, troubles, habits), troubles, most_slices)
    waiting: list[Watched] = []
    for thread in watch(sender, layout.places, trouble, habits):
        waiting.append(thread)
        if sum(len(one.messages.begun_ms) for one in waiting) > _AT_ONCE:
            sums.add(waiting)
            waiting.clear()
    sums.add(waiting)
    return sums.course(sender)


def habits_of(policy: Policy) -> Habits:
    """How each thread of a Java client sends."""
    asked, sends = policy.thresholds.TRANSITION.poll_nameserver_s, policy.thresholds.PRODUCER_TIMELINE
    return Habits(interval_ms=sends.send_interval_ms, refresh_ms=round(asked * 1000))


class _Sums:
    """The sums over all threads so far."""

    def __init__(
        self, layout: RouteLayout, until_ms: int, trouble_ms: int, troubles: Troubles, most_slices: int
    ) -> None:
        names = [place.broker_name for place in layout.places]
        seconds = ceil(until_ms / 1000)
        slow = [name in troubles.slow and name not in troubles.lost for name in names]
        gone = [name in troubles.lost | troubles.read_only for name in names]
        self._layout, self._until_ms, self._trouble_ms = layout, until_ms, trouble_ms
        # One more entry stands for messages without a try, whose last broker has the number -1.
        self._slow, self._gone = np.array([*slow, False]), np.array([*gone, False])
        ends_ms = [slow_ms(troubles.slow[name][1]) for name, is_slow in zip(names, slow, strict=True) if is_slow]
        self._ends_ms = max(ends_ms, default=None)
        self._length_s = next((one for one in LENGTHS_S if ceil(seconds / one) <= most_slices), LENGTHS_S[-1])
        self._shape = ceil(seconds / self._length_s), len(names)
        self._messages = np.zeros(self._shape[0], np.int64)
        self._by_broker = np.zeros((4, *self._shape), np.int64)
        self._counts = np.zeros(5, np.int64)
        self._last_failed_ms: list[int] = []
        self._left_ms: list[int] = []
        self._returns_ms: list[int] = []
        self._held = np.zeros(len(names))
        self._threads = self._turns = self._displaced = 0

    def add(self, threads: Sequence[Watched]) -> None:
        """Add these threads."""
        if not threads:
            return
        begun_ms, taken_ms, last, tries, is_stored = map(
            np.concatenate, zip(*(one.messages for one in threads), strict=True)
        )
        tried_ms, tried, _ = map(np.concatenate, zip(*(one.tries for one in threads), strict=True))
        self._threads += len(threads)
        self._turns += sum(one.turns for one in threads)
        self._displaced += sum(one.displaced_queues for one in threads)
        for thread in threads:
            self._held += thread.held
            self._add_return(thread)
        during = begun_ms < self._trouble_ms
        in_trouble = (self._slow | self._gone)[last]
        self._counts += [
            np.count_nonzero(during),
            np.count_nonzero(during & ~is_stored),
            np.count_nonzero(during & in_trouble),
            tries[during].sum(),
            taken_ms[during].sum(),
        ]
        self._last_failed_ms += _latest(begun_ms[~is_stored])
        self._left_ms += _latest(tried_ms[self._gone[tried]])
        has_tried = last >= 0
        self._messages += np.bincount(self._slice(begun_ms), minlength=self._shape[0])
        at = (self._slice(begun_ms) * self._shape[1] + last)[has_tried]
        tries_at = self._slice(tried_ms) * self._shape[1] + tried
        self._by_broker += [
            self._counted(at),
            self._counted(at[~is_stored[has_tried]]),
            self._counted(tries_at),
            self._counted(at, taken_ms[has_tried]),
        ]

    def course(self, sender: Sender) -> SendingCourse:
        """All of them."""
        messages, failed, in_trouble, tries, taken_ms = self._counts.tolist()
        held = self._held.sum()
        return SendingCourse(
            sender=sender,
            layout=self._layout,
            threads=self._threads,
            turns=self._turns,
            trouble_ms=self._trouble_ms,
            until_ms=self._until_ms,
            has_slow=self._ends_ms is not None,
            messages=messages,
            failed=failed,
            in_trouble=in_trouble,
            tries=tries,
            taken_ms=taken_ms,
            last_failed_ms=max(self._last_failed_ms, default=None),
            left_ms=max(self._left_ms, default=None),
            returns_ms=tuple(self._returns_ms),
            displaced_queues=self._displaced / max(self._threads, 1),
            afterwards=tuple((self._held / held).tolist()) if held else (0.0,) * len(self._held),
            slices=Slices(self._length_s, self._messages, *self._by_broker),
        )

    def _add_return(self, thread: Watched) -> None:
        if self._ends_ms is not None:
            begun_ms, broker, _ = thread.tries
            after = begun_ms[(begun_ms >= self._ends_ms) & self._slow[broker]]
            self._returns_ms += [int(after.min()) - self._ends_ms] if len(after) else []

    def _slice(self, begun_ms: Integers) -> Integers:
        return begun_ms // (self._length_s * 1000)

    def _counted(self, at: Integers, weights: Integers | None = None) -> Integers:
        counted = np.bincount(at, weights, minlength=self._shape[0] * self._shape[1])
        return np.rint(counted).astype(np.int64).reshape(self._shape)


def _latest(begun_ms: Iterable[int] | Integers) -> list[int]:
    times = np.asarray(begun_ms)
    return [int(times.max())] if len(times) else []
