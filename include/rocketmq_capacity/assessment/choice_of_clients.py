"""Which clients a group has, if there are fewer or more of them than today.

Whoever lets clients go does not choose them. So those stay that can do least: a number that is enough for them is
enough. Further clients are like those of today, in turn.

Under MACHINE_ROOM_NEARBY as many stay in each room, as an autoscaler leaves them. Further ones come where those of a
room have most to do: hardly any other choice of rooms has a less busy busiest client.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from heapq import heapify, heapreplace
from itertools import cycle, islice
from math import inf
from typing import Annotated

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.staff import Staff
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.vocabulary import MACHINE_ROOM_NEARBY


class RoomClients(Struct, frozen=True, kw_only=True):
    """How many clients run in a machine room."""

    room: Annotated[str, means("the machine room")]
    clients: Annotated[int, means("that run there", "client")]


Places = Mapping[str, Sequence[int]]
"""By machine room the places of its consumers."""


def staying(staff: Staff) -> Sequence[int]:
    """The places of the consumers in the order in which they stay, if there are fewer; alike ones in Java's order.

    By rooms, those with least to do keep the odd ones.
    """
    if staff.stays is not None:
        return staff.stays
    places = _places(staff)
    if len(places) < 2:
        return _weakest_first(staff, range(len(staff.division.members)))
    work = _work(staff, places)
    turns = [
        (turn, work[room], place)
        for room, of_room in places.items()
        for turn, place in enumerate(_weakest_first(staff, of_room))
    ]
    return [place for *_, place in sorted(turns)]


def further(staff: Staff) -> Iterator[int]:
    """The places of the consumers that further ones are like, without end: by default of all in turn."""
    places = _places(staff)
    if len(places) < 2:
        return cycle(range(len(staff.division.members)))
    like = {room: cycle(of_room) for room, of_room in places.items()}
    running = {room: len(of_room) for room, of_room in places.items()}
    return (next(like[room]) for room in _turns(_work(staff, places), running))


def clients_of_rooms(staff: Staff, clients: int) -> tuple[RoomClients, ...] | None:
    """In which rooms so many clients run; None where that makes no difference."""
    rooms, consumers = _places(staff), staff.division.members.consumers
    if len(rooms) < 2:
        return None
    places = [*staying(staff)[:clients], *islice(further(staff), max(0, clients - len(consumers)))]
    number = Counter(consumers[place].room for place in places)
    return tuple(RoomClients(room=room, clients=number[room]) for room in sorted(rooms))


def with_one_lost(staff: Staff, clients: int) -> list[Staff]:
    """Of so many clients one is lost, in each room once; none where rooms make no difference."""
    if len(_places(staff)) < 2:
        return []
    stays = staying(staff)[:clients]
    last = {staff.division.members.consumers[place].room: place for place in stays}
    return [replace(staff, stays=[*(other for other in stays if other != place), place]) for place in last.values()]


def _weakest_first(staff: Staff, places: Sequence[int]) -> Sequence[int]:
    """The same places, first those of the consumers that handle fewest messages at once, last those that do not say."""
    consumers = staff.division.members.consumers
    at_once = [
        (consumers[place].consume_threads or inf) * (consumers[place].consume_batch_size or inf) for place in places
    ]
    if len({*at_once}) < 2:
        return places
    return [place for _, place in sorted(zip(at_once, places, strict=True))]


def _places(staff: Staff) -> Places:
    """By machine room the places of its consumers; empty where rooms make no difference, or one is unknown."""
    if not (staff.strategy or "").startswith(MACHINE_ROOM_NEARBY):
        return {}
    places: dict[str, list[int]] = {}
    for place, consumer in enumerate(staff.division.members.consumers):
        if consumer.room is None:
            return {}
        places.setdefault(consumer.room, []).append(place)
    return places


def _turns(work: Mapping[str, float], running: Mapping[str, int]) -> Iterator[str]:
    """The rooms in the order in which they get another client, without end: that whose clients have most to do."""
    turns = [(-work[room] / clients, room, clients) for room, clients in running.items()]
    heapify(turns)
    while True:
        _, room, clients = turns[0]
        yield room
        heapreplace(turns, (-work[room] / (clients + 1), room, clients + 1))


def _work(staff: Staff, places: Places) -> dict[str, float]:
    """The work of each room, in clients that are always busy; if it is unknown, as much as it has clients."""
    work = staff.planned_work or staff.work
    members = staff.division.members
    busy = np.zeros(len(members.client_ids)) if work is None else np.nan_to_num(work.busy(work.times.estimate))
    if not busy.any():
        return {room: float(len(of_room)) for room, of_room in places.items()}
    client = members.client
    return {room: float(busy[np.unique(client[list(of_room)])].sum()) for room, of_room in places.items()}
