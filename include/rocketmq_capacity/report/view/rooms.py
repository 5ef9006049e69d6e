"""The machine rooms of a finding of CROSS_ROOM as tables: who reads where, and what each strategy changes."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from rocketmq_capacity.assessment.rooms import CrossRoomEvidence, Nearby
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.report.figures import UNKNOWN, number, per_cent
from rocketmq_capacity.report.limits import TABLE_ROWS

SHOWN: Final = frozenset({"matrix", "strategies", "nearby", "rooms_without_clients", "rooms_without_queues"})
"""Members of the evidence that the tables show."""
NO_ROOM: Final = "not known"


@dataclass(frozen=True, slots=True)
class Cell:
    """Queues that the clients of one room read from the brokers of another."""

    queues: str
    crosses: bool


@dataclass(frozen=True, slots=True)
class RoomsView:
    """The rooms of a group.

    Attributes:
        brokers: rooms of the brokers, the columns of the matrix.
        lines: for each room of clients its cells.
        strategies: each strategy with the share of queues that it has read from another room, the lowest first.
        without: sentences about rooms that have only clients or only queues.
        nearby: a sentence on what MACHINE_ROOM_NEARBY would change; empty where it cannot be told.
    """

    brokers: tuple[str, ...]
    lines: tuple[tuple[str, tuple[Cell, ...]], ...]
    strategies: tuple[tuple[str, str], ...]
    without: tuple[str, ...]
    nearby: str


def rooms_of(finding: PlanFinding) -> RoomsView | None:
    """The tables of a finding; None if it is of another rule, or of an earlier version of this program."""
    crossing = evidence_of(finding)
    if not isinstance(crossing, CrossRoomEvidence) or not crossing.matrix:
        return None
    queues = {(one.client_room, one.broker_room): one.queues for one in crossing.matrix}
    readers, brokers = _rooms(reader for reader, _ in queues), _rooms(broker for _, broker in queues)
    return RoomsView(
        brokers=tuple(room or NO_ROOM for room in brokers),
        lines=tuple(
            (
                reader or NO_ROOM,
                tuple(
                    Cell(number(queues.get((reader, broker), 0)), None not in (reader, broker) and reader != broker)
                    for broker in brokers
                ),
            )
            for reader in readers
        ),
        strategies=tuple(
            (one.strategy, per_cent(one.cross_room_share))
            for one in sorted(crossing.strategies, key=lambda one: one.cross_room_share)[:TABLE_ROWS]
        ),
        without=tuple(
            f"{words}: {', '.join(names[:TABLE_ROWS])}."
            for words, names in (
                ("Rooms with queues of the group and none of its clients", crossing.rooms_without_clients),
                ("Rooms with clients of the group and none of its queues", crossing.rooms_without_queues),
            )
            if names
        ),
        nearby=_nearby(crossing.nearby, crossing.cross_room_share),
    )


def _rooms(names: Iterable[str | None]) -> Sequence[str | None]:
    """Each room once, by name; what is not known comes last."""
    return sorted(set(names), key=lambda name: (name is None, name or ""))[:TABLE_ROWS]


def _nearby(nearby: Nearby | None, today: float) -> str:
    if not nearby:
        return ""
    idle, starving, excess = nearby.idle, nearby.starving_rooms, nearby.excess
    parts = [
        f"Under {nearby.strategy}, {per_cent(nearby.cross_room_share)} of the queues would be read from another "
        f"room instead of {per_cent(today)}",
        f"{idle:,} clients would be idle" if idle != 1 else "1 client would be idle",
        f"EXCESS by queues would be {number(excess) if excess is not None else UNKNOWN}",
    ]
    if starving:
        parts.append(f"clients of {', '.join(starving)} would get next to nothing")
    return f"{', '.join(parts[:-1])}, and {parts[-1]}."
