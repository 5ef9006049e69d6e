"""The machine rooms of a group's queues and clients, and what crosses from one to another."""

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.catalogue.evidence import means
from rocketmq_capacity.model.arrays import Flags, Integers, Numbers
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.wording import rounded


class RoomQueues(Struct, frozen=True, kw_only=True):
    """What the clients of a room read from a room; an unknown room is null."""

    client_room: Annotated[str | None, means("the room of the clients")]
    broker_room: Annotated[str | None, means("the room of the brokers")]
    queues: Annotated[int, means("that are read so", "queue")]


class RoomPair(Struct, frozen=True, kw_only=True):
    """What the clients of a room read from another room."""

    client_room: Annotated[str, means("the room of the clients")]
    broker_room: Annotated[str, means("the room of the brokers")]
    queues: Annotated[int, means("that are read so", "queue")]
    msgs_per_s: Annotated[float | None, means("their messages")]
    mb_per_s: Annotated[float | None, means("the size of these")]


MB: Final = 1_000_000
UNKNOWN_ROOM: Final = -1
"""The number for an unknown room."""


@dataclass(frozen=True)
class GroupRooms:
    """The machine rooms of a group's queues and clients, as numbers.

    Attributes:
        names: names of the rooms, sorted.
        of_queue: the number of the room of each queue's broker.
        of_client: the number of each client id's room.
        business: indexes of the business queues.
        msgs_per_s: messages a second from each queue.
    """

    names: tuple[str, ...]
    of_queue: Integers
    of_client: Integers
    business: Integers
    msgs_per_s: Numbers

    @classmethod
    def of(cls, group: AssessedGroup) -> "GroupRooms":
        """The rooms of a group."""
        queues, members = group.division.queues, group.division.members
        places = [place.room for place in queues.places]
        clients = [members.consumers[first].room for first in members.first.tolist()]
        names = tuple(sorted({room for room in (*places, *clients) if room is not None}))
        number: dict[str | None, int] = {room: index for index, room in enumerate(names)}
        of_place = np.array([number.get(room, UNKNOWN_ROOM) for room in places], np.int64)
        return cls(
            names,
            of_place[queues.place],
            np.array([number.get(room, UNKNOWN_ROOM) for room in clients], np.int64),
            group.weights.queue,
            group.weights.msgs_per_s,
        )

    @cached_property
    def without_clients(self) -> list[str]:
        """Rooms that have queues of the group and no client."""
        return self._only(self.of_queue[self.business], self.of_client)

    @cached_property
    def without_queues(self) -> list[str]:
        """Rooms that have clients of the group and no queue."""
        return self._only(self.of_client, self.of_queue[self.business])

    def _only(self, here: Integers, there: Integers) -> list[str]:
        only = set(here.tolist()) - set(there.tolist())
        return [self.names[room] for room in sorted(only) if room != UNKNOWN_ROOM]

    def weights(self, owners: Owners) -> Numbers:
        """The part of the queue that the owner reads, for each pair of a queue and an owner."""
        return 1 / np.bincount(owners.queue, minlength=len(self.of_queue))[owners.queue]

    def crosses(self, owners: Owners) -> Flags:
        """Whether queue and owner are known to be in different rooms, for each pair."""
        queue, client = self.of_queue[owners.queue], self.of_client[owners.client]
        crosses: Flags = (queue != UNKNOWN_ROOM) & (client != UNKNOWN_ROOM) & (queue != client)
        return crosses

    def is_known(self, owners: Owners) -> Flags:
        """Whether the rooms of queue and owner are both known, for each pair."""
        is_known: Flags = (self.of_queue[owners.queue] != UNKNOWN_ROOM) & (
            self.of_client[owners.client] != UNKNOWN_ROOM
        )
        return is_known

    def cross_share(self, owners: Owners) -> float | None:
        """The share of the queues that is read from another room; None if no queue and its reader have known rooms.

        Queues and readers of an unknown room do not count. A queue with several readers counts by the part of them that
        is in another room.
        """
        weights = self.weights(owners)
        known = float(weights[self.is_known(owners)].sum())
        return float(weights[self.crosses(owners)].sum()) / known if known else None

    def cross_msgs_per_s(self, owners: Owners) -> float | None:
        """Messages a second that go from one room to another; None if the rate of such a queue is unknown."""
        return _known(float((self.weights(owners) * self.msgs_per_s[owners.queue])[self.crosses(owners)].sum()))

    def pairs(self, owners: Owners, message_bytes: Numbers) -> list[RoomPair]:
        """What the clients of each room read from each other room, the most bytes first; null is unknown.

        ``message_bytes`` is the average size of a message of each queue.
        """
        crosses, weights = self.crosses(owners), self.weights(owners)
        queue, client = owners.queue[crosses], owners.client[crosses]
        number = self.of_client[client] * len(self.names) + self.of_queue[queue]
        rates = weights[crosses] * self.msgs_per_s[queue]
        size = len(self.names) ** 2
        queues, msgs = np.bincount(number, minlength=size), np.bincount(number, rates, size)
        mb = np.bincount(number, rates * message_bytes[queue], size) / MB
        room_pairs = [
            RoomPair(
                client_room=self.names[pair // len(self.names)],
                broker_room=self.names[pair % len(self.names)],
                queues=int(queues[pair]),
                msgs_per_s=rounded(_known(float(msgs[pair]))),
                mb_per_s=rounded(_known(float(mb[pair]))),
            )
            for pair in np.flatnonzero(queues).tolist()
        ]
        return sorted(
            room_pairs,
            key=lambda one: (
                -(one.mb_per_s or 0.0),
                -(one.msgs_per_s or 0.0),
                -one.queues,
                one.client_room,
                one.broker_room,
            ),
        )

    def matrix(self, owners: Owners) -> list[RoomQueues]:
        """How many queues the clients of each room read from each room; an unknown room is null."""
        names = (None, *self.names)  # by number, from UNKNOWN_ROOM on
        client, queue = self.of_client[owners.client] - UNKNOWN_ROOM, self.of_queue[owners.queue] - UNKNOWN_ROOM
        number = np.bincount(client * len(names) + queue)
        return [
            RoomQueues(
                client_room=names[pair // len(names)],
                broker_room=names[pair % len(names)],
                queues=int(number[pair]),
            )
            for pair in np.flatnonzero(number).tolist()
        ]


def _known(figure: float) -> float | None:
    return None if np.isnan(figure) else figure
