"""What happens in each group while a what-if's changes spread, as a picture and a table."""

from collections.abc import Sequence
from dataclasses import dataclass

from rocketmq_capacity.plan_file.recommendation import PlanTransition
from rocketmq_capacity.report.facts import Fact, facts_of
from rocketmq_capacity.report.figures import number
from rocketmq_capacity.report.limits import COURSES, SCENARIO_ROWS
from rocketmq_capacity.report.timeline import Stretch, TimelineRow, timeline
from rocketmq_capacity.report.view.pictures import Chart
from rocketmq_capacity.wording import counted

HEADERS = (
    "Group",
    "Queues that move",
    "New queues",
    "Queues without owner",
    "Unread on average, at most",
    "Read twice at most",
    "Lock wait at most",
    "Messages twice on average, at most",
    "Messages never read at most",
    "Queues unread at once",
    "Queues read twice at once",
)


@dataclass(frozen=True, slots=True)
class TransitionsView:
    """The groups whose queues get another owner, those that wait longest first.

    Attributes:
        chart: the picture of the first of them, and the table of all that the page holds.
        more: groups that the table leaves out.
        timers: what the seconds are computed from.
    """

    chart: Chart
    more: int
    timers: tuple[Fact, ...]


def transitions_of(groups: Sequence[PlanTransition]) -> TransitionsView | None:
    """The picture and the table; None if no queue gets another owner."""
    if not groups:
        return None
    ordered = sorted(groups, key=lambda one: (-one.unread_longest_worst_s, -one.moved_queues, one.consumer_group))
    title = "What happens while the changes spread"
    shown = counted(min(len(ordered), COURSES), "group")
    described = (
        f"For {shown}, the seconds after the change in which a queue is unread, read twice or waits for its lock. The "
        "table below holds the same numbers."
    )
    chart = Chart(
        picture=timeline([_course(one) for one in ordered[:COURSES]], "timeline", title, described),
        caption=title,
        headers=HEADERS,
        rows=tuple(_row(one) for one in ordered[:SCENARIO_ROWS]),
        has_alternative=False,
        left_out=max(0, len(ordered) - COURSES),
    )
    return TransitionsView(chart, max(0, len(ordered) - SCENARIO_ROWS), facts_of(ordered[0].timers))


def _course(group: PlanTransition) -> TimelineRow:
    stretches = [Stretch("unread", "var(--under)", group.unread_longest_worst_s, group.unread_longest_expected_s)]
    if group.twice_longest_worst_s:
        stretches.append(Stretch("read twice", "var(--over)", group.twice_longest_worst_s))
    if group.lock_wait_worst_s:
        stretches.append(Stretch("waits for a lock", "var(--info-line)", group.lock_wait_worst_s))
    return TimelineRow(group.consumer_group, tuple(stretches))


def _row(group: PlanTransition) -> tuple[str, ...]:
    return (
        group.consumer_group,
        number(group.moved_queues),
        number(group.new_queues),
        number(group.ownerless_queues),
        f"{number(group.unread_longest_expected_s)} s, {number(group.unread_longest_worst_s)} s",
        f"{number(group.twice_longest_worst_s)} s",
        f"{number(group.lock_wait_worst_s)} s",
        f"{number(group.messages_twice_expected)}, {number(group.messages_twice_worst)}",
        number(group.messages_skipped_worst),
        number(group.most_unread_at_once),
        number(group.most_twice_at_once),
    )
