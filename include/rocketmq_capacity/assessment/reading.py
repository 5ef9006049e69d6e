"""Whether every readable queue of a group's business topics has a reader: a verdict apart from its size."""

from typing import TYPE_CHECKING

from rocketmq_capacity.vocabulary import READ, TWICE, UNKNOWN, UNREAD, ReadingStatus

if TYPE_CHECKING:
    from rocketmq_capacity.assessment.group import Group


def reading_status(group: "Group") -> ReadingStatus:
    """UNREAD if a readable business queue has no reader, TWICE if some are read twice, else READ; UNKNOWN if unknown.

    Queues of a group without clients have no reader, unless it may have clients that the snapshot does not know.
    """
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
