"""What happens while each recommendation is carried out, summed up over its groups."""

from collections.abc import Iterable, Sequence
from typing import Final

from rocketmq_capacity.contracts.transition import RecommendedTransition
from rocketmq_capacity.report.plan_file import Transition

DIGITS: Final = 3


def transitions_of(rows: Iterable[RecommendedTransition]) -> dict[str, Transition]:
    """By id of the recommendation: sums of queues and messages, and the longest times."""
    groups: dict[str, list[RecommendedTransition]] = {}
    for row in rows:
        groups.setdefault(row.recommendation_id, []).append(row)
    return {name: _together(sorted(of, key=lambda row: row.consumer_group)) for name, of in groups.items()}


def _together(rows: Sequence[RecommendedTransition]) -> Transition:
    return Transition(
        moved_queues=sum(row.moved_queues for row in rows),
        new_queues=sum(row.new_queues for row in rows),
        ownerless_queues=sum(row.ownerless_queues for row in rows),
        unread_longest_expected_s=max(row.unread_longest_expected_s for row in rows),
        unread_longest_worst_s=max(row.unread_longest_worst_s for row in rows),
        twice_longest_worst_s=max(row.twice_longest_worst_s for row in rows),
        lock_wait_worst_s=max(row.lock_wait_worst_s for row in rows),
        messages_twice_expected=_sum([row.messages_twice_expected for row in rows]),
        messages_twice_worst=_sum([row.messages_twice_worst for row in rows]),
        messages_skipped_worst=_sum([row.messages_skipped_worst for row in rows]),
        most_unread_at_once=sum(row.most_unread_at_once for row in rows),
        most_twice_at_once=sum(row.most_twice_at_once for row in rows),
    )


def _sum(parts: Sequence[float | None]) -> float | None:
    """The sum; None if a part is unknown."""
    known = [part for part in parts if part is not None]
    return round(sum(known), DIGITS) if len(known) == len(parts) else None
