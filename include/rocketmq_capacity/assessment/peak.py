"""The busiest moment in the samples, compared with the usual rates."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from rocketmq_capacity.contracts.facts import GroupFacts


def peak_factor(group: GroupFacts) -> float:
    """The rate at which a group's queues are written at the busiest of the samples / the usual rate; at least 1.

    The usual rate is the measured one, or the average of the samples if that is higher. The factor is 1 if a rate or an
    offset is unknown, or if queues were sampled at different moments.
    """
    rates = {
        (reads.topic.topic, one.broker_name, one.queue_id): one.put_msgs_per_s
        for reads in group.business
        for one in reads.topic.written
    }
    sampled = [one for one in group.samples if (one.topic, one.broker_name, one.queue_id) in rates]
    if len({one.at_s for one in sampled}) != 1 or len(sampled[0].at_s) < 2:
        return 1.0
    at_s = sampled[0].at_s
    measured = _sum([rates[one.topic, one.broker_name, one.queue_id] for one in sampled])
    written = [_sum(offsets) for offsets in zip(*(one.broker_offset for one in sampled), strict=True)]
    known = [offset for offset in written if offset is not None]
    if measured is None or len(known) < len(written):
        return 1.0
    busiest = max((after - before) / (later - earlier) for earlier, later, before, after in _steps(at_s, known))
    usual = max(measured, (known[-1] - known[0]) / (at_s[-1] - at_s[0]))
    return max(1.0, busiest / usual) if usual > 0 else 1.0


def _steps(at_s: Sequence[float], offsets: Sequence[float]) -> Iterator[tuple[float, float, float, float]]:
    """Each moment and the next one, with the offsets at both."""
    for (earlier, before), (later, after) in pairwise(zip(at_s, offsets, strict=True)):
        yield earlier, later, before, after


def _sum(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None
