"""Lag over time: how it grew, and whether it is under control (Burrow's rules over the last samples of a queue)."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rocketmq_capacity.contracts.facts import GroupFacts, lag_of
from rocketmq_capacity.vocabulary import BUSINESS

WINDOW: Final = 10
"""Samples that a verdict looks at, and needs (Burrow's own window)."""

_Offsets = tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Growth:
    """How the lag of a group grew over the samples, in messages.

    Attributes:
        by: from the first to the last sample of each queue; None where a queue has fewer than two samples, or the lag
            of its first or last one is unknown, and where there are no samples.
        now: at the last sample of each queue; None where it is unknown.
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
    """Whether a queue of a group has a lag that is not under control: it went back, stands still, or never fell.

    A queue with fewer samples than the window, or an unknown lag among them, has no verdict.
    Source: Burrow, core/internal/evaluator/caching.go (its rules STOP, STALL, REWIND and WARN; none is OK).
    """
    return any(_is_troubled(broker, consumer) for broker, consumer in _last_samples(group))


def _is_troubled(broker: _Offsets, consumer: _Offsets) -> bool:
    places = [offset for offset in consumer if offset is not None]
    lags = [lag for lag in map(lag_of, broker, consumer) if lag is not None]
    if len(lags) < WINDOW:
        return False
    went_back = any(later < earlier for earlier, later in pairwise(places))
    stood_still = len(set(places)) == 1
    never_fell = all(later >= earlier for earlier, later in pairwise(lags))
    return went_back or (min(lags) > 0 and (stood_still or never_fell))


def _last_samples(group: GroupFacts) -> Iterator[tuple[_Offsets, _Offsets]]:
    """The broker's and the group's offsets of the last samples of each queue.

    Only of business topics that the group subscribes: offsets outlive a subscription, and retry topics come and go.
    """
    business = {reads.topic.topic for reads in group.reads if reads.topic.kind == BUSINESS}
    for queue in group.samples:
        if queue.at_s and queue.topic in business:
            yield queue.broker_offset[-WINDOW:], queue.consumer_offset[-WINDOW:]


def _sum(parts: list[int | None]) -> int | None:
    """None where a part is unknown, and where there is none."""
    known = [part for part in parts if part is not None]
    return sum(known) if known and len(known) == len(parts) else None
