"""What a what-if changes of a group's capacity, reachability and messages, from the two sides."""

from collections.abc import Collection, Mapping, Set
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

import numpy as np

from rocketmq_capacity.assessment.effect import NONE, Crossed, Shift, lag_grows_idly
from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.replicas import Reading, readable_without_master
from rocketmq_capacity.assessment.sampled import business_topics
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.model.facts import Place, Reads
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import MASTERLESS

Counts = Mapping[tuple[str, str], int]
"""By topic and broker name."""
PerhapsCounts = Mapping[tuple[str, str], int | None]
"""The same; None is unknown."""
IDLE: Final = Interval(0.0, 0.0, 0.0)
"""The busy share of clients that read no topic."""
LESS: Final = 1 - 1e-9
"""Traffic below so many times what it was is less traffic, and no rounding error."""


@dataclass(frozen=True, slots=True)
class GroupShift:
    """The shift of a group, with the names and numbers behind it.

    Attributes:
        shift: as the verdict needs it.
        before_queues: readable queues of its business topics before.
        after_queues: the same afterwards.
        unreadable_topics: topics of which consumers see no queue any more.
        unwritable_topics: topics of which producers see no queue any more.
        is_service_unknown: whether it is unknown if slaves without a master serve its clients.
    """

    shift: Shift
    before_queues: int
    after_queues: int
    unreadable_topics: tuple[str, ...]
    unwritable_topics: tuple[str, ...]
    is_service_unknown: bool = False


def group_shift(
    before: AssessedGroup,
    after: AssessedGroup,
    lost_rooms: Collection[str],
    lost_masters: Collection[str] = (),
    at_slaves: Counts = MappingProxyType({}),
) -> GroupShift:
    """What changes of a group.

    Both sides are taken at the peak of the cluster as it is: a change moves traffic, and does not choose its hour.

    Args:
        before: the group as it is.
        after: the group as it would be.
        lost_rooms: machine rooms that the scenario takes away.
        lost_masters: brokers that the scenario leaves without a master. If one of them has no slaves either, its queues
            leave the route, but what they hold is not given up: it waits, and nobody reads it.
        at_slaves: how many queues their slaves have of topics of which their masters had others.
    """
    queues_before, queues_after = _business_queues(before), _business_queues(after)
    thresholds = after.policy.thresholds
    grew = lag_grows_idly(before.provision, thresholds)
    unserved_before, unserved_after = _unserved(before), _unserved(after, at_slaves)
    is_service_unknown = _is_newly_unknown(unserved_before, unserved_after)
    cut_off = {queue for queue in queues_before - queues_after if queue.broker_name in lost_masters}
    unreachable_after = _queues_of(unserved_after, after) | cut_off
    no_readers = _without_readers(before, after, _queues_of(unserved_before, before), unreachable_after)
    hidden, unread = _crossed(_hidden(before), _hidden(after)), None
    if no_readers is not None and not is_service_unknown:
        unread = Crossed(*map(sum, zip(no_readers, hidden, strict=True)))
    both = _topics_read(before) & _topics_read(after)  # one that it subscribes to or leaves is neither lost nor found
    unreadable, readable = _topics(_readable(before), _readable(after), both)
    unwritable, writable = _topics(_writable(before), _writable(after), both)
    is_growth_known = after.growth.by is not None
    shift = Shift(
        was_busy=before.provision.at_peak,
        is_busy=_at_peak(before, after),
        lag_grew=grew,
        lag_grows=lag_grows_idly(after.provision, thresholds) if is_growth_known or not grew else None,
        had_clients=before.facts.connections > 0,
        has_clients=after.facts.connections > 0,
        unread=unread,
        twice=_read_twice(before, after),
        still_unknown=not is_service_unknown and _orphans(before) is None and _orphans(after) is None,
        unreadable=Crossed(len(unreadable), len(readable)),
        unwritable=Crossed(len(unwritable), len(writable)),
        waiting=_waiting(before, after, at_slaves),
        is_loss=not queues_before <= queues_after
        or _has_less_traffic(before, after)
        or _loses_a_room(before, after, lost_rooms),
    )
    return GroupShift(
        shift, len(queues_before), len(queues_after), unreadable, unwritable, is_service_unknown=is_service_unknown
    )


def _at_peak(before: AssessedGroup, after: AssessedGroup) -> Interval | None:
    """The busy share of the busiest client afterwards, with each topic at the peak of the group as it is."""
    if not after.business:
        return IDLE
    use, peak = after.provision.utilisation, before.peak
    if use is None or after.owners_today is None:
        return None
    if peak.of_topics is None or before.facts.is_broadcasting:
        return use.times(peak.scale)
    ratio_of = dict(zip((reads.topic.topic for reads in before.division.queues.topics), peak.of_topics, strict=True))
    queues = after.division.queues
    ratios = np.array([ratio_of.get(reads.topic.topic, 1.0) for reads in queues.topics], np.float64)
    if np.isnan(ratios).any():  # nothing came when the snapshot was taken: the stored days alone tell the peak
        return after.provision.at_peak
    rates = after.weights.msgs_per_s * ratios[queues.topic] * peak.scale
    work = Work.of(after.division, rates, after.owners_today, after.response_times)
    busiest = None if work is None else work.busiest()
    return None if busiest is None else busiest[0]


def _business_queues(group: AssessedGroup) -> set[Queue]:
    """The readable queues of its business topics."""
    queues = group.division.queues
    return {name for name, is_business in zip(queues.names, queues.is_business.tolist(), strict=True) if is_business}


def _without_readers(
    before: AssessedGroup, after: AssessedGroup, unreachable_before: Set[Queue], unreachable_after: Set[Queue]
) -> Crossed | None:
    """Queues by whether nobody owns them, or whoever does cannot reach them; None if an owner is unknown.

    Queues that are gone are neither, but for those that are cut off with their master.
    """
    if not after.facts.connections:
        return NONE  # that its clients are gone says it
    return _crossed_queues(_orphans(before), _orphans(after), after, unreachable_before, unreachable_after)


def _crossed_queues(
    bad_before: Set[Queue] | None,
    bad_after: Set[Queue] | None,
    after: AssessedGroup,
    also_before: Set[Queue] = frozenset(),
    also_after: Set[Queue] = frozenset(),
) -> Crossed | None:
    """How many queues become bad, and how many of those that are kept no longer are; None if that is unknown.

    What is bad for another reason as well counts once.
    """
    if bad_after is None or (bad_after and bad_before is None):
        return None
    all_before, all_after = (bad_before or frozenset()) | also_before, bad_after | also_after
    return Crossed(len(all_after - all_before), len((all_before & set(after.division.queues.names)) - all_after))


def _orphans(group: AssessedGroup) -> frozenset[Queue] | None:
    """The queues that nobody owns; None if unknown. Nobody misses the readers of a group without clients."""
    if _divides_nothing(group):
        return frozenset()
    if group.whole_load is None or group.is_settling:
        return None
    names = group.division.queues.names
    return frozenset(names[queue] for queue in group.whole_load.orphans.tolist())


def _divides_nothing(group: AssessedGroup) -> bool:
    return group.facts.is_broadcasting or not group.facts.connections or not group.business


def _read_twice(before: AssessedGroup, after: AssessedGroup) -> Crossed | None:
    """Queues by whether two clients read every message of them; None if an owner is unknown."""
    return _crossed_queues(_twice(before), _twice(after), after)


def _twice(group: AssessedGroup) -> frozenset[Queue] | None:
    if _divides_nothing(group):
        return frozenset()
    return None if group.whole_load is None or group.is_settling else frozenset(group.whole_load.doubly_owned)


def _places(group: AssessedGroup) -> list[tuple[Reads, Place]]:
    return [(reads, place) for reads in group.business for place in reads.topic.places]


def _hidden(group: AssessedGroup) -> Counts:
    """How many queues producers write to and consumers do not see, as far as both numbers are known."""
    return {
        (reads.topic.topic, place.broker_name): max(0, (place.writable or 0) - place.readable)
        for reads, place in _places(group)
    }


def _crossed(before: Counts, after: Counts) -> Crossed:
    """How many more there are, and how many fewer where the broker still has the topic."""
    rises = [number - before.get(place, 0) for place, number in after.items()]
    return Crossed(sum(rise for rise in rises if rise > 0), -sum(rise for rise in rises if rise < 0))


def _is_newly_unknown(before: PerhapsCounts, after: PerhapsCounts) -> bool:
    return any(number is None and before.get(place, 0) is not None for place, number in after.items())


def _queues_of(unserved: PerhapsCounts, group: AssessedGroup) -> set[Queue]:
    """The queues that are known to be unserved: those with the highest ids."""
    readable = _readable(group)
    return {
        Queue(topic, broker_name, queue_id)
        for (topic, broker_name), number in unserved.items()
        for queue_id in range(readable[topic, broker_name] - (number or 0), readable[topic, broker_name])
    }


def _unserved(group: AssessedGroup, at_slaves: Counts = MappingProxyType({})) -> PerhapsCounts:
    """How many queues of brokers without a master their slaves do not serve; those with the highest ids."""
    unserved: dict[tuple[str, str], int | None] = {}
    for reads, place in _places(group):
        if place.broker_state != MASTERLESS or not place.readable:
            continue
        slaves = sorted(
            (one for one in group.cluster.brokers if one.broker_name == place.broker_name),
            key=lambda one: one.broker_id,
        )
        can = _can_read(readable_without_master(slaves), group, reads)
        key = reads.topic.topic, place.broker_name
        missing = max(0, place.readable - at_slaves.get(key, place.readable)) if can else place.readable
        unserved[key] = None if can is None else missing
    return unserved


def _can_read(reading: Reading, group: AssessedGroup, reads: Reads) -> bool | None:
    """Whether the clients of a group get the messages of a topic from the slaves."""
    if group.facts.pops(reads):
        return reading.pop
    return reading.pull_in_order if group.facts.is_orderly else reading.pull


def _readable(group: AssessedGroup) -> Counts:
    return {(reads.topic.topic, place.broker_name): place.readable for reads, place in _places(group)}


def _writable(group: AssessedGroup) -> Counts:
    """Queues that producers see; an unknown number counts as some."""
    return {
        (reads.topic.topic, place.broker_name): 1 if (number := place.writable) is None else number
        for reads, place in _places(group)
    }


def lost_topics_of(before: AssessedGroup, after: AssessedGroup) -> tuple[str, ...]:
    """The topics of which consumers see no queue any more, sorted."""
    return _topics(_readable(before), _readable(after), _topics_read(before))[0]


def _topics_read(group: AssessedGroup) -> set[str]:
    return {reads.topic.topic for reads in group.business}


def _topics(before: Counts, after: Counts, of: Set[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Those of the topics that lose their last queue, and those that get a first one; they are sorted."""
    topics_before, topics_after = _with_queues(before) & of, _with_queues(after) & of
    return tuple(sorted(topics_before - topics_after)), tuple(sorted(topics_after - topics_before))


def _with_queues(counts: Counts) -> set[str]:
    return {topic for (topic, _), number in counts.items() if number}


def _waiting(before: AssessedGroup, after: AssessedGroup, at_slaves: Counts) -> int | None:
    """Messages not read on queues that are gone, or on all queues if nobody is left to read; None if unknown.

    A queue whose broker lost its master, and whose slaves do not serve the group, is as good as gone. The clients of a
    broadcasting group alone know what they have not read.
    """
    topics = business_topics(before.facts)
    lags = {one.queue: one.lag for one in before.facts.lags if one.topic in topics}
    gone = _business_queues(before)
    if not before.facts.connections:
        gone = set(lags) - {one.queue for one in after.facts.lags}
    elif after.facts.connections:
        unserved_before, unserved_after = _unserved(before), _unserved(after, at_slaves)
        if _is_newly_unknown(unserved_before, unserved_after):
            return None
        readable = _readable(after)
        served = {
            place: readable[place] - (number or 0)
            for place, number in unserved_after.items()
            if not unserved_before.get(place)
        }
        gone -= {
            queue
            for queue in _business_queues(after)
            if queue.queue_id < served.get((queue.topic, queue.broker_name), queue.queue_id + 1)
        }
    return None if gone and before.facts.is_broadcasting else sum_of(map(lags.get, gone))


def _has_less_traffic(before: AssessedGroup, after: AssessedGroup) -> bool:
    rate_before, rate_after = before.weights.total_msgs_per_s, after.weights.total_msgs_per_s
    return rate_before is not None and rate_after is not None and rate_after < rate_before * LESS


def _loses_a_room(before: AssessedGroup, after: AssessedGroup, rooms: Collection[str]) -> bool:
    """Whether clients of a lost room are gone."""
    stays = {one.client_id for one in after.facts.consumers}
    return any(one.room in rooms and one.client_id not in stays for one in before.facts.consumers)
