"""Remedies that keep the busiest client of a group within the bound, each simulated by itself over all topics."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from math import ceil, floor
from typing import Annotated

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.sizes import Sizes
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.settings.thresholds import RaiseConsumeThreads
from rocketmq_capacity.vocabulary import POP
from rocketmq_capacity.wording import rounded


def busiest_share(work: Work | None, peak: float) -> float | None:
    """The busy share of the busiest client at the peak; None if unknown."""
    busiest = None if work is None else work.busiest()
    return None if busiest is None else busiest[0].estimate * peak


@dataclass(frozen=True, slots=True)
class MoreThreads:
    """More threads: every client has at least this many."""

    consume_threads: int
    busy_ratio: float


def most_threads(work: Work, limits: RaiseConsumeThreads) -> int:
    """The most threads that are advised for every client; 0 if those of no client are known."""
    fewest = float(np.fmin.reduce(work.threads))
    return 0 if np.isnan(fewest) else min(limits.max_threads, floor(rounded(fewest * limits.max_factor, 6) or 0))


def more_threads(work: Work, bound: float, peak: float, limits: RaiseConsumeThreads) -> MoreThreads | None:
    """The fewest threads of every client that keep the busiest one within the bound; None if no allowed number does.

    More threads than queues do not help an orderly client.
    """
    busy = work.busy(work.times.estimate) * peak
    needed = work.threads[busy > bound] * busy[busy > bound] / bound
    if not len(needed) or np.isnan(needed).any():
        return None
    threads = ceil(rounded(float(needed.max()), 6) or 0)
    share = busiest_share(replace(work, threads=np.fmax(work.threads, threads)), peak)
    if threads > most_threads(work, limits) or share is None or (rounded(share, 9) or 0) > bound:
        return None
    return MoreThreads(threads, share)


class JoinedRemedies(Struct, frozen=True):
    """Measures of which none is enough alone."""

    clients: Annotated[int, means("in all", "client")]
    consume_threads: Annotated[int, means("of each of them", "thread")]
    rt_ratio: Annotated[float, means("time of a call as a share of today's (1: calls need not be shorter)")]
    busy_ratio: Annotated[float, means("busy share of the busiest client then")]


def together(sizes: Sizes, work: Work, bound: float) -> JoinedRemedies | None:
    """As many clients as can own a queue, with more threads each, and if that is not enough, with shorter calls."""
    staff = sizes.staff
    limits, today = staff.policy.thresholds.RAISE_CONSUME_THREADS, staff.facts.connections
    # The busiest client may be the one with most threads; then it gains least.
    most, largest = most_threads(work, limits), float(np.fmax.reduce(work.threads))
    clients = max(today, staff.useful_clients or today)
    share = sizes.share(clients)
    if share is None or work.is_orderly or not largest < most or bound <= 0:
        return None
    threads = min(most, ceil(rounded(largest * share / bound, 6) or 0))
    raised = share * largest / threads
    ratio = 1.0 if raised <= bound else _cut(bound / raised)
    return JoinedRemedies(clients, threads, ratio, raised * ratio)


class CallTime(Struct, frozen=True):
    """How long a call of a topic takes, and how long it may take."""

    topic: Annotated[str, means("the topic")]
    consume_rt_ms: Annotated[float, means("time of a call today")]
    needed_rt_ms: Annotated[float, means("time of a call that is enough")]


@dataclass(frozen=True, slots=True)
class ShorterCalls:
    """Calls of every client that take only a part of their time of today.

    Attributes:
        ratio: time of a call then / today.
        times: for each topic of the busiest client, the longest call first.
        busy_ratio: the busy share of the busiest client then.
    """

    ratio: float
    times: tuple[CallTime, ...]
    busy_ratio: float


def shorter_calls(division: Division, work: Work, bound: float, peak: float) -> ShorterCalls | None:
    """The shorter calls that keep the busiest client within the bound; None if its share is unknown."""
    today = work.busiest()
    if today is None or not 0 < bound < today[0].estimate * peak:
        return None
    share, busiest = today[0].estimate * peak, today[1]
    ratio = _cut(bound / share)
    handled = np.flatnonzero(work.incoming_msgs_per_s[busiest] > 0)
    times = [(float(work.times.estimate[busiest, topic]), topic) for topic in handled.tolist()]
    topics = division.queues.topics
    return ShorterCalls(
        ratio,
        tuple(
            CallTime(topics[topic].topic.topic, _significant(ms), _cut(ms * bound / share))
            for ms, topic in sorted(times, key=lambda one: (-one[0], one[1]))
        ),
        share * ratio,
    )


def _cut(figure: float) -> float:
    """A figure rounded down to four decimals, so that it is never too large."""
    digits = Decimal(repr(figure))
    return float(digits.quantize(Decimal(1).scaleb(digits.adjusted() - 3), ROUND_FLOOR))


def _significant(figure: float) -> float:
    return float(f"{figure:.6g}")


def strategies(staff: Staff, loads: Mapping[str, GroupLoad]) -> dict[str, float]:
    """The busy share of the busiest client at the peak under each other strategy that clients can run."""
    now = None if staff.current is None else staff.policy.computed(staff.current.strategy)
    shares = {}
    for name, load in loads.items():
        if name in (POP, now) or len(load.orphans):
            continue
        work = Work.of(staff.division, staff.planned_msgs_per_s, load.owners, staff.times)
        share = busiest_share(work, staff.peak.scale)
        if share is not None:
            shares[name] = share
    return shares
