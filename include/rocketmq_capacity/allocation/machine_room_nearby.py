"""MACHINE_ROOM_NEARBY-<inner>: queues go to consumers of their room; all consumers share rooms without consumers."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.allocation import avg, avg_by_circle
from rocketmq_capacity.contracts.division import Division, Integers, Shares
from rocketmq_capacity.settings.policy import Policy

OwnerIndex = Callable[[Integers, Integers, Integers], Integers]
INNER: Final[Mapping[str, OwnerIndex]] = {
    f"{vocabulary.MACHINE_ROOM_NEARBY}-{inner.NAME}": inner.owner_index for inner in (avg, avg_by_circle)
}
"""Name of the strategy, with its inner strategy -> the function that allocates inside a room."""


def refusal(division: Division, policy: Policy) -> str | None:
    """Why the strategy cannot run: the policy has no rooms, or a consumer has none (the first one is named)."""
    if policy.rooms is None:
        return "the policy has no rooms"
    stranger = next((one.client_id for one in division.members.consumers if one.room is None), None)
    return None if stranger is None else f"Machine room is null for consumer id {stranger}"


def throws(division: Division, _: Policy) -> Mapping[int, str]:
    """The topics with a queue on a broker without a room; the message names the topic's first such broker."""
    lost: dict[int, str] = {}
    for topic, place in division.queues.places:
        if place.room is None:
            lost.setdefault(topic, f"Machine room is null for broker {place.broker_name}")
    return lost


def shares(inner: OwnerIndex, division: Division, _: Policy) -> Shares:
    """The share of each consumer.

    Source: AllocateMachineRoomNearby.java, rocketmq-all-5.3.3.
    """
    queues, rooms = division.queues, _rooms(division)
    # A room without consumers gets all consumers.
    of_place = [rooms.get(place.room, rooms[None]) for _, place in queues.places]
    rank, in_room = queues.in_topic_and_room
    index = inner(rank, in_room, np.array([len(consumers) for consumers in of_place], np.int64)[queues.place])
    first = np.cumsum([0, *(len(consumers) for consumers in of_place)])[:-1]
    return Shares.of_owners(np.concatenate([*of_place, np.empty(0, np.int64)])[first[queues.place] + index])


def _rooms(division: Division) -> Mapping[str | None, Integers]:
    """By room, the places of its consumers, in order; under None, the places of all consumers."""
    places: dict[str | None, list[int]] = {}
    for place, consumer in enumerate(division.members.consumers):
        places.setdefault(consumer.room, []).append(place)
    places[None] = list(range(len(division.members)))
    return {room: np.array(of_room, np.int64) for room, of_room in places.items()}
