"""Whether the changed cluster still carries everything: the first line of a what-if, and the verdict on the cluster."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rocketmq_capacity.assessment.effect import OVERLOADED
from rocketmq_capacity.plan_file.scenario import Carried, Verdict
from rocketmq_capacity.tables import ScenarioGroup
from rocketmq_capacity.vocabulary import MASTERLESS, PERM_WRITE, is_readable


class Routed(NamedTuple):
    """The columns of ``topic_queue`` that say whether a topic can be read and written."""

    topic: str
    read_queue_nums: int | None
    write_queue_nums: int | None
    perm: int | None
    broker_state: str


class GroupAtPeak(NamedTuple):
    """The columns of ``group_status`` that say whether a group is too busy at the peak."""

    consumer_group: str
    headroom_factor: float | None


class LostTopics(NamedTuple):
    """Topics that lose their last queue, sorted.

    Attributes:
        unreadable: consumers see no queue of them any more.
        unwritable: producers see no queue of them any more.
    """

    unreadable: Sequence[str]
    unwritable: Sequence[str]


def lost_topics(before: Iterable[Routed], after: Iterable[Routed]) -> LostTopics:
    """The topics that a change takes from consumers and producers, whoever reads them."""
    (could_read, could_write), (can_read, can_write) = _reach(before), _reach(after)
    return LostTopics(sorted(could_read - can_read), sorted(could_write - can_write))


def _reach(routed: Iterable[Routed]) -> tuple[set[str], set[str]]:
    """The topics that can be read, and those that can be written; an unknown number of queues counts as some."""
    readable: set[str] = set()
    writable: set[str] = set()
    for place in routed:
        if is_readable(place.perm, place.read_queue_nums):
            readable.add(place.topic)
        if (
            place.broker_state != MASTERLESS
            and (place.perm is None or place.perm & PERM_WRITE)
            and place.write_queue_nums != 0
        ):
            writable.add(place.topic)
    return readable, writable


def verdict_of(groups: Sequence[ScenarioGroup], lost: LostTopics) -> Verdict:
    """The verdict on the whole cluster: MIXED if some of it is better off, and some worse."""
    verdicts = {one.verdict for one in groups}
    is_worse = "WORSE" in verdicts or any(lost)
    if is_worse and "BETTER" in verdicts:
        return "MIXED"
    if is_worse:
        return "WORSE"
    if "UNDECIDED" in verdicts:
        return "UNDECIDED"
    return "BETTER" if "BETTER" in verdicts else "UNCHANGED"


def carried(groups: Sequence[ScenarioGroup], others: Iterable[GroupAtPeak], lost: LostTopics, bound: float) -> Carried:
    """The plan file's ``scenario.carried``.

    Everything is carried if no topic and no queue loses its last reader or writer, no group loses all of its clients,
    and no group falls behind that kept up. It is unknown if a group can no longer be judged. Messages that wait on lost
    queues are counted apart: they come again with their broker.

    Args:
        groups: the groups that the changes touch.
        others: every group of the changed cluster.
        lost: topics that lose their last queue.
        bound: the busy share above which a client is too busy.
    """
    touched = {one.consumer_group: one for one in groups}
    over = {one.consumer_group for one in groups if one.is_over_bound}
    over |= {one.consumer_group for one in others if one.consumer_group not in touched and _is_over(one)}
    left = tuple(sorted(one.consumer_group for one in groups if one.before_clients and not one.after_clients))
    behind = tuple(sorted(one.consumer_group for one in groups if _falls_behind(one)))
    undecided = tuple(sorted(one.consumer_group for one in groups if one.verdict == "UNDECIDED"))
    unread = sum(one.unread_queues or 0 for one in groups)
    waiting = sum(one.waiting_messages or 0 for one in groups)
    is_lost = bool(any(lost) or left or behind or unread)
    return Carried(
        is_carried=_is_carried(is_lost=is_lost, is_known=not undecided),
        bound=bound,
        over_bound=tuple(sorted(over)),
        newly_over_bound=tuple(sorted(one.consumer_group for one in groups if _is_newly_over(one, bound))),
        falling_behind=behind,
        without_clients=left,
        unreadable_topics=tuple(lost.unreadable),
        unwritable_topics=tuple(lost.unwritable),
        unread_queues=unread,
        waiting_messages=waiting,
        undecided=undecided,
    )


def _is_carried(*, is_lost: bool, is_known: bool) -> bool | None:
    if is_lost:
        return False
    return True if is_known else None


def _is_over(group: GroupAtPeak) -> bool:
    """Whether its busiest client is above the bound already at today's peak."""
    return group.headroom_factor is not None and group.headroom_factor < 1


def _is_newly_over(group: ScenarioGroup, bound: float) -> bool:
    before = group.before_peak_utilisation
    return group.is_over_bound is True and before is not None and before <= bound


def _falls_behind(group: ScenarioGroup) -> bool:
    """Whether its busiest client is busy all of its time at the peak only after the changes."""
    before, after = group.before_peak_utilisation, group.after_peak_utilisation
    return before is not None and after is not None and before <= OVERLOADED < after
