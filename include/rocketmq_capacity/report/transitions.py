"""What happens while each recommendation is carried out, summed up over its groups; of which groups it is unknown."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from rocketmq_capacity.catalogue.action import action_of
from rocketmq_capacity.tables import GroupStatus, Recommendation
from rocketmq_capacity.tables.transition import RecommendedTransition, TransitionTotals
from rocketmq_capacity.wording import listed

DIGITS: Final = 3


def transitions_of(rows: Iterable[RecommendedTransition], *, of_lists: bool = False) -> dict[str, TransitionTotals]:
    """By id of the recommendation: sums of queues and messages, and the longest times.

    ``of_lists`` asks for its fixed lists for CONFIG.
    """
    groups: dict[str, list[RecommendedTransition]] = {}
    for row in rows:
        if row.is_of_lists is of_lists:
            groups.setdefault(row.recommendation_id, []).append(row)
    return {name: _together(sorted(of, key=lambda row: row.consumer_group)) for name, of in groups.items()}


def undecided_of(
    recommendations: Iterable[Recommendation], rows: Iterable[RecommendedTransition], groups: Iterable[GroupStatus]
) -> dict[str, str]:
    """By id of the recommendation, why it is not known which queues move in some of its groups; none where it is."""
    known = {(row.recommendation_id, row.consumer_group) for row in rows if not row.is_of_lists}
    readers: dict[str, list[str]] = {}
    dividing = set()
    for group in groups:
        if group.current_strategy is not None:
            dividing.add(group.consumer_group)
            for topic in group.topics:
                readers.setdefault(topic, []).append(group.consumer_group)
    return {one.id: why for one in recommendations for why in _undecided(one, known, readers, dividing)}


def _undecided(
    asked: Recommendation,
    known: Collection[tuple[str, str]],
    readers: Mapping[str, Sequence[str]],
    dividing: Collection[str],
) -> Iterator[str]:
    if not asked.may_move_queues:
        return
    why = action_of(asked.action).unknown_moves
    if why is not None:
        yield f"UNDECIDED: {why}"
        return
    touched = readers.get(asked.topic or "", ()) if asked.consumer_group is None else [asked.consumer_group]
    unknown = sorted(one for one in touched if one in dividing and (asked.id, one) not in known)
    if unknown:
        yield f"UNDECIDED: who owns the queues of {listed(unknown)} before or afterwards is not known."


def _together(rows: Sequence[RecommendedTransition]) -> TransitionTotals:
    """Times are the longest, numbers are summed up."""
    parts = {name: [getattr(row, name) for row in rows] for name in TransitionTotals.__struct_fields__}
    totals: dict[str, Any] = {name: max(of) if name.endswith("_s") else _sum(of) for name, of in parts.items()}
    return TransitionTotals(**totals)


def _sum(parts: Sequence[float | None]) -> float | None:
    """The sum; None if a part is unknown."""
    known = [part for part in parts if part is not None]
    return round(sum(known), DIGITS) if len(known) == len(parts) else None
