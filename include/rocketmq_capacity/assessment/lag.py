"""Lag over time: how it grew, and whether it is under control (Burrow's rules over the last samples of a queue)."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np

from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.facts import UNKNOWN, GroupFacts
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.wording import rounded

WINDOW: Final = 10
"""The number of samples that a verdict uses and needs (Burrow's own window)."""

STOP: Final = "STOP"
REWIND: Final = "REWIND"
STALL: Final = "STALL"
WARN: Final = "WARN"
OK: Final = "OK"
State = Literal["STOP", "REWIND", "STALL", "WARN", "OK"]
STATES: Final[tuple[State, ...]] = get_args(State)
"""Worst first, which is also the order in which they are checked."""
STANDING: Final[tuple[State, ...]] = (STOP, STALL)
"""States of a queue whose offset did not move at all, although messages wait."""

HOUR_S: Final = 3600


@dataclass(frozen=True, slots=True)
class Growth:
    """How the lag of a group grew over the samples, in messages.

    Attributes:
        by: from the first to the last sample of each queue; None if there are no samples, if a queue has fewer than
            two, or if the lag of its first or last one is unknown.
        now: at the last sample of each queue; None if unknown.
        over_s: the seconds from the first sample of a queue to its last one, the most of all queues.
        usual: messages by which lag goes up and down from one commit to the next; it grows only if it grew by more.
    """

    by: int | None
    now: int | None
    over_s: float = 0.0
    usual: float = 0.0

    def is_above(self, least: int) -> bool:
        """Whether lag is known to grow and to be at least so many messages; less comes and goes with every batch."""
        return self.by is not None and self.by > self.usual and self.now is not None and self.now >= least

    @property
    def words(self) -> str:
        """How it grew, and how fast: ``lag grew by 18,360 messages in 12 h, 1,530 an hour``."""
        return f"lag {grown(self.by or 0, self.over_s)}"


def lag_growth(sampled: Sampled, without: Set[Queue] = frozenset()) -> Growth:
    """How the lag of a group grew; ``without`` are queues that do not count."""
    counts = sampled.is_judged
    if without:
        counts = counts & np.array([name not in without for name in sampled.names], bool)
    last, lag = sampled.end[counts] - 1, sampled.lag
    first = last + 1 - np.minimum(sampled.counts[counts], WINDOW)
    then, now = lag[first], lag[last]
    is_known = (last > first) & (then != UNKNOWN) & (now != UNKNOWN)
    spans_s = sampled.at_s[last] - sampled.at_s[first]
    return Growth(
        sum((now - then).tolist()) if len(last) and is_known.all() else None,
        sum(now.tolist()) if len(last) and (now != UNKNOWN).all() else None,
        float(spans_s.max(initial=0.0)),
    )


def grown(by: int, over_s: float) -> str:
    """Growth in words, with its rate: ``grew by 18,360 messages in 12 h, 1,530 an hour``."""
    rate = "" if over_s <= 0 else f" in {duration(over_s)}, {by * HOUR_S / over_s:,.0f} an hour"
    return f"grew by {by:,} {'message' if by == 1 else 'messages'}{rate}"


def duration(seconds: float) -> str:
    """A time for a sentence: ``12 h``, ``1.5 h``, ``9 min``, ``45 s``."""
    for unit_s, unit in ((HOUR_S, "h"), (60, "min")):
        if seconds >= unit_s:
            return f"{rounded(seconds / unit_s, 1):g} {unit}"
    return f"{seconds:.0f} s"


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of a queue's lag by its last samples.

    Attributes:
        queue: its name.
        state: STOP, REWIND, STALL, WARN or OK.
        lag: messages at the last sample.
        most: messages at the sample that had most.
        grew: messages by which it grew over the window; below 0 if it fell.
        written: messages that were written meanwhile.
        over_s: seconds from the first sample of the window to the last one.
    """

    queue: Queue
    state: State
    lag: int
    most: int
    grew: int
    written: int
    over_s: float


def queue_states(sampled: Sampled) -> list[QueueState]:
    """The state of each queue by name; a queue with fewer samples than the window, or an unknown lag, has none.

    Source: Burrow, core/internal/evaluator/caching.go.
    """
    queue = np.flatnonzero(sampled.is_judged & (sampled.counts >= WINDOW))
    return _states(sampled, queue) if len(queue) else []


def lag_troubles(sampled: Sampled) -> list[QueueState]:
    """The state of each queue whose lag is not under control, by name."""
    return [one for one in queue_states(sampled) if one.state != OK]


def left_behind(sampled: Sampled) -> list[QueueState]:
    """Of a group whose clients are gone, the queues on which messages wait, by name: nobody commits there any more.

    The window begins where the offset moved last, or one sample before if nothing was written since.
    """
    states = []
    for index in np.flatnonzero(sampled.is_judged).tolist():
        end = int(sampled.end[index])
        of_queue = slice(end - int(sampled.counts[index]), end)
        at_s, broker, lag = (each[of_queue].tolist() for each in (sampled.at_s, sampled.broker_offset, sampled.lag))
        if lag[-1] <= 0:  # it may be unknown
            continue
        moved = np.flatnonzero(sampled.consumer_offset[of_queue] != sampled.consumer_offset[end - 1])
        first = int(moved[-1]) + 1 if len(moved) else 0
        if first and broker[first] == broker[-1] and lag[first - 1] != UNKNOWN:
            first -= 1
        measured = max(lag[first:]), lag[-1] - lag[first], broker[-1] - broker[first], at_s[-1] - at_s[first]
        states.append(QueueState(sampled.names[index], STOP, lag[-1], *measured))
    return sorted(states, key=lambda state: state.queue)


def _states(sampled: Sampled, queue: Integers) -> list[QueueState]:
    """The first of Burrow's rules that applies to each of these queues, which have enough samples."""
    sample = sampled.end[queue][:, None] + np.arange(-WINDOW, 0)
    broker, places, lags = (each[sample] for each in (sampled.broker_offset, sampled.consumer_offset, sampled.lag))
    is_known = (lags != UNKNOWN).all(axis=1)
    queue, sample, broker, places, lags = (each[is_known] for each in (queue, sample, broker, places, lags))
    spans_s = sampled.at_s[sample[:, -1]] - sampled.at_s[sample[:, 0]]
    waits = lags.min(axis=1) > 0
    steps = np.diff(places)
    stands, rewinds = waits & (steps == 0).all(axis=1), (lags[:, -1] > 0) & (steps < 0).any(axis=1)
    is_warned = waits & (np.diff(lags) >= 0).all(axis=1)
    ages_s = _left_for_s(sampled.group) if stands.any() else {}
    figures = lags[:, -1], lags.max(axis=1), lags[:, -1] - lags[:, 0], broker[:, -1] - broker[:, 0], spans_s
    states = []
    for index, is_still, goes_back, is_behind, *measured in zip(
        *(each.tolist() for each in (queue, stands, rewinds, is_warned, *figures)), strict=True
    ):
        name = sampled.names[index]
        state: State = WARN if is_behind else OK
        if is_still:
            age_s = ages_s.get(name)
            state = STALL if age_s is None or age_s <= measured[-1] else STOP
        elif goes_back:
            state = REWIND
        states.append(QueueState(name, state, *measured))
    return sorted(states, key=lambda state: state.queue)


def _left_for_s(group: GroupFacts) -> dict[Queue, float]:
    """How many seconds ago the last message was read of each queue that nobody owns.

    A client that owns a queue commits every few seconds, even if its offset does not change.
    """
    owned = {one.queue for one in group.owned}
    return {name: one.behind_s for one in group.lags if one.behind_s is not None and (name := one.queue) not in owned}
