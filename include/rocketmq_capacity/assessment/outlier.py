"""Outliers: clients that do the same work far worse than the other clients of their group.

A client is compared with its peers, the other clients that handle the same topics, topic by topic. Sizes are computed
as if each outlier took what the median of its peers takes: one sick client says nothing of how many clients are needed.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from msgspec import structs

from rocketmq_capacity.assessment.response_times import ResponseTimes
from rocketmq_capacity.assessment.utilisation import Work, least_threads
from rocketmq_capacity.model.arrays import Flags, Numbers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer, GroupFacts
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.settings.thresholds import Thresholds
from rocketmq_capacity.tables.dataset import Queue

MIN_CLIENTS: Final = 3
"""With fewer clients nobody can tell which of them is the sick one."""
Figure = Literal["consume_rt_ms", "consume_threads", "failed_ratio", "consume_rt_ms_per_thread"]
SLOW: Final[Figure] = "consume_rt_ms"
SINGLE: Final[tuple[Figure, ...]] = (SLOW, "consume_threads", "failed_ratio")
"""What a client reports; the quotient of two of them counts only where neither is far off alone."""
PER_THREAD: Final[Figure] = "consume_rt_ms_per_thread"


@dataclass(frozen=True, slots=True)
class Outlier:
    """A client that does its work far worse than its peers.

    Attributes:
        client: the index of its client id.
        figure: what differs most: milliseconds a call, listener threads, the share of messages that fail, or
            milliseconds a call for each thread.
        value: the client's own, weighted with its messages where it handles several topics.
        peers_median: the median of its peers, weighted likewise.
        factor: how many times worse it is.
    """

    client: int
    figure: Figure
    value: float
    peers_median: float
    factor: float


@dataclass(frozen=True, slots=True)
class _Compared:
    """A figure of each client, the median of its peers, and how many times worse it is; NaN where not comparable."""

    value: Numbers
    median: Numbers
    factor: Numbers


def outliers_of(
    division: Division, times: ResponseTimes, work: Work | None, consumed_msgs_per_s: Numbers, bounds: Thresholds
) -> tuple[Outlier, ...]:
    """The outliers of a group, by client id; none where half of its clients differ from the others.

    Clients that have just started are none: their first calls are slow.

    Args:
        division: its queues and consumers.
        times: how long its clients take for a call.
        work: the work of its clients today; None if an owner is unknown.
        consumed_msgs_per_s: messages a second of each topic that each of its clients handles, as it reports them.
        bounds: the policy's thresholds.
    """
    factor, floor_ms = bounds.CLIENT_OUTLIER.factor, bounds.CLIENT_OUTLIER.min_rt_ms
    client_ids = division.members.client_ids
    if len(client_ids) < MIN_CLIENTS or not division.queues.topics or not _may_have_some(division, times, factor):
        return ()
    own_ms: Numbers = np.where(times.is_reported, times.estimate, np.nan)
    threads, handled = _threads(division, work), _handled(work, consumed_msgs_per_s)
    compared: dict[Figure, _Compared] = {
        SLOW: _by_topic(own_ms, handled),
        "consume_threads": _of_threads(work, threads),
        "failed_ratio": _of_failures(division, bounds),
        PER_THREAD: _by_topic(own_ms / threads[:, None], handled),
    }
    is_quick = ~(compared[SLOW].value > floor_ms)
    for slow in (SLOW, PER_THREAD):
        compared[slow].factor[is_quick] = np.nan
    settled = {one.client_id for one in division.members.consumers if is_settled(one, bounds)}
    outliers = []
    for client, client_id in enumerate(client_ids):
        figure = _worst(compared, client, factor)
        if figure is not None and client_id in settled:
            comparison = compared[figure]
            figures = (comparison.value, comparison.median, comparison.factor)
            outliers.append(Outlier(client, figure, *(float(of_clients[client]) for of_clients in figures)))
    return tuple(outliers) if 2 * len(outliers) < len(client_ids) else ()


def _worst(compared: Mapping[Figure, _Compared], client: int, factor: float) -> Figure | None:
    """The figure in which a client is worst; None if it is not far enough off in any."""
    far = {name: float(compared[name].factor[client]) for name in compared if compared[name].factor[client] > factor}
    single = [name for name in SINGLE if name in far]
    return max(single or far, key=lambda name: far[name], default=None)


def is_settled(consumer: Consumer, bounds: Thresholds) -> bool:
    """Whether a consumer has been up long enough to be compared; true if its start is unknown."""
    return consumer.up_s is None or consumer.up_s > bounds.SUBSCRIPTION_MISMATCH.settled_s


def _may_have_some(division: Division, times: ResponseTimes, factor: float) -> bool:
    """Whether the figures of the clients differ enough for an outlier at all; most groups end here."""
    if any(one.failed_msgs_per_s for one in division.group.consumed):
        return True
    least, most = np.fmin.reduce(times.estimate, axis=0), np.fmax.reduce(times.estimate, axis=0)
    threads = _known_threads(division)
    spread = float(np.fmax.reduce(threads) / np.fmin.reduce(threads))
    return bool((most * (1.0 if np.isnan(spread) else spread) > factor * least).any()) or spread > factor


def _known_threads(division: Division) -> Numbers:
    """The listener threads of each client; NaN where they are unknown, or none."""
    threads = least_threads(division)
    return np.where(threads > 0, threads, np.nan)


def _threads(division: Division, work: Work | None) -> Numbers:
    """The calls at once of each client; an orderly one handles no more than the queues of the client with the most."""
    threads = _known_threads(division)
    if not division.group.is_orderly or work is None:
        return threads
    return np.asarray(np.fmin(threads, work.queues.sum(axis=1).max(initial=1)))


def _handled(work: Work | None, consumed_msgs_per_s: Numbers) -> Numbers:
    """Messages a second of each client and topic: what comes to its queues, else what it says it handles."""
    if work is not None and not np.isnan(work.incoming_msgs_per_s).any():
        return work.incoming_msgs_per_s
    return consumed_msgs_per_s


def _by_topic(figures: Numbers, handled: Numbers) -> _Compared:
    """A figure of each client and topic (a row a client, a column a topic) compared with the peers of each topic.

    The topics are weighted with the client's messages. Where those are unknown, every topic must show it: the one with
    the least difference counts.
    """
    medians = _peers_median(figures)
    comparable = ~np.isnan(figures) & ~np.isnan(medians)
    weight = np.where(comparable, handled, 0.0)
    is_weighted = weight.sum(axis=1) > 0  # false for NaN
    with np.errstate(invalid="ignore", divide="ignore"):
        quotient = np.where(comparable, figures / medians, np.inf)
    least = quotient.argmin(axis=1)[:, None] == np.arange(figures.shape[1])
    weight = np.where(is_weighted[:, None], weight, (least & comparable).astype(np.float64))
    with np.errstate(invalid="ignore", divide="ignore"):
        value = np.where(comparable, figures * weight, 0.0).sum(axis=1) / weight.sum(axis=1)
        median = np.where(comparable, medians * weight, 0.0).sum(axis=1) / weight.sum(axis=1)
        return _Compared(value, median, value / median)


def _of_threads(work: Work | None, threads: Numbers) -> _Compared:
    """The threads of each client that has queues; fewer are worse."""
    median = _peers_median(threads[:, None])[:, 0]
    has_queues = True if work is None else work.has_queues
    return _Compared(threads, median, np.where(has_queues, median / threads, np.nan))


def _of_failures(division: Division, bounds: Thresholds) -> _Compared:
    """The share of each client's messages that fail. A share of the peers below the policy's counts as that one."""
    floor = bounds.RETRY_PRESSURE.failed_ratio
    clients = {client_id: index for index, client_id in enumerate(division.members.client_ids)}
    topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
    failed, handled = np.zeros((len(clients), len(topics))), np.zeros((len(clients), len(topics)))
    for row in division.group.consumed:
        if row.topic in topics and row.msgs_per_s and row.failed_msgs_per_s is not None:
            failed[clients[row.client_id], topics[row.topic]] += row.failed_msgs_per_s
            handled[clients[row.client_id], topics[row.topic]] += row.msgs_per_s
    with np.errstate(invalid="ignore", divide="ignore"):
        shares = np.where(handled > 0, failed / handled, np.nan)
    compared = _by_topic(shares, handled)
    rare = np.nansum(failed, axis=1) < floor * bounds.LOW_UTILISATION.min_msgs_per_s
    factor = np.where(rare, np.nan, compared.value / np.fmax(compared.median, floor))
    return _Compared(compared.value, compared.median, np.where(np.isnan(compared.median), np.nan, factor))


def _peers_median(figures: Numbers) -> Numbers:
    """For each entry the median of the others of its column; NaN if it, or all but one of the others, are unknown.

    Shape: a row a client, a column a topic -> the same.
    """
    order = figures.argsort(axis=0)  # NaN comes last
    rank = order.argsort(axis=0)
    ordered = np.take_along_axis(figures, order, axis=0)
    is_known = ~np.isnan(figures)
    peers = is_known.sum(axis=0) - 1

    def nth(place: np.ndarray) -> Numbers:
        """The n-th of the others, counted from the least."""
        index = place + (place >= rank)
        return np.take_along_axis(ordered, np.clip(index, 0, len(figures) - 1), axis=0)

    middle = (nth(np.maximum(peers - 1, 0) // 2) + nth(np.maximum(peers, 0) // 2)) / 2
    return np.where(is_known & (peers >= 2), middle, np.nan)


def facts_apart(division: Division, times: ResponseTimes, outliers: Sequence[Outlier]) -> GroupFacts:
    """The facts of a group in which each outlier takes what the median of its peers takes: milliseconds and threads."""
    facts, client_ids = division.group, division.members.client_ids
    ids = {client_ids[one.client]: one.client for one in outliers}
    medians = _peers_median(np.where(times.is_reported, times.estimate, np.nan))
    threads = _peers_median(_known_threads(division)[:, None])[:, 0]
    topics = {reads.topic.topic: index for index, reads in enumerate(division.queues.topics)}
    consumers = tuple(
        structs.replace(one, consume_threads=max(1, int(threads[ids[one.client_id]])))
        if one.client_id in ids and not np.isnan(threads[ids[one.client_id]])
        else one
        for one in facts.consumers
    )
    consumed = tuple(
        structs.replace(one, consume_rt_ms=float(medians[ids[one.client_id], topics[one.topic]]))
        if one.client_id in ids
        and one.consume_rt_ms
        and one.topic in topics
        and not np.isnan(medians[ids[one.client_id], topics[one.topic]])
        else one
        for one in facts.consumed
    )
    return structs.replace(facts, consumers=consumers, consumed=consumed)


def queues_alone(division: Division, owners: Owners | None, client_ids: Collection[str]) -> set[Queue]:
    """The queues that one of these clients owns alone: their messages wait for it. Empty if owners are unknown."""
    if not client_ids or owners is None or not division.group.is_clustering:
        return set()
    is_theirs: Flags = np.array([client_id in client_ids for client_id in division.members.client_ids], bool)
    of_theirs = is_theirs[owners.client] & ~np.broadcast_to(owners.is_popped, owners.queue.shape)
    return {division.queues.names[queue] for queue in owners.queue[of_theirs].tolist()}
