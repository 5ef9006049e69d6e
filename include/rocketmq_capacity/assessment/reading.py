"""Whether every readable queue of a group's business topics has a reader: a verdict apart from its size."""

from collections.abc import Iterator

from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.replicas import masterless, readable_without_master
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import ClusterFacts, GroupFacts, Place, Reads
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.vocabulary import (
    ABSENT,
    LOGICAL_BROKER_PREFIX,
    MASTERLESS,
    READ,
    TWICE,
    UNKNOWN,
    UNREAD,
    ReadingStatus,
)


def reading_status(
    division: Division, cluster: ClusterFacts, load: GroupLoad | None, owners: Owners | None, *, is_settling: bool
) -> ReadingStatus:
    """UNREAD if a readable business queue has no reader, TWICE if some are read twice, else READ; UNKNOWN if unknown.

    Queues of a group without clients have no reader, unless it may have clients that the snapshot does not know. The
    owner of a queue cannot read it while its broker refuses the group, or has no master and its slaves refuse. Whether
    it can is unknown of a broker that the snapshot lacks.

    Args:
        division: its queues and consumers.
        cluster: the brokers.
        load: today's, of a group that is clustering; None if no owners are known.
        owners: of today's queues; None if one is unknown.
        is_settling: whether a client may not have its queues yet.
    """
    of_owners = _of_owners(division, load, owners, is_settling=is_settling)
    if of_owners == UNREAD or not division.group.connections:
        return of_owners
    can_read = set(_can_be_read(division.group, cluster))
    if False in can_read:
        return UNREAD
    return UNKNOWN if None in can_read else of_owners


def _can_be_read(group: GroupFacts, cluster: ClusterFacts) -> Iterator[bool | None]:
    """For each place of its business topics whose broker may not serve it, whether the group can read there."""
    refusing = group.refusing
    for reads in group.business:
        for place in reads.topic.places:
            if place.readable and place.broker_name in refusing:
                yield False
            elif place.readable and place.broker_state == MASTERLESS:
                yield _without_master(group, cluster, reads, place)
            elif place.readable and place.broker_state == ABSENT:
                # A logical broker, of a static topic, is no process that could be missing.
                yield True if place.broker_name.startswith(LOGICAL_BROKER_PREFIX) else None


def _without_master(group: GroupFacts, cluster: ClusterFacts, reads: Reads, place: Place) -> bool | None:
    reading = readable_without_master(masterless(cluster.brokers)[place.broker_name])
    if group.pops(reads):
        return reading.pop
    return reading.pull_in_order if group.is_orderly and group.is_clustering else reading.pull


def _of_owners(
    division: Division, load: GroupLoad | None, owners: Owners | None, *, is_settling: bool
) -> ReadingStatus:
    """The status by the owners of the queues alone."""
    facts = division.group
    if facts.is_lite or (not facts.is_clustering and not facts.is_broadcasting):
        return UNKNOWN
    if not facts.connections:
        is_unread = facts.unseen_clients is None and bool(division.queues.is_business.any())
        return UNREAD if is_unread else UNKNOWN
    if facts.is_broadcasting:
        return _of_broadcasting(division, owners)
    if not division.queues.is_business.any():
        return UNKNOWN
    if load is None or (len(load.orphans) and is_settling):
        return UNKNOWN
    if len(load.orphans):
        return UNREAD
    if not load.is_whole:
        return UNKNOWN
    return TWICE if load.doubly_owned else READ


def _of_broadcasting(division: Division, owners: Owners | None) -> ReadingStatus:
    """Every client reads every queue of its topics: a queue has no reader only if no client reads its topic."""
    if owners is None:
        return UNKNOWN
    unread = division.queues.is_business.copy()
    unread[owners.queue] = False
    return UNREAD if unread.any() else READ
