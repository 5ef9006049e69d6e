"""Whether a group has the consumers it needs: UNDER_, RIGHT_ or OVER_PROVISIONED, or UNDECIDED with its reason.

Busy share of a client (Little's law), summed over its topics: incoming msg/s x consume_rt_ms / (1000 x messages a call
x calls at once). Calls at once are its threads; an orderly listener handles a queue at a time, so at most its queues.
A group is as busy as its busiest client.
"""

from dataclasses import dataclass
from math import ceil

import numpy as np

from rocketmq_capacity.assessment.current import client_runs, predicted_owners
from rocketmq_capacity.assessment.finding import percent
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.lag import lag_growth
from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.contracts.division import Division, Integers, Members, Owners
from rocketmq_capacity.contracts.wording import counted, rounded
from rocketmq_capacity.vocabulary import OVER, RIGHT, UNDECIDED, UNDER, ProvisionStatus


@dataclass(frozen=True, slots=True)
class Provision:
    """The verdict on a group.

    Attributes:
        status: UNDER_PROVISIONED, RIGHT_PROVISIONED, OVER_PROVISIONED or UNDECIDED.
        reason: why, in words.
        utilisation: the busy share of its busiest client; None where a part of it is unknown.
    """

    status: ProvisionStatus
    reason: str
    utilisation: float | None


def provision(group: Group) -> Provision:
    """The verdict on a group."""
    times = _response_times(group)
    use = None if group.today is None else _utilisation(group, group.division, group.today.owners, times)
    status, reason = _verdict(group, use, times)
    return Provision(status, reason, use)


def _verdict(group: Group, use: float | None, times: Numbers) -> tuple[ProvisionStatus, str]:
    bounds = group.policy.thresholds.PROVISION
    unknown = _undecided(group)
    if unknown is not None:
        return UNDECIDED, unknown
    if use is None:
        return UNDECIDED, "rates, threads or owners of some of its queues are unknown"
    busiest = f"the busiest client is busy for {percent(use)} of its time"
    if use > bounds.under_utilisation:
        return UNDER, busiest
    growth = lag_growth(group.facts)
    # Lag below the low-utilisation bound comes and goes with every batch.
    is_much = growth.now is not None and growth.now >= group.policy.thresholds.LOW_UTILISATION.min_lag
    if growth.by is not None and growth.by > 0 and is_much:
        return UNDER, f"lag grew by {counted(growth.by, 'message')} over the samples"
    if group.facts.distinct_client_ids > bounds.min_clients:
        after = _utilisation_after(group, times)
        if after is not None and after <= bounds.over_utilisation:
            connections = group.facts.connections
            return OVER, (
                f"without {_leaving(group, connections)} of its {counted(connections, 'client')} "
                f"the busiest would be busy for {percent(after)} of its time"
            )
    return RIGHT, busiest


def _undecided(group: Group) -> str | None:
    """Why there can be no verdict, whatever its clients do; else None."""
    bounds, facts = group.policy.thresholds.PROVISION, group.facts
    if facts.is_broadcasting:
        return "broadcasting: every client reads every queue"
    if not facts.connections:
        return "the group has no clients"
    completeness = group.cluster.cluster.completeness_ratio
    if completeness < bounds.min_completeness:
        return f"the snapshot answered for {percent(completeness)} of the queues only"
    timed = {one.consumer_index for one in facts.timed}
    untimed = sum(one.consumer_index not in timed for one in facts.consumers)
    if untimed / facts.connections > bounds.max_unknown_rt_ratio:
        return f"response times are unknown for {untimed} of {counted(facts.connections, 'client')}"
    return None


def _utilisation_after(group: Group, times: Numbers) -> float | None:
    """The busy share without the last consumers in Java's order; None where today's owners are not computed."""
    if group.current is None or group.today is None or not group.today.is_predicted:
        return None
    consumers = group.division.members.consumers
    kept = consumers[: len(consumers) - _leaving(group, len(consumers))]
    fewer = Division(group.facts, group.division.queues, Members(kept))
    runs = client_runs(fewer, group.current.strategy, group.policy)
    if not runs:
        return None
    owners = predicted_owners(fewer, runs, lambda strategy: group.allocator.owners(strategy, fewer))
    return _utilisation(group, fewer, owners, times[: len(fewer.members.client_ids)])


def _leaving(group: Group, consumers: int) -> int:
    """How many consumers the policy's share is, rounded up."""
    # 100 * 0.07 is a little more than 7 in floating point, which is no eighth consumer.
    return ceil(rounded(consumers * group.policy.thresholds.PROVISION.over_removed_ratio, 6) or 0)


def _utilisation(group: Group, division: Division, owners: Owners, times: Numbers) -> float | None:
    """The busy share of the busiest client where these own the queues; None where a part of it is unknown."""
    if not len(owners.queue) or owners.strangers:  # of a queue that there is not the rate is unknown
        return None
    queues, shape = division.queues, times.shape
    cell = owners.client * shape[1] + queues.topic[owners.queue]
    share = group.weights.msgs_per_s[owners.queue] / _readers(owners, len(queues))
    own = np.bincount(cell, minlength=times.size).reshape(shape)
    incoming = np.bincount(cell, share, times.size).reshape(shape)
    seconds = np.where(incoming == 0, 0.0, incoming * times / 1000)
    threads = _least(division, [one.consume_threads for one in division.members.consumers])
    if group.facts.is_orderly:
        threads = np.fmin(threads, own.sum(axis=1))
    at_once = threads * _least(division, [one.consume_batch_size for one in division.members.consumers])
    parts = seconds / np.where(at_once > 0, at_once, np.nan)[:, None]
    busiest = float(parts.sum(axis=1)[own.any(axis=1)].max())
    return None if np.isnan(busiest) else busiest


def _readers(owners: Owners, queues: int) -> Integers | int:
    """Among how many a queue's messages are shared, for each pair of a queue and an owner; a pulled one is not."""
    if owners.is_popped is False:
        return 1
    is_popped = np.broadcast_to(owners.is_popped, owners.queue.shape)
    poppers = np.bincount(owners.queue[is_popped], minlength=queues)
    return np.where(is_popped, poppers[owners.queue], 1)


def _response_times(group: Group) -> Numbers:
    """How long a call takes. Shape: a row a client id, a column a topic of the division; milliseconds.

    It is what the client reports of the topic, else what the group's clients report of it on average.
    """
    clients = {client_id: index for index, client_id in enumerate(group.client_ids)}
    topics = {reads.topic.topic: index for index, reads in enumerate(group.division.queues.topics)}
    timed = [one for one in group.facts.timed if one.topic in topics and one.client_id in clients]
    topic = np.array([topics[one.topic] for one in timed], np.int64)
    cell = np.array([clients[one.client_id] for one in timed], np.int64) * len(topics) + topic
    times = np.array([one.consume_rt_ms for one in timed], np.float64)
    own = _mean(cell, times, len(clients) * len(topics)).reshape(len(clients), len(topics))
    return np.where(np.isnan(own), _mean(topic, times, len(topics)), own)


def _mean(place: Integers, values: Numbers, places: int) -> Numbers:
    """The mean value of each place; NaN where there is none."""
    counts = np.bincount(place, minlength=places)
    return np.bincount(place, values, places) / np.where(counts > 0, counts, np.nan)


def _least(division: Division, figures: list[int | None]) -> Numbers:
    """The least known figure of each client id's consumers."""
    members = division.members
    known = np.array([np.nan if figure is None else figure for figure in figures], np.float64)
    return known if len(members.client_ids) == len(members) else np.fmin.reduceat(known, members.first)
