"""How many more clients a group needs in the one machine room whose clients are too busy (MACHINE_ROOM_NEARBY)."""

from dataclasses import replace
from typing import Annotated, Final

from msgspec import Struct

from rocketmq_capacity.assessment.sizes import Sizes
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.vocabulary import MACHINE_ROOM_NEARBY
from rocketmq_capacity.wording import rounded

MOST: Final = 64
"""Further clients that are tried."""


class NeededInRoom(Struct, frozen=True, kw_only=True):
    """Clients that are enough if the further ones run in one machine room."""

    room: Annotated[str, means("the only one whose clients are too busy")]
    clients: Annotated[int, means("that are enough then, in all", "client")]
    busy_ratio: Annotated[float, means("busy share of the busiest of them")]


def more_in_room(staff: Staff, work: Work, bound: float, most: int | None) -> NeededInRoom | None:
    """The fewest clients that are enough if the further ones run in the one room that has too few.

    None under other strategies, if clients of several rooms are too busy or all of one are alone, if a client's room
    or share is unknown, and if ``most`` clients in all (None: any number), or MOST further ones, do not suffice.
    """
    today, current = staff.division.members.consumers, staff.current
    rooms = {one.room for one in today}
    if current is None or not current.strategy.startswith(MACHINE_ROOM_NEARBY) or None in rooms or len(rooms) < 2:
        return None
    busy = work.busy(work.times.estimate) * staff.peak.scale
    room_of = {one.client_id: one.room for one in today}
    too_busy = {
        room_of[client_id]
        for client_id, share in zip(staff.division.members.client_ids, busy.tolist(), strict=True)
        if not share <= bound
    }
    if len(too_busy) != 1:
        return None
    (room,) = too_busy
    sizes = Sizes(replace(staff, copied=[place for place, one in enumerate(today) if one.room == room]))
    further = min(MOST, MOST if most is None else most - len(today))
    for clients in range(len(today) + 1, len(today) + further + 1):
        share = rounded(sizes.share(clients))
        if share is not None and share <= bound:
            return NeededInRoom(room=room or "", clients=clients, busy_ratio=share)
    return None
