"""Rules on machine rooms: CROSS_ROOM, ROOM_STARVATION."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, ClassVar, Final

import numpy as np
from msgspec import Struct

from rocketmq_capacity.assessment.balance import skew_severity
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.loads import GroupLoad
from rocketmq_capacity.assessment.memory import average_bytes
from rocketmq_capacity.assessment.skew import Numbers
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import UNEVEN, Rule
from rocketmq_capacity.model.division import Flags, Integers
from rocketmq_capacity.model.owners import Owners
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import INFO, MACHINE_ROOM_NEARBY, knows_rooms
from rocketmq_capacity.wording import LISTED, counted, fixed, listed, percent, rounded


class StarvedRoom(Struct, frozen=True, kw_only=True):
    """A room whose clients get next to nothing."""

    room: Annotated[str, means("the room")]
    clients: Annotated[int, means("of the group there", "client")]
    queues: Annotated[int, means("that they own together", "queue")]


class Starvation(Evidence, frozen=True, kw_only=True):
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
    evidence=Starvation,
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


class CrossRoom(Evidence, frozen=True, kw_only=True):
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


def _advice(_: Finding, evidence: CrossRoom) -> str:
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
    evidence=CrossRoom,
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


def cross_room(group: AssessedGroup) -> Iterator[Finding]:
    """CROSS_ROOM: clients read more than a share of the group's queues from other machine rooms.

    Only if the policy asks for it (``report_cross_room``), and for information. Queues and clients of an unknown room
    do not count. The share is compared with strategies that leave no queue unread. Only those that know rooms count as
    better, if all rooms are known: under others the share is a coincidence of names, which the next client changes.
    """
    load = group.today_load
    if not group.policy.report_cross_room or group.policy.rooms is None:
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
        evidence=CrossRoom(
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
    return f"{pair.client_room} from {pair.broker_room} ({much})"


def _known(figure: float) -> float | None:
    return None if np.isnan(figure) else figure


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
        evidence=Starvation(
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
