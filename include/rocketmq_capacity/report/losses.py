"""The effect of each failure on the whole cluster: sums over its groups and topics."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rocketmq_capacity.vocabulary import BROKER, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE, ROOM

ORDER: Final = (BROKER, ROOM, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE)
OF_THE_CLUSTER: Final = frozenset({BROKER, ROOM})
"""Failures that are the same loss for all groups; in the others each group loses a client of its own."""


class GroupAfter(NamedTuple):
    """The columns of ``group_failure`` that the sums need."""

    consumer_group: str
    failure: str
    lost: str | None
    lost_queues: int
    moved_today: int | None
    busy_ratio: float | None
    read_again_s: float
    verdict: str | None
    becomes_under: bool | None = None


class TopicAfter(NamedTuple):
    """The columns of ``topic_failure`` that the sums need."""

    topic: str
    failure: str
    lost: str
    msgs_per_s: float | None
    readable_queues: int
    writable_queues: int | None
    was_readable: bool
    was_writable: bool | None


@dataclass(slots=True)
class Loss:
    """A failure and its effect.

    Attributes:
        failure: its kind.
        lost: the broker or the room; None if each group loses a client of its own.
        groups: how many groups it affects.
        lost_queues: queues of business topics that are lost, summed over the groups that read them.
        moved: queues that stay and get another owner, over the groups for which this is known.
        unknown: number of groups for which ``moved`` is unknown.
        busy_ratio: the highest busy share of a client afterwards, 1 is always busy; None if unknown for all groups.
        worse: groups that are worse off, by the verdict that what-ifs have as well.
        undecided: number of groups for which that is unknown.
        under: groups that become too small.
        unsure: groups of which that is unknown.
        read_again_s: the most seconds until every queue that stays is read again.
        msgs_per_s: messages a second written to the lost queues; None if unknown.
        unwritable: topics that nobody can write any more.
        unreadable: topics that nobody can read any more.
    """

    failure: str
    lost: str | None
    groups: int = 0
    lost_queues: int = 0
    moved: int = 0
    unknown: int = 0
    busy_ratio: float | None = None
    worse: list[str] = field(default_factory=list)
    undecided: int = 0
    under: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    read_again_s: float = 0.0
    msgs_per_s: float | None = 0.0
    unwritable: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def losses_of(groups: Iterable[GroupAfter], topics: Iterable[TopicAfter]) -> tuple[Loss, ...]:
    """One entry for each failure: brokers, rooms, then lost clients; of each kind the most harmful first."""
    found: dict[tuple[str, str | None], Loss] = {}

    def loss(failure: str, lost: str | None) -> Loss:
        name = lost if failure in OF_THE_CLUSTER else None
        if (failure, name) not in found:
            found[failure, name] = Loss(failure, name)
        return found[failure, name]

    for group in groups:
        _add_group(loss(group.failure, group.lost), group)
    for topic in topics:
        _add_topic(loss(topic.failure, topic.lost), topic)
    for one in found.values():
        for names in (one.worse, one.unwritable, one.unreadable):
            names.sort()
    return tuple(sorted(found.values(), key=_order))


def _order(loss: Loss) -> tuple[int, int, int, int, float, str]:
    """A sort key: kind, unreadable topics, unwritable topics, groups that are worse off, traffic, name."""
    harm = -len(loss.unreadable), -len(loss.unwritable), -len(loss.worse)
    return ORDER.index(loss.failure), *harm, -(loss.msgs_per_s or 0.0), loss.lost or ""


def _add_group(loss: Loss, group: GroupAfter) -> None:
    loss.groups += 1
    loss.lost_queues += group.lost_queues
    loss.read_again_s = max(loss.read_again_s, group.read_again_s)
    if group.moved_today is None:
        loss.unknown += 1
    else:
        loss.moved += group.moved_today
    if group.busy_ratio is not None:
        loss.busy_ratio = max(loss.busy_ratio or 0.0, group.busy_ratio)
    if group.becomes_under is None:
        loss.unsure.append(group.consumer_group)
    elif group.becomes_under:
        loss.under.append(group.consumer_group)
    if group.verdict in (None, "UNDECIDED"):
        loss.undecided += 1
    elif group.verdict == "WORSE":
        loss.worse.append(group.consumer_group)


def _add_topic(loss: Loss, topic: TopicAfter) -> None:
    if topic.msgs_per_s is None:
        loss.msgs_per_s = None
    elif loss.msgs_per_s is not None:
        loss.msgs_per_s += topic.msgs_per_s
    if topic.was_writable and topic.writable_queues == 0:
        loss.unwritable.append(topic.topic)
    if topic.was_readable and topic.readable_queues == 0:
        loss.unreadable.append(topic.topic)
