"""The highest traffic of a group that was seen: in the stored days, or between the samples of its offsets."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.vocabulary import PERM_WRITE

SAME: Final = 1e-9
"""Factors of topics that differ by no more than this share are the same."""


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
        if self.at_s is None:
            return None
        return datetime.fromtimestamp(self.at_s, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")

    @property
    def scale(self) -> float:
        """What the work that is planned is multiplied by; see ``of_queues``."""
        return 1.0 if self.factor is None else self.factor


@dataclass(frozen=True, slots=True)
class _Seen:
    """The rates of topics at one moment; NaN if unknown."""

    at_s: float
    of_topics: Numbers


def peak_of(division: Division, weights: Weights) -> Peak:
    """The highest traffic of a group, never below what is measured.

    A topic's messages at the peak come to its queues in the shares that were measured; evenly if none came then.
    """
    past, measured = division.group.past, weights.msgs_per_s
    days, hours = (0, 0) if past is None else (past.days, past.hours)
    queues = weights.queue
    topic = division.queues.topic[queues]
    topics = len(division.queues.topics)
    now = np.asarray(np.bincount(topic, measured[queues], topics), np.float64)
    steps = list(_sampled(division, measured, now))
    seen = [*steps, *_stored(division)]
    told = days, hours + len(steps)
    total = float(now.sum())
    if np.isnan(total):
        return Peak(1.0, None, None, *told)
    highest, when, at_peak = total, None, now
    for one in seen:
        then = np.fmax(now, one.of_topics)
        # Sums of equal rates may differ in their last digit: of equal moments, the first counts.
        if then.sum() > highest * (1 + SAME):
            highest, when, at_peak = float(then.sum()), one.at_s, then
    from_nothing = None if highest > 0 else 1.0
    factor = highest / total if total > 0 else from_nothing
    is_even = factor is not None and bool(np.all(np.abs(at_peak - factor * now) <= SAME * at_peak))
    if is_even:
        return Peak(factor, highest, when, *told)
    planned = at_peak / (factor or 1.0)
    ratios = np.where(planned > 0, planned / np.where(now > 0, now, np.nan), 1.0)
    return Peak(factor, highest, when, *told, _spread(division, measured, now, planned), ratios)


def _stored(division: Division) -> Iterator[_Seen]:
    """The rates of the busy hour of the stored days."""
    past = division.group.past
    if past is None:
        return
    rates = [
        np.nan if reads.pass_ratio is None else past.msgs_per_s.get(reads.topic.topic, np.nan) * reads.pass_ratio
        for reads in division.queues.topics
    ]
    yield _Seen(past.hour_s, np.array(rates, np.float64))


def _sampled(division: Division, measured: Numbers, now: Numbers) -> Iterator[_Seen]:
    """The rates between successive samples.

    None if an offset is unknown, or if queues were sampled at different moments. A topic's queues without samples keep
    their measured rates.
    """
    topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
    ratios = [reads.pass_ratio for reads in division.queues.topics]
    first, business = division.queues.first, division.queues.is_business
    offsets: list[Sequence[int | None]] = []
    of_topic: list[int] = []
    sampled: list[int] = []
    moments: set[tuple[float, ...]] = set()
    for one in division.group.samples:
        begin, readable = first.get(one.topic, {}).get(one.broker_name, (0, 0))
        if one.queue_id < readable and business[begin + one.queue_id]:
            moments.add(tuple(one.at_s))
            offsets.append(one.broker_offset)
            of_topic.append(topics[one.topic])
            sampled.append(begin + one.queue_id)
    if len(moments) != 1 or None in ratios or any(None in own for own in offsets):
        return
    (at_s,) = moments
    topic = np.array(of_topic, np.int64)
    written = np.array(offsets, np.float64)
    rest = now - np.bincount(topic, measured[np.array(sampled, np.int64)], len(topics))
    passes = np.array(ratios, np.float64)
    for (index, earlier), (after, later) in pairwise(enumerate(at_s)):
        put = np.bincount(topic, (written[:, after] - written[:, index]) / (later - earlier), len(topics))
        yield _Seen(later, rest + put * passes)


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
