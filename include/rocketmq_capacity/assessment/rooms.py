"""Rules on machine rooms: CROSS_ROOM, ROOM_STARVATION."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Final

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.balance import skew_severity
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.group_rooms import UNKNOWN_ROOM, GroupRooms, RoomPair, RoomQueues
from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.memory import average_bytes
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import UNEVEN, Rule
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import INFO, MACHINE_ROOM_NEARBY, knows_rooms
from rocketmq_capacity.wording import LISTED, counted, fixed, listed, percent, rounded


class StarvedRoom(Struct, frozen=True, kw_only=True):
    """A room whose clients get next to nothing."""

    room: Annotated[str, means("the room")]
    clients: Annotated[int, means("of the group there", "client")]
    queues: Annotated[int, means("that they own together", "queue")]


class StarvationEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of ROOM_STARVATION."""

    current_strategy: Annotated[str, means("how the group divides its queues")]
    clients: Annotated[int, means("that get next to nothing", "client")]
    queues: Annotated[int, means("of the group", "queue")]
    mean_queues: Annotated[float, means("of a client of the group", "queue")]
    rooms: Annotated[Sequence[StarvedRoom], means("rooms whose clients get next to nothing")]
    rooms_without_queues: Annotated[Sequence[str], means("rooms with clients of the group and none of its queues")]


ROOM_STARVATION: Final = Rule(
    name="ROOM_STARVATION",
    title="A machine room that gets nothing to read",
    meaning="Queues are divided by machine room, and consumers of this room get none, or almost none.",
    place=270,
    goal="SAME_ROOM",
    evidence=StarvationEvidence,
    advice=("Add queues in the machine room of these clients (on a broker there), or remove the clients: {subjects}."),
    needs=("clients", "owners"),
    severities=UNEVEN,
    thresholds=("LOW_UTILISATION.busy_ratio",),
    details="""
    Queues are divided by machine room (MACHINE_ROOM, MACHINE_ROOM_NEARBY), and the clients of a room get at most
    `share` of what clients get on average. Give the room queues of its own, or take its clients away. It warns
    where [a skew would](#allocation_skew).
    """,
)


class RoomShare(Struct, frozen=True, kw_only=True):
    """How much crosses rooms under a strategy."""

    strategy: Annotated[str, means("a strategy that leaves no queue unread")]
    cross_room_share: Annotated[float, means("share of the queues that would be read from another room")]


class Nearby(Struct, frozen=True, kw_only=True):
    """The change that MACHINE_ROOM_NEARBY would make."""

    strategy: Annotated[str, means("its name with the strategy inside each room")]
    cross_room_share: Annotated[float, means("share of the queues that would be read from another room")]
    idle: Annotated[int, means("that would own no queue", "client")]
    excess: Annotated[float | None, means("EXCESS of the numbers of queues", "")]
    starving_rooms: Annotated[Sequence[str], means("rooms whose clients would get next to nothing")]


class CrossRoomEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of CROSS_ROOM."""

    adds_to: ClassVar = {"cross_room_mb_per_s": "cross_room_mb_per_s"}

    queues: Annotated[int, means("of the group", "queue")]
    cross_room_share: Annotated[float, means("share of the queues with known rooms that cross")]
    cross_room_msgs_per_s: Annotated[float | None, means("messages that cross")]
    cross_room_mb_per_s: Annotated[float | None, means("their size")]
    pairs: Annotated[Sequence[RoomPair], means("pairs of rooms between which messages cross, the most bytes first")]
    unknown_room_queues: Annotated[int, means("whose room is unknown", "queue")]
    unknown_room_clients: Annotated[int, means("whose room is unknown", "client")]
    matrix: Annotated[Sequence[RoomQueues], means("who reads where")]
    rooms_without_clients: Annotated[Sequence[str], means("rooms with queues of the group and none of its clients")]
    rooms_without_queues: Annotated[Sequence[str], means("rooms with clients of the group and none of its queues")]
    strategies: Annotated[Sequence[RoomShare], means("what strategies would change")]
    nearby: Annotated[Nearby | None, means("what MACHINE_ROOM_NEARBY would change")]


def _advice(_: Finding, evidence: CrossRoomEvidence) -> str:
    """What to do where no strategy that knows rooms answers."""
    if evidence.unknown_room_queues or evidence.unknown_room_clients:
        return (
            "Add the rooms of all brokers and clients of this group to the policy (rooms). Strategies that know rooms"
            " are compared only then."
        )
    where = "that have queues and no client" if evidence.rooms_without_clients else "whose queues others read"
    return (
        f"Run clients in the machine rooms {where}, or accept that messages cross: no strategy of the policy that knows"
        " rooms (MACHINE_ROOM, MACHINE_ROOM_NEARBY) crosses less without leaving queues unread or making something"
        " else worse."
    )


CROSS_ROOM: Final = Rule(
    name="CROSS_ROOM",
    title="Queues read from another machine room",
    meaning="Their messages cross the link between the rooms, which is slower and may cost money.",
    place=280,
    goal="SAME_ROOM",
    evidence=CrossRoomEvidence,
    advice=_advice,
    needs=("clients", "owners"),
    severities={
        "INFO": "it costs money, or may",
    },
    thresholds=("CHANGE_STRATEGY.min_improvement",),
    details="""
    Clients of one machine room read more than `share` of the group's queues from another room. Only if the policy
    says `report_cross_room: true` and has [`rooms`](how-to/tell-machine-rooms.md): most clusters read across rooms
    on purpose. *What to do* has one line for each pair of rooms, the most MB a second first.

    The share is that of the queues whose broker and reader have known rooms; others do not count. A queue with
    several readers counts by the part of them that is in another room.

    - `pairs` has what the clients of each room read from each other room, in queues, messages and MB a second (by
      the average size of the broker's messages).
    - `matrix` has the queues by the room of the client and the room of the broker.
    - `strategies` has the share under each strategy that leaves no queue unread.
    - `nearby` has what MACHINE_ROOM_NEARBY would change.

    If a strategy that knows rooms (MACHINE_ROOM, MACHINE_ROOM_NEARBY) crosses less, CHANGE_STRATEGY has the share
    before and after. The others do not count as an answer: under them the share is a coincidence of names, which
    the next client changes. Nothing is compared while the room of a queue or client of the group is unknown. Other
    rooms must read the queues of a room without clients (`rooms_without_clients`).
    """,
)


def cross_room(group: AssessedGroup) -> Iterator[Finding]:
    """CROSS_ROOM: clients read more than a share of the group's queues from other machine rooms.

    Only if the policy asks for it (``report_cross_room``), and for information. Queues and clients of an unknown room
    do not count. The share is compared with strategies that leave no queue unread. Only those that know rooms count as
    better, if all rooms are known: under others the share is a coincidence of names, which the next client changes.
    """
    load = group.today_load
    if not group.policy.asks_rooms:
        return
    if load is None or group.is_settling or not len(group.weights.queue):
        return
    rooms = GroupRooms.of(group)
    today, bound = rooms.cross_share(load.owners), group.policy.thresholds.CROSS_ROOM.share
    if today is None or (rounded(today, 9) or 0) <= bound:
        return
    shares = {
        name: share
        for name, each in group.loads.items()
        if each.is_whole and not len(each.orphans) and (share := rooms.cross_share(each.owners)) is not None
    }
    step = 1 - group.policy.thresholds.CHANGE_STRATEGY.min_improvement
    unknown_queues = int((rooms.of_queue[rooms.business] == UNKNOWN_ROOM).sum())
    unknown_clients = int((rooms.of_client == UNKNOWN_ROOM).sum())
    better = {
        name: share
        for name, share in shares.items()
        if knows_rooms(name) and not unknown_queues and not unknown_clients and share <= today * step
    }
    foreign = np.unique(load.owners.queue[rooms.crosses(load.owners)]).tolist()
    names = group.division.queues.names
    size = len(group.weights.queue)
    pairs = rooms.pairs(load.owners, average_bytes(group.division, group.cluster))
    known = [one.mb_per_s for one in pairs if one.mb_per_s is not None]
    yield finding(
        CROSS_ROOM,
        INFO,
        consumer_group=group.name,
        queues=sorted(names[queue] for queue in foreign),
        evidence=CrossRoomEvidence(
            queues=size,
            cross_room_share=rounded(today),
            cross_room_msgs_per_s=rounded(rooms.cross_msgs_per_s(load.owners)),
            cross_room_mb_per_s=rounded(sum(known)) if len(known) == len(pairs) else None,
            pairs=pairs,
            unknown_room_queues=unknown_queues,
            unknown_room_clients=unknown_clients,
            matrix=rooms.matrix(load.owners),
            rooms_without_clients=rooms.without_clients,
            rooms_without_queues=rooms.without_queues,
            strategies=[
                RoomShare(strategy=name, cross_room_share=rounded(share)) for name, share in sorted(shares.items())
            ],
            nearby=_nearby(group, rooms, shares),
        ),
        message=f"{percent(today)} of the queues whose rooms are known are read from another machine room: "
        + "; ".join(map(_crossing, pairs[:LISTED]))
        + (f". Under {_best(better)} it would be {percent(min(better.values()))}." if better else "."),
    )


def _crossing(pair: RoomPair) -> str:
    much = counted(pair.queues, "queue")
    if pair.mb_per_s is not None:
        much += f", {fixed(pair.mb_per_s, 2)} MB a second"
    elif pair.msgs_per_s is not None:
        much += f", {fixed(pair.msgs_per_s, 1)} messages a second"
    return f"{pair.client_room} reads from {pair.broker_room} ({much})"


def _best(shares: Mapping[str, float]) -> str:
    return min(shares, key=lambda name: (shares[name], name))


def _nearby(group: AssessedGroup, rooms: GroupRooms, shares: Mapping[str, float]) -> Nearby | None:
    """The change that MACHINE_ROOM_NEARBY would make; None if the policy names none that applies to all topics."""
    for name, share in shares.items():
        if name.startswith(f"{MACHINE_ROOM_NEARBY}-"):
            load = group.loads[name]
            return Nearby(
                strategy=name,
                cross_room_share=rounded(share),
                idle=len(load.idle),
                excess=None if load.count is None else rounded(load.count["excess"]),
                starving_rooms=sorted(_starving(group, rooms, load)),
            )
    return None


def room_starvation(group: AssessedGroup) -> Iterator[Finding]:
    """ROOM_STARVATION: queues are divided by room, and the clients of a room get none or almost none.

    It warns where the clients that get them have little time left at the peak, as a skew does; else it is INFO.
    """
    load = group.whole_load
    if group.policy.rooms is None or load is None or group.current is None or group.is_settling:
        return
    current = group.policy.computed(group.current.strategy)
    if not knows_rooms(current) or not len(group.weights.queue):
        return
    rooms = GroupRooms.of(group)
    starving = _starving(group, rooms, load)
    if not starving:
        return
    numbers = [rooms.names.index(room) for room in starving]
    ids = [group.client_ids[client] for client in np.flatnonzero(np.isin(rooms.of_client, numbers)).tolist()]
    yield finding(
        ROOM_STARVATION,
        skew_severity(group),
        consumer_group=group.name,
        subjects=ids,
        evidence=StarvationEvidence(
            current_strategy=group.current.strategy,
            clients=len(ids),
            queues=len(group.weights.queue),
            mean_queues=rounded(float(load.queues.mean())),
            rooms=[starving[room] for room in sorted(starving)],
            rooms_without_queues=rooms.without_queues,
        ),
        message=f"{group.current.strategy} leaves next to nothing to the clients of {listed(sorted(starving))}: "
        + "; ".join(
            f"{counted(one.queues, 'queue')} for {counted(one.clients, 'client')}"
            for one in (starving[room] for room in sorted(starving))
        )
        + ".",
    )


def _starving(group: AssessedGroup, rooms: GroupRooms, load: GroupLoad) -> dict[str, StarvedRoom]:
    """The rooms whose clients own less than the policy's share of the mean, by name."""
    mean = float(load.queues.mean())
    least = group.policy.thresholds.ROOM_STARVATION.share * mean
    starving: dict[str, StarvedRoom] = {}
    if not mean:
        return starving  # nobody owns anything, in no room
    for number, room in enumerate(rooms.names):
        queues = load.queues[rooms.of_client == number]
        if len(queues) and not queues.mean() > least:
            starving[room] = StarvedRoom(room=room, clients=len(queues), queues=int(queues.sum()))
    return starving


GROUP_RULES: Final[tuple[GroupRule, ...]] = (cross_room, room_starvation)
