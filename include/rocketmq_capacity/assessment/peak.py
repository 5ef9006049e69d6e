"""The highest traffic of a group that was seen: in the stored days, or between the samples of its offsets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.loads import QueueWeights
from rocketmq_capacity.assessment.sampled import Sampled
from rocketmq_capacity.model.arrays import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import UNKNOWN
from rocketmq_capacity.model.queue_index import NO_QUEUE
from rocketmq_capacity.settings.events import Event, past_events
from rocketmq_capacity.vocabulary import PERM_WRITE

SAME: Final = 1e-9
"""Factors of topics that differ by no more than this share are the same."""


def utc_of(at_s: float | None) -> str | None:
    """A moment in seconds since 1970 as UTC ISO-8601."""
    if at_s is None:
        return None
    return datetime.fromtimestamp(at_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True)
class Peak:
    """The highest traffic of a group that was seen.

    Attributes:
        factor: messages at the peak / the measured rate, at least 1; None if no message was measured and some were
            seen before.
        msgs_per_s: messages a second that the group gets at the peak; None if the measured rates are unknown.
        at_s: when, in seconds since 1970: the hour of a stored day, or the end of the step between two samples; None
            for the moment of the snapshot.
        days: different days of which stored rates of all its topics are known.
        rates: how many rates were compared: the hours of the stored days, and the steps between samples.
        of_queues: messages a second of each queue of the division at the peak, by ``scale``; None: as measured.
        of_topics: of each topic how many times the measured messages these are; NaN if none were measured.
    """

    factor: float | None
    msgs_per_s: float | None
    at_s: float | None
    days: int
    rates: int
    of_queues: Numbers | None = None
    of_topics: Numbers | None = None

    @property
    def at(self) -> str | None:
        """When, UTC ISO-8601; None for the moment of the snapshot."""
        return utc_of(self.at_s)

    @property
    def scale(self) -> float:
        """What the work that is planned is multiplied by; see ``of_queues``."""
        return 1.0 if self.factor is None else self.factor


@dataclass(frozen=True, slots=True)
class _RatesAtMoment:
    """The rates of topics at one moment; NaN if unknown."""

    at_s: float
    of_topics: Numbers


def peak_of(
    division: Division, weights: QueueWeights, sampled: Sampled, events: Sequence[Event], taken_at: str
) -> Peak:
    """The highest traffic of a group, never below what is measured; without that of events that are over.

    A topic's messages at the peak come to its queues in the shares that were measured; evenly if none came then.
    """
    past, measured = division.group.past, weights.msgs_per_s
    days, hours = (0, 0) if past is None else (past.days, past.hours)
    queues = weights.queue
    topic = division.queues.topic[queues]
    topics = len(division.queues.topics)
    now = np.asarray(np.bincount(topic, measured[queues], topics), np.float64)
    over = past_events(events, datetime.fromisoformat(taken_at), [one.topic.topic for one in division.group.business])
    steps = list(_sampled(sampled, division, measured, now, over))
    seen = [*steps, *_stored(division)]
    covered = days, hours + len(steps)
    total = float(now.sum())
    if np.isnan(total):
        return Peak(1.0, None, None, *covered)
    highest, when, at_peak = total, None, now
    for moment in seen:
        then = np.fmax(now, moment.of_topics)
        # Sums of equal rates may differ in their last digit: of equal moments, the first counts.
        if then.sum() > highest * (1 + SAME):
            highest, when, at_peak = float(then.sum()), moment.at_s, then
    from_nothing = None if highest > 0 else 1.0
    factor = highest / total if total > 0 else from_nothing
    is_even = factor is not None and bool(np.all(np.abs(at_peak - factor * now) <= SAME * at_peak))
    if is_even:
        return Peak(factor, highest, when, *covered)
    planned = at_peak / (factor or 1.0)
    ratios = np.where(planned > 0, planned / np.where(now > 0, now, np.nan), 1.0)
    return Peak(factor, highest, when, *covered, _spread(division, measured, now, planned), ratios)


def _stored(division: Division) -> Iterator[_RatesAtMoment]:
    """The rates of the busy hour of the stored days."""
    past = division.group.past
    if past is None:
        return
    rates = [
        np.nan if reads.pass_ratio is None else past.msgs_per_s.get(reads.topic.topic, np.nan) * reads.pass_ratio
        for reads in division.queues.topics
    ]
    yield _RatesAtMoment(past.hour_s, np.array(rates, np.float64))


def _sampled(
    sampled: Sampled, division: Division, measured: Numbers, now: Numbers, over: Sequence[tuple[float, float]]
) -> Iterator[_RatesAtMoment]:
    """The rates between successive samples, without the times that are ``over``.

    None if an offset is unknown, or if queues were sampled at different moments. A topic's queues without samples keep
    their measured rates.
    """
    ratios = [reads.pass_ratio for reads in division.queues.topics]
    is_used = sampled.queue != NO_QUEUE
    is_used[is_used] = division.queues.is_business[sampled.queue[is_used]]
    queue, counts = sampled.queue[is_used], sampled.counts[is_used]
    if not len(counts) or (counts != counts[0]).any() or None in ratios:
        return
    sample = sampled.end[is_used][:, None] + np.arange(-int(counts[0]), 0)
    at_s, offsets = sampled.at_s[sample], sampled.broker_offset[sample]
    if (at_s != at_s[0]).any() or (offsets == UNKNOWN).any():
        return
    topic, topics = division.queues.topic[queue], len(division.queues.topics)
    written = offsets.astype(np.float64)
    rest = now - np.bincount(topic, measured[queue], topics)
    passes = np.array(ratios, np.float64)
    for (place, earlier), (after, later) in pairwise(enumerate(at_s[0].tolist())):
        if any(earlier < ends_s and begins_s < later for begins_s, ends_s in over):
            continue
        put = np.bincount(topic, (written[:, after] - written[:, place]) / (later - earlier), topics)
        yield _RatesAtMoment(later, rest + put * passes)


def _spread(division: Division, measured: Numbers, now: Numbers, of_topics: Numbers) -> Numbers:
    """What each queue of the division gets, if topics get this; queues of other kinds of topics as measured."""
    queues = division.queues
    topic, business = queues.topic, queues.is_business
    takes = np.array([bool((place.perm or 0) & PERM_WRITE) for place in queues.places], bool)[queues.place] & business
    has_writable = np.bincount(topic, takes, len(queues.topics))[topic] > 0
    even = np.where(has_writable, takes, business).astype(np.float64)
    share = np.where(now[topic] > 0, measured, even)
    whole = np.bincount(topic[business], share[business], len(queues.topics))[topic]
    return np.where(business & (whole > 0), share * of_topics[topic] / np.where(whole > 0, whole, 1.0), measured)
