"""Lag over time: how it grew, and whether it is under control (Burrow's rules over the last samples of a queue)."""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from operator import sub
from typing import Final, Literal, get_args

from rocketmq_capacity.model.facts import GroupFacts, Samples, lag_of
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import BUSINESS
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

_Offsets = tuple[int | None, ...]


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


def lag_growth(group: GroupFacts, without: Set[Queue] = frozenset()) -> Growth:
    """How the lag of a group grew; ``without`` are queues that do not count.

    Clients of a broadcasting group keep their own offsets, so that those of the brokers say nothing.
    """
    growths, lags, spans_s = [], [], [0.0]
    for queue in _business_samples(group):
        if without and Queue(queue.topic, queue.broker_name, queue.queue_id) in without:
            continue
        begin = -WINDOW if len(queue.at_s) > WINDOW else 0
        first = lag_of(queue.broker_offset[begin], queue.consumer_offset[begin])
        last = lag_of(queue.broker_offset[-1], queue.consumer_offset[-1])
        growths.append(None if first is None or last is None or len(queue.at_s) < 2 else last - first)
        lags.append(last)
        spans_s.append(queue.at_s[-1] - queue.at_s[begin])
    return Growth(_sum(growths), _sum(lags), max(spans_s))


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


def queue_states(group: GroupFacts) -> list[QueueState]:
    """The state of each queue by name; a queue with fewer samples than the window, or an unknown lag, has none.

    Source: Burrow, core/internal/evaluator/caching.go.
    """
    return _by_name(_judged(group))


def lag_troubles(group: GroupFacts) -> list[QueueState]:
    """The state of each queue whose lag is not under control, by name."""
    return _by_name(one for one in _judged(group) if one[1] != OK)


def _by_name(judged: Iterable[tuple[Samples, State, list[int]]]) -> list[QueueState]:
    states = [
        QueueState(
            Queue(one.topic, one.broker_name, one.queue_id),
            state,
            lags[-1],
            max(lags),
            lags[-1] - lags[0],
            (one.broker_offset[-1] or 0) - (one.broker_offset[-WINDOW] or 0),
            one.at_s[-1] - one.at_s[-WINDOW],
        )
        for one, state, lags in judged
    ]
    return sorted(states, key=lambda state: state.queue)


def _judged(group: GroupFacts) -> Iterator[tuple[Samples, State, list[int]]]:
    """The samples of each queue with the first of Burrow's rules that applies, and its lags in the window."""
    ages_s: dict[tuple[str, str, int], float] | None = None
    for one in _business_samples(group):
        if len(one.at_s) < WINDOW:
            continue
        broker, places = _known(one.broker_offset[-WINDOW:]), _known(one.consumer_offset[-WINDOW:])
        if len(broker) < WINDOW or len(places) < WINDOW:
            continue
        lags = list(map(sub, broker, places))
        least = min(lags)
        if least < 0:
            continue  # unknown, see lag_of
        if least and places.count(places[0]) == WINDOW:
            ages_s = _left_for_s(group) if ages_s is None else ages_s
            at_s, age_s = one.at_s[-WINDOW:], ages_s.get((one.topic, one.broker_name, one.queue_id))
            yield one, STALL if age_s is None or age_s <= at_s[-1] - at_s[0] else STOP, lags
        elif places != sorted(places):
            yield one, REWIND, lags
        else:
            yield one, WARN if least and lags == sorted(lags) else OK, lags


def stands_s(samples: Samples) -> float | None:
    """For how many seconds of the last samples messages waited and the offset did not move; None if it moved."""
    if not samples.at_s:
        return None
    last = samples.consumer_offset[-1]
    since, number = samples.at_s[-1], 0
    told = zip(samples.at_s, samples.broker_offset, samples.consumer_offset, strict=True)
    for at_s, broker, consumer in reversed(list(told)):
        if consumer is None or consumer != last or not lag_of(broker, consumer):
            break
        since, number = at_s, number + 1
    return samples.at_s[-1] - since if number > 1 else None


def _left_for_s(group: GroupFacts) -> dict[tuple[str, str, int], float]:
    """How many seconds ago the last message was read of each queue that nobody owns.

    A client that owns a queue commits every few seconds, even if its offset does not change.
    """
    behind_s = {(one.topic, one.broker_name, one.queue_id): one.behind_s for one in group.lags}
    owned = {(one.topic, one.broker_name, one.queue_id) for one in group.owned}
    return {name: age_s for name, age_s in behind_s.items() if age_s is not None and name not in owned}


def _known(offsets: _Offsets) -> list[int]:
    return [offset for offset in offsets if offset is not None]


def business_topics(group: GroupFacts) -> frozenset[str]:
    """Business topics that the group subscribes to: it may still have offsets on others.

    The subscriptions of an offline group are unknown; its unit has samples only of business topics.
    """
    if not group.reads and not group.consumers:
        return frozenset(queue.topic for queue in group.samples)
    return frozenset(reads.topic.topic for reads in group.reads if reads.topic.kind == BUSINESS)


def _business_samples(group: GroupFacts) -> list[Samples]:
    """The samples of each queue of a business topic; none of a broadcasting group, whose clients keep their offsets."""
    topics = frozenset() if group.is_broadcasting else business_topics(group)
    return [queue for queue in group.samples if queue.at_s and queue.topic in topics]


def _sum(parts: list[int | None]) -> int | None:
    """The sum; None if a part is unknown, or if there are no parts."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
