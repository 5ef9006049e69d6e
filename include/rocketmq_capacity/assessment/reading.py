"""Whether every readable queue of a group's business topics has a reader: a verdict apart from its size."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rocketmq_capacity.assessment.replicas import masterless, readable_without_master
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

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group
    from rocketmq_capacity.contracts.facts import Place, Reads


def reading_status(group: "Group") -> ReadingStatus:
    """UNREAD if a readable business queue has no reader, TWICE if some are read twice, else READ; UNKNOWN if unknown.

    Queues of a group without clients have no reader, unless it may have clients that the snapshot does not know. The
    owner of a queue cannot read it while its broker has no master and its slaves refuse. Whether it can is unknown of a
    broker that the snapshot lacks.
    """
    of_owners = _of_owners(group)
    if of_owners == UNREAD or not group.facts.connections:
        return of_owners
    can_read = set(_can_be_read(group))
    if False in can_read:
        return UNREAD
    return UNKNOWN if None in can_read else of_owners


def _can_be_read(group: "Group") -> Iterator[bool | None]:
    """For each place of its business topics whose broker may not serve, whether the group can read there."""
    for reads in group.business:
        for place in reads.topic.places:
            if place.readable and place.broker_state == MASTERLESS:
                yield _without_master(group, reads, place)
            elif place.readable and place.broker_state == ABSENT:
                # A logical broker, of a static topic, is no process that could be missing.
                yield True if place.broker_name.startswith(LOGICAL_BROKER_PREFIX) else None


def _without_master(group: "Group", reads: "Reads", place: "Place") -> bool | None:
    reading = readable_without_master(masterless(group.cluster.brokers)[place.broker_name])
    if group.facts.pops(reads):
        return reading.pop
    return reading.pull_in_order if group.facts.is_orderly and group.is_clustering else reading.pull


def _of_owners(group: "Group") -> ReadingStatus:
    """The status by the owners of the queues alone."""
    facts = group.facts
    if facts.is_lite or (not facts.is_clustering and not facts.is_broadcasting):
        return UNKNOWN
    if not facts.connections:
        is_unread = facts.unseen_clients is None and bool(group.division.queues.is_business.any())
        return UNREAD if is_unread else UNKNOWN
    if facts.is_broadcasting:
        return _of_broadcasting(group)
    load = group.today_load
    if not len(group.weights.queue):
        return UNKNOWN
    if load is None or (len(load.orphans) and group.is_settling):
        return UNKNOWN
    if len(load.orphans):
        return UNREAD
    if not load.is_whole:
        return UNKNOWN
    return TWICE if load.doubly_owned else READ


def _of_broadcasting(group: "Group") -> ReadingStatus:
    """Every client reads every queue of its topics: a queue has no reader only if no client reads its topic."""
    owners = group.owners_today
    if owners is None:
        return UNKNOWN
    unread = group.division.queues.is_business.copy()
    unread[owners.queue] = False
    return UNREAD if unread.any() else READ
