"""Lag over time: how it grew, and whether it is under control (Burrow's rules over the last samples of a queue)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, Literal, get_args

from rocketmq_capacity.contracts.dataset import Queue
from rocketmq_capacity.contracts.facts import GroupFacts, Samples, lag_of
from rocketmq_capacity.vocabulary import BUSINESS

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

_Offsets = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """How the lag of a group grew over the samples, in messages.

    Attributes:
        by: from the first to the last sample of each queue; None if there are no samples, if a queue has fewer than
            two, or if the lag of its first or last one is unknown.
        now: at the last sample of each queue; None if unknown.
    """

    by: int | None
    now: int | None


def lag_growth(group: GroupFacts) -> Growth:
    """How the lag of a group grew."""
    growths, lags = [], []
    for broker, consumer in _last_samples(group):
        first, last = lag_of(broker[0], consumer[0]), lag_of(broker[-1], consumer[-1])
        growths.append(None if first is None or last is None or len(broker) < 2 else last - first)
        lags.append(last)
    return Growth(_sum(growths), _sum(lags))


def has_lag_trouble(group: GroupFacts) -> bool:
    """Whether the lag of a queue of a group is not under control."""
    return any(state.state != OK for state in queue_states(group))


@dataclass(frozen=True, slots=True)
class QueueState:
    """The state of a queue's lag by its last samples.

    Attributes:
        queue: its name.
        state: STOP, REWIND, STALL, WARN or OK.
        lag: messages at the last sample.
        most: messages at the sample that had most.
    """

    queue: Queue
    state: State
    lag: int
    most: int


def queue_states(group: GroupFacts) -> list[QueueState]:
    """The state of each queue by name; a queue with fewer samples than the window, or an unknown lag, has none.

    Source: Burrow, core/internal/evaluator/caching.go.
    """
    behind_s = {(one.topic, one.broker_name, one.queue_id): one.behind_s for one in group.lags}
    owned = {(one.topic, one.broker_name, one.queue_id) for one in group.owned}
    states = []
    for one in _business_samples(group):
        broker, consumer, at_s = one.broker_offset[-WINDOW:], one.consumer_offset[-WINDOW:], one.at_s[-WINDOW:]
        places = [offset for offset in consumer if offset is not None]
        lags = [lag for lag in map(lag_of, broker, consumer) if lag is not None]
        if len(lags) < WINDOW:
            continue
        name = one.topic, one.broker_name, one.queue_id
        age_s, span_s = behind_s.get(name), at_s[-1] - at_s[0]
        # A client that owns the queue commits every few seconds, even if its offset does not change.
        is_left = age_s is not None and age_s > span_s and name not in owned
        states.append(QueueState(Queue(*name), _state(places, lags, is_left=is_left), lags[-1], max(lags)))
    return sorted(states, key=lambda state: state.queue)


def _state(places: list[int], lags: list[int], *, is_left: bool) -> State:
    """The first of Burrow's rules that applies.

    Args:
        places: the group's offsets.
        lags: messages behind at the same moments.
        is_left: whether the last message read is older than the window, and nobody owns the queue.
    """
    stood_still, was_behind = len(set(places)) == 1, min(lags) > 0
    if is_left and stood_still and was_behind:
        return STOP
    if any(later < earlier for earlier, later in pairwise(places)):
        return REWIND
    if stood_still and was_behind:
        return STALL
    never_fell = all(later >= earlier for earlier, later in pairwise(lags))
    return WARN if was_behind and never_fell else OK


def business_topics(group: GroupFacts) -> frozenset[str]:
    """Business topics that the group subscribes to: it may still have offsets on others.

    The subscriptions of an offline group are unknown; its unit has samples only of business topics.
    """
    if not group.reads and not group.consumers:
        return frozenset(queue.topic for queue in group.samples)
    return frozenset(reads.topic.topic for reads in group.reads if reads.topic.kind == BUSINESS)


def _business_samples(group: GroupFacts) -> Iterator[Samples]:
    """The samples of each queue of a business topic."""
    topics = business_topics(group)
    for queue in group.samples:
        if queue.at_s and queue.topic in topics:
            yield queue


def _last_samples(group: GroupFacts) -> Iterator[tuple[_Offsets, _Offsets]]:
    """The broker's and the group's offsets of the last samples of each queue."""
    for queue in _business_samples(group):
        yield queue.broker_offset[-WINDOW:], queue.consumer_offset[-WINDOW:]


def _sum(parts: list[int | None]) -> int | None:
    """The sum; None if a part is unknown, or if there are no parts."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
