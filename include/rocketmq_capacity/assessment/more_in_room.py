"""How many more clients a group needs in the one machine room whose clients are too busy (MACHINE_ROOM_NEARBY)."""

from collections.abc import Sequence
from itertools import cycle
from typing import Annotated, Final

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from rocketmq_capacity.assessment.burden import Assignment, burdens
from rocketmq_capacity.assessment.current import client_runs, predicted_owners
from rocketmq_capacity.assessment.owners_by_strategy import OwnersByStrategy
from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.assessment.utilisation import Work
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import Consumer
from rocketmq_capacity.model.members import Members
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
    there = [one for one in today if one.room == room]
    numbers = range(1, min(MOST, MOST if most is None else most - len(today)) + 1)
    cases = [case for more in numbers if (case := _case(staff, there, more)) is not None]
    for case, burden in zip(cases, burdens(cases), strict=True):
        if burden.busiest is None or burden.orphans > (staff.orphans or 0):
            continue
        share = rounded(burden.busiest.times(staff.peak.scale).estimate)
        if share <= bound:
            return NeededInRoom(room=room or "", clients=len(case.division.members.consumers), busy_ratio=share)
    return None


def _case(staff: Staff, there: Sequence[Consumer], more: int) -> Assignment | None:
    """The group with so many more clients like these; None if its queues cannot be computed."""
    today = staff.division.members
    like = {one.client_id: one.client_id for one in today.consumers}
    further = []
    for place, copied in zip(range(more), cycle(there), strict=False):
        index = len(today.consumers) + place
        further.append(replace(copied, client_id=f"{copied.client_id}~{index}", consumer_index=index))
        like[further[-1].client_id] = copied.client_id
    members = Members.sorted([*today.consumers, *further])
    division = Division(staff.division.group, staff.division.queues, members)
    runs = client_runs(division, "" if staff.current is None else staff.current.strategy, staff.policy)
    owners = predicted_owners(OwnersByStrategy(staff.allocator, division), runs)
    if owners.unknown:
        return None
    number = {client_id: index for index, client_id in enumerate(today.client_ids)}
    rows = np.array([number[like[client_id]] for client_id in members.client_ids], np.int64)
    return Assignment(staff.division, staff.times, division, owners, rows, None, staff.planned_msgs_per_s)
