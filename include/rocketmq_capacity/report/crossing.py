"""Findings of CROSS_ROOM as causes: one for each pair of machine rooms, whatever number of groups read across."""

from collections.abc import Sequence
from typing import Final

from rocketmq_capacity.assessment.rooms import CrossRoomEvidence
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.wording import counted, fixed

CROSS_ROOM: Final = "CROSS_ROOM"


def pair_of(finding: PlanFinding) -> tuple[str, str] | None:
    """The two rooms between which most of a finding's messages go, by name; None for a finding of another rule."""
    crossing = evidence_of(finding)
    if not isinstance(crossing, CrossRoomEvidence) or not crossing.pairs:
        return None
    first, second = sorted((crossing.pairs[0].client_room, crossing.pairs[0].broker_room))
    return first, second


def mb_per_s(findings: Sequence[PlanFinding]) -> float | None:
    """MB a second that cross rooms in all findings; None if unknown, or if none is of CROSS_ROOM."""
    figures = [held.cross_room_mb_per_s for held in map(evidence_of, findings) if isinstance(held, CrossRoomEvidence)]
    return sum_of(figures) if figures else None


def crossing_words(findings: Sequence[PlanFinding]) -> tuple[str, str] | None:
    """Title and message of a cause of CROSS_ROOM; None if its findings are of another rule."""
    crossing = [one for one in findings if one.rule == CROSS_ROOM]
    pair = pair_of(crossing[0]) if crossing else None
    if pair is None:
        return None
    held = [each for each in map(evidence_of, crossing) if isinstance(each, CrossRoomEvidence)]
    total, rates = mb_per_s(crossing), [each.cross_room_msgs_per_s for each in held]
    known = [rate for rate in rates if rate is not None]
    much = "messages"
    if total is not None:
        much = f"{fixed(total, 2)} MB a second"
    elif known and len(known) == len(rates):
        much = f"{fixed(sum(known), 1)} messages a second"
    between = f"between the machine rooms {pair[0]} and {pair[1]}"
    read = "reads" if len(crossing) == 1 else "read"
    return f"Messages {between}", f"{counted(len(crossing), 'group')} {read} {much} {between}."
