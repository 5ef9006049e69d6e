"""Remedies that keep the busiest client of a group within the bound, each simulated by itself over all topics."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from math import ceil
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.current import client_runs, predicted_owners
from rocketmq_capacity.assessment.loads import Weights
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.contracts.division import Division, Queues
from rocketmq_capacity.contracts.facts import GroupFacts, Reads, Written
from rocketmq_capacity.contracts.kept_counts import kept_count
from rocketmq_capacity.contracts.wording import rounded
from rocketmq_capacity.vocabulary import POP, READ_WRITE

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group


@dataclass(frozen=True, slots=True)
class MoreQueues:
    """A topic with more queues on each of its writable brokers."""

    topic: str
    queues_per_broker: int
    busy_ratio: float


def busiest_share(work: Work | None, peak: float) -> float | None:
    """The busy share of the busiest client at the peak; None if unknown."""
    found = None if work is None else work.busiest()
    return None if found is None else found[0].estimate * peak


@dataclass(frozen=True, slots=True)
class MoreThreads:
    """More threads: every client has at least this many."""

    consume_threads: int
    busy_ratio: float


def more_threads(work: Work, bound: float, peak: float) -> MoreThreads | None:
    """The fewest threads of every client that keep the busiest one within the bound; None if no number does.

    More threads than queues do not help an orderly client.
    """
    busy = work.busy(work.times.estimate) * peak
    needed = work.threads[busy > bound] * busy[busy > bound] / bound
    if not len(needed) or np.isnan(needed).any():
        return None
    threads = ceil(rounded(float(needed.max()), 6) or 0)
    share = busiest_share(replace(work, threads=np.fmax(work.threads, threads)), peak)
    if share is None or (rounded(share, 9) or 0) > bound:
        return None
    return MoreThreads(threads, share)


@dataclass(frozen=True, slots=True)
class CallTime:
    """How long a call of a topic takes, and how long it may take."""

    topic: str
    consume_rt_ms: float
    needed_rt_ms: float


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


def shorter_calls(group: "Group", work: Work, bound: float, peak: float) -> ShorterCalls | None:
    """The shorter calls that keep the busiest client within the bound; None if its share is unknown."""
    found = work.busiest()
    if found is None or not 0 < bound < found[0].estimate * peak:
        return None
    share, busiest = found[0].estimate * peak, found[1]
    ratio = _cut(bound / share)
    handled = np.flatnonzero(work.incoming_msgs_per_s[busiest] > 0)
    times = [(float(work.times.estimate[busiest, topic]), topic) for topic in handled.tolist()]
    topics = group.division.queues.topics
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


def strategies(group: "Group", peak: float) -> dict[str, float]:
    """The busy share of the busiest client at the peak under each other strategy that clients can run."""
    now = None if group.current is None else group.policy.computed(group.current.strategy)
    shares = {}
    for name, load in group.loads.items():
        if name in (POP, now) or len(load.orphans):
            continue
        work = Work.of(group.division, group.weights.msgs_per_s, load.owners, group.response_times)
        share = busiest_share(work, peak)
        if share is not None:
            shares[name] = share
    return shares


def more_queues(group: "Group", work: Work, bound: float, peak: float) -> MoreQueues | None:
    """The fewest queues on each broker of the busiest client's heaviest topic that keep this client within the bound.

    Producers then spread their messages evenly over all queues. None if no allowed number is enough, or if the topic's
    number of queues must not change.
    """
    if group.current is None or group.today is None or not group.today.is_predicted:
        return None
    busiest = int(work.busy(work.times.estimate).argmax())
    heaviest = group.division.queues.topics[int(work.parts(work.times.estimate)[busiest].argmax())]
    places = [place for place in heaviest.topic.places if (place.perm or 0) & READ_WRITE == READ_WRITE]
    if not places or kept_count(heaviest.topic) is not None:
        return None
    least = max(max(place.read_queue_nums or 0, place.write_queue_nums or 0) for place in places)
    most = group.policy.thresholds.EXPAND_QUEUES.max_queues_per_broker
    if not group.is_harmed and work.evenly() * peak > bound:
        return None  # one client for each queue would still be too busy
    for each in range(least + 1, most + 1):
        share = busiest_share(_with_queues(group, heaviest, each), peak)
        if share is not None and (rounded(share, 9) or 0) <= bound:
            return MoreQueues(heaviest.topic.topic, each, share)
    return None


def _with_queues(group: "Group", heaviest: Reads, each: int) -> Work | None:
    facts = structs.replace(group.facts, reads=tuple(_grown(group.facts, heaviest, each)))
    division = Division(facts, Queues.of(facts), group.division.members)
    runs = client_runs(division, group.current.strategy if group.current else "", group.policy)
    owners = predicted_owners(division, runs, lambda strategy: group.allocator.owners(strategy, division))
    if owners.unknown:
        return None
    return Work.of(division, Weights.of(division).msgs_per_s, owners, group.response_times)


def _grown(facts: GroupFacts, heaviest: Reads, each: int) -> Iterator[Reads]:
    """The topics that the group reads, one of them with this number of queues on each writable broker."""
    for reads in facts.reads:
        if reads.topic.topic != heaviest.topic.topic:
            yield reads
            continue
        places = tuple(
            structs.replace(place, read_queue_nums=each, write_queue_nums=each)
            if (place.perm or 0) & READ_WRITE == READ_WRITE
            else place
            for place in reads.topic.places
        )
        names = [place.broker_name for place in places if (place.perm or 0) & READ_WRITE == READ_WRITE]
        rates = [one.put_msgs_per_s for one in reads.topic.written]
        known = [rate for rate in rates if rate is not None]
        share = sum(known) / (len(names) * each) if len(known) == len(rates) else None
        written = tuple(
            Written(broker_name=name, queue_id=queue_id, put_msgs_per_s=share)
            for name in names
            for queue_id in range(each)
        )
        rest = tuple(
            structs.replace(one, put_msgs_per_s=0.0) for one in reads.topic.written if one.broker_name not in names
        )
        yield structs.replace(reads, topic=structs.replace(reads.topic, places=places, written=written + rest))
