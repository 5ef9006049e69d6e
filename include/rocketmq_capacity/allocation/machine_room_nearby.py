"""MACHINE_ROOM_NEARBY-<inner>: queues go to consumers of their room; all consumers share rooms without consumers."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from rocketmq_capacity import vocabulary
from rocketmq_capacity.allocation import avg, avg_by_circle
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.owners import Shares
from rocketmq_capacity.model.ragged import lengths
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
    queues = division.queues
    rooms, room = queues.rooms
    if None not in rooms:
        return {}
    lost = np.flatnonzero(room == rooms.index(None))
    topics, first = np.unique(queues.topic_of_place[lost], return_index=True)
    brokers = [queues.facts[index].broker_name for index in queues.facts_of_place[lost[first]].tolist()]
    return {
        topic: f"Machine room is null for broker {name}" for topic, name in zip(topics.tolist(), brokers, strict=True)
    }


def shares(inner: OwnerIndex, division: Division, _: Policy) -> Shares:
    """The share of each consumer.

    Source: AllocateMachineRoomNearby.java, rocketmq-all-5.3.3.
    """
    queues = division.queues
    rank, in_room = queues.in_topic_and_room
    consumers, begin, number = _consumers_of_places(division)
    return Shares.of_owners(consumers[begin[queues.place] + inner(rank, in_room, number[queues.place])])


def _consumers_of_places(division: Division) -> tuple[Integers, Integers, Integers]:
    """The consumers that divide the queues of each place: those of its room, or all if the room has none.

    Shape: three arrays: the places of consumers, first by part and room, then once more as they are; for each place of
    queues the index of its first consumer in these; and for each place of queues the number of its consumers.
    """
    rooms, room = division.queues.rooms
    elsewhere = len(rooms)  # the index of consumers without a room, or in one without brokers
    counts = division.consumers_of_part
    room_of_consumer = [one.room for part in division.parts for one in part.members.consumers]
    index = dict.fromkeys(room_of_consumer, elsewhere)
    index |= {name: number for number, name in enumerate(rooms) if name is not None}
    of_consumer = np.array([index[name] for name in room_of_consumer], np.int64)
    part_and_room = np.repeat(np.arange(len(counts)), counts) * (elsewhere + 1) + of_consumer
    in_room = np.bincount(part_and_room, minlength=len(counts) * (elsewhere + 1))
    part_of_place = np.repeat(np.arange(len(counts)), lengths([part.queues.facts_of_place for part in division.parts]))
    at = part_of_place * (elsewhere + 1) + room
    has_own = in_room[at] > 0
    everybody = len(of_consumer) + (np.cumsum(counts) - counts)[part_of_place]
    return (
        np.append(np.argsort(part_and_room, kind="stable"), np.arange(len(of_consumer))),
        np.where(has_own, (np.cumsum(in_room) - in_room)[at], everybody),
        np.where(has_own, in_room[at], counts[part_of_place]),
    )
