"""One queue that changes its owner: how long it is unread or read twice, and how many messages come twice."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np

from rocketmq_capacity.model.arrays import Integers, Numbers
from rocketmq_capacity.simulation.change import Ending
from rocketmq_capacity.simulation.delays import NO_TIME, Delay, DelaySpan, chance_later, later
from rocketmq_capacity.simulation.locks import Locks
from rocketmq_capacity.simulation.timing import BROKER_LOCK_S, CONSUME_TIMEOUT_S, MAX_SPAN
from rocketmq_capacity.vocabulary import FIRST_PULL_S, LOCK_RENEWAL_S


class Old(NamedTuple):
    """Who reads the queue before.

    Attributes:
        stops: when it stops reading; a client that ends stops at 0.
        ending: how it ends; None if it stays, or if it restarts with other code.
    """

    stops: Delay
    ending: Ending | None = None

    @property
    def commits(self) -> bool:
        """Whether it commits its offset when it stops.

        Source: RebalancePushImpl.removeUnnecessaryMessageQueue, DefaultMQPushConsumerImpl.shutdown.
        """
        return self.ending in (None, "SHUTDOWN")


@dataclass(frozen=True, slots=True)
class Traffic:
    """What is known of the messages of some queues. Arrays have one entry for each queue.

    Attributes:
        msgs_per_s: messages a second that producers write to it; NaN if unknown.
        most_msgs_per_s: messages a second that its reader may consume, such as when it catches up; 0 if unknown.
        lag: messages that its group has not read; MAX_SPAN if unknown.
        at_once: messages that its old reader handles at the same time (threads times batch); 0 if unknown.
    """

    msgs_per_s: Numbers
    most_msgs_per_s: Numbers
    lag: Integers
    at_once: Integers


class Passing(NamedTuple):
    """A queue between two readers; times in seconds.

    Attributes:
        unread: how long nobody reads it.
        twice: how long two clients read it.
        lock_wait: how much of `unread` is a wait for the lock of a queue that is consumed in order.
        overlap: how likely the two readers overlap.
    """

    unread: DelaySpan
    twice: DelaySpan
    lock_wait: DelaySpan
    overlap: float


NOTHING_PASSES: Final = Passing(NO_TIME, NO_TIME, NO_TIME, 0.0)


@lru_cache(maxsize=4096)
def passing(old: Old, new: Delay, locks: Locks | None, *, refused_s: float) -> Passing:
    """A queue that one client gives up and another one takes; each client notices the change by itself.

    Concurrent consumption: the two clients do not wait for each other. If the old reader stops first, the queue is
    unread in between. If the new reader begins first, it is read twice.
    Consumption in order: the new reader needs the broker's lock, and waits until the old one gives it back. So two
    clients never read the queue.

    Args:
        old: who reads it before.
        new: when the new reader rebalances and takes the queue; its first pull comes `FIRST_PULL_S` later.
        locks: how the clients pass on locks; None if they do not consume in order.
        refused_s: for how long, at worst, brokers refuse the new reader's pulls.
    """
    noticed = Delay() if locks is None else locks.noticed
    first_pull = noticed.plus(Delay(FIRST_PULL_S, (), FIRST_PULL_S + refused_s))
    begins = new.plus(first_pull)
    without = later(begins, old.stops)
    if locks is None:
        return Passing(without, later(old.stops, begins), NO_TIME, chance_later(old.stops, begins))
    free = _unlocked(old, locks)
    waits = later(free, new)
    # A reader that finds the queue locked tries again. Otherwise it reads as soon as it knows that it has the lock.
    tries = locks.asked_again.span if waits.worst > 0 else NO_TIME
    lock_wait = waits.plus(tries)
    best = max(without.best, max(new.least, free.least) + first_pull.least - old.stops.most, first_pull.least)
    # The new reader begins at the later of both moments, and max(a, b) = a + max(b - a, 0).
    expected = max(_mean(begins) + lock_wait.expected - _mean(old.stops), best)
    worst = max(without.worst, free.most - _least_before(old) + tries.worst + first_pull.most, expected)
    return Passing(DelaySpan(best, expected, worst), NO_TIME, lock_wait, 0.0)


def _unlocked(old: Old, locks: Locks) -> Delay:
    """When the broker's lock of a queue is free.

    A client that shuts down gives its locks back, and one that stays does so as `locks` says. A killed client does not:
    its lock ends `BROKER_LOCK_S` after the last renewal, which was up to `LOCK_RENEWAL_S` ago.
    Source: ConsumeMessageOrderlyService.shutdown, RebalanceLockManager.
    """
    if old.ending == "SHUTDOWN":
        return old.stops
    if old.ending is not None:
        return Delay.of(BROKER_LOCK_S - LOCK_RENEWAL_S, (LOCK_RENEWAL_S,))
    return old.stops.plus(locks.kept)


def _least_before(old: Old) -> float:
    """When the old reader stops, in the case with the longest wait for its lock."""
    if old.ending is not None:
        return old.stops.least
    return old.stops.most


def _mean(delay: Delay) -> float:
    return delay.span.expected


def messages_twice(old: Old, passing: Passing, traffic: Traffic, *, persist_s: float) -> tuple[Numbers, Numbers]:
    """Messages of some queues that are consumed twice, on average and at worst; NaN if the rate is unknown.

    These messages come twice:

    - messages that both clients read while they overlap;
    - messages consumed since the last commit, if the old reader does not commit when it stops, or if the new reader
      begins before that;
    - messages that the old reader is working on, because their result is thrown away
      (ConsumeMessageConcurrentlyService.processConsumeResult);
    - at worst, all messages consumed after one slow message, which holds the offset back. These are at most `MAX_SPAN`,
      and at most the queue's lag and what it got in `CONSUME_TIMEOUT_S`.

    Args:
        old: who reads them before.
        passing: the times between the two readers.
        traffic: the queues' messages.
        persist_s: how often offsets are committed.
    """
    twice = passing.twice
    most = np.maximum(traffic.msgs_per_s, traffic.most_msgs_per_s)
    # On average, half a period has passed since the last commit.
    mean_s = twice.expected + (passing.overlap if old.commits else 1.0) * persist_s / 2
    expected = traffic.msgs_per_s * mean_s
    uncommitted_s = 0.0 if old.commits and twice.worst == 0 else persist_s
    held = most * CONSUME_TIMEOUT_S + traffic.lag + traffic.at_once
    worst = most * (twice.worst + uncommitted_s) + np.minimum(MAX_SPAN, held)
    return expected, np.maximum(worst, expected)
