"""The effect of each failure on the whole cluster: sums over its groups and topics."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.vocabulary import BROKER, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE, ROOM

ORDER: Final = (BROKER, ROOM, BUSIEST_CLIENT, ONE_FEWER, ONE_MORE)
OF_THE_CLUSTER: Final = frozenset({BROKER, ROOM})
"""Failures that are the same loss for all groups; in the others each group loses a client of its own."""
RAISED: Final = 0.001
"""A busy share is raised if it grows by this: percentages have one decimal."""


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
    reasons: Sequence[str] | None = ()
    busy_today: float | None = None
    clients_today: int | None = None
    clients_left: int | None = None
    unread_queues: int | None = None
    waiting_messages: int | None = None


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


class Raised(NamedTuple):
    """A group whose busiest client a failure makes busier; 1 is always busy."""

    consumer_group: str
    busy_today: float
    busy_ratio: float


@dataclass(slots=True)
class FailureLoss:
    """A failure and its effect.

    Attributes:
        failure: its kind.
        lost: the broker or the room; None if each group loses a client of its own.
        groups: how many groups it affects.
        lost_queues: queues of business topics that are lost, summed over the groups that read them.
        moved: queues that stay and get another owner, over the groups for which this is known.
        unknown: number of groups for which ``moved`` is unknown.
        busiest: the group whose busiest client gets busier by most; None if that is known of no group.
        unknown_busy: number of groups for which it is unknown how busy their clients are, today or afterwards.
        clients_today: client ids of these groups, each counted for its group; None if unknown.
        clients_left: the same afterwards.
        unread: queues that stay and lose their reader, over the groups for which this is known.
        unknown_readers: number of groups for which ``unread`` is unknown.
        waiting: messages on the lost queues that groups have not read, over the groups for which this is known.
        unknown_waiting: number of groups for which ``waiting`` is unknown.
        worse: groups that are worse off, by the verdict that what-ifs have as well.
        reasons: by what that verdict is based on, the groups that are worse off.
        undecided: groups for which that is unknown.
        under: groups that become too small.
        unsure: groups of which that is unknown.
        read_again_s: the most seconds until every queue that stays is read again.
        msgs_per_s: messages a second written to the lost queues; None if unknown.
        unsendable_msgs_per_s: those of topics that nobody can write any more.
        unwritable: topics that nobody can write any more.
        unreadable: topics that nobody can read any more.
    """

    failure: str
    lost: str | None
    groups: int = 0
    lost_queues: int = 0
    moved: int = 0
    unknown: int = 0
    busiest: Raised | None = None
    unknown_busy: int = 0
    clients_today: int | None = 0
    clients_left: int | None = 0
    unread: int = 0
    unknown_readers: int = 0
    waiting: int = 0
    unknown_waiting: int = 0
    worse: list[str] = field(default_factory=list)
    reasons: dict[str, list[str]] = field(default_factory=dict)
    undecided: list[str] = field(default_factory=list)
    under: list[str] = field(default_factory=list)
    unsure: list[str] = field(default_factory=list)
    read_again_s: float = 0.0
    msgs_per_s: float | None = 0.0
    unsendable_msgs_per_s: float | None = 0.0
    unwritable: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)


def losses_of(groups: Iterable[GroupAfter], topics: Iterable[TopicAfter]) -> tuple[FailureLoss, ...]:
    """One entry for each failure: brokers, rooms, then lost clients; of each kind the most harmful first."""
    losses: dict[tuple[str, str | None], FailureLoss] = {}

    def loss(failure: str, lost: str | None) -> FailureLoss:
        name = lost if failure in OF_THE_CLUSTER else None
        if (failure, name) not in losses:
            losses[failure, name] = FailureLoss(failure, name)
        return losses[failure, name]

    for group in groups:
        _add_group(loss(group.failure, group.lost), group)
    for topic in topics:
        _add_topic(loss(topic.failure, topic.lost), topic)
    for of_failure in losses.values():
        lists = of_failure.worse, of_failure.undecided, of_failure.unwritable, of_failure.unreadable
        for names in (*lists, *of_failure.reasons.values()):
            names.sort()
    return tuple(sorted(losses.values(), key=lambda loss: (ORDER.index(loss.failure), *harm(loss))))


def harm(loss: FailureLoss) -> tuple[int, int, int, float, str]:
    """A sort key, most harm first: unreadable topics, unwritable topics, groups that are worse off, traffic, name."""
    topics = -len(loss.unreadable), -len(loss.unwritable)
    return *topics, -len(loss.worse), -(loss.msgs_per_s or 0.0), loss.lost or ""


def _add_group(loss: FailureLoss, group: GroupAfter) -> None:
    loss.groups += 1
    loss.lost_queues += group.lost_queues
    loss.read_again_s = max(loss.read_again_s, group.read_again_s)
    if group.moved_today is None:
        loss.unknown += 1
    else:
        loss.moved += group.moved_today
    _add_clients(loss, group)
    _add_queues(loss, group)
    if group.becomes_under is None:
        loss.unsure.append(group.consumer_group)
    elif group.becomes_under:
        loss.under.append(group.consumer_group)
    if group.verdict in (None, "UNDECIDED"):
        loss.undecided.append(group.consumer_group)
    elif group.verdict == "WORSE":
        loss.worse.append(group.consumer_group)
        for reason in group.reasons or ():
            loss.reasons.setdefault(reason, []).append(group.consumer_group)


def _add_clients(loss: FailureLoss, group: GroupAfter) -> None:
    loss.clients_today = sum_of((loss.clients_today, group.clients_today))
    loss.clients_left = sum_of((loss.clients_left, group.clients_left))
    if group.busy_ratio is None or group.busy_today is None:
        loss.unknown_busy += 1
        return
    raised = Raised(group.consumer_group, group.busy_today, group.busy_ratio)
    grows_by = _grows_by(raised)
    if grows_by >= RAISED and (loss.busiest is None or grows_by > _grows_by(loss.busiest)):
        loss.busiest = raised


def _grows_by(raised: Raised) -> float:
    return raised.busy_ratio - raised.busy_today


def _add_queues(loss: FailureLoss, group: GroupAfter) -> None:
    if group.unread_queues is None:
        loss.unknown_readers += 1
    else:
        loss.unread += group.unread_queues
    if group.waiting_messages is None:
        loss.unknown_waiting += 1
    else:
        loss.waiting += group.waiting_messages


def _add_topic(loss: FailureLoss, topic: TopicAfter) -> None:
    loss.msgs_per_s = sum_of((loss.msgs_per_s, topic.msgs_per_s))
    if topic.was_writable and topic.writable_queues == 0:
        loss.unwritable.append(topic.topic)
        loss.unsendable_msgs_per_s = sum_of((loss.unsendable_msgs_per_s, topic.msgs_per_s))
    if topic.was_readable and topic.readable_queues == 0:
        loss.unreadable.append(topic.topic)
