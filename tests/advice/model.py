"""A fleet before it is written down: brokers, topics and groups that faults may change."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from tests.advice import strategies
from tests.advice.shape import Queue

NEARBY = "MACHINE_ROOM_NEARBY"


@dataclass(slots=True)
class Broker:
    """A master, with a slave where ``has_slave``; ``weight`` times the queues and the disk of a usual one.

    Its disk is as full as ``disk_ratio`` now, and was by ``disk_growth`` less full a day before, and so on. It
    deletes messages after ``keeps_h`` hours.
    """

    name: str
    room: str
    number: int
    weight: int = 1
    has_slave: bool = False
    disk_ratio: float = 0.4
    disk_growth: float = 0.0
    keeps_h: int = 72
    perm: int = 6


@dataclass(slots=True)
class Place:
    """A topic's queues on a broker."""

    read: int
    write: int
    perm: int = 6


@dataclass(slots=True)
class Topic:
    """A topic; ``rates`` are messages a second of each of its queues at usual traffic.

    A day before it was less by the share ``growth`` of today's, and so on.
    """

    name: str
    message_type: str
    places: dict[str, Place]
    rates: dict[Queue, float]
    growth: float = 0.0

    @property
    def readable(self) -> list[Queue]:
        """Its queues as clients sort them."""
        return [
            Queue(self.name, broker, queue_id)
            for broker, place in sorted(self.places.items())
            if place.perm & 4
            for queue_id in range(place.read)
        ]

    @property
    def rate(self) -> float:
        return sum(self.rates.values())


@dataclass(slots=True)
class Client:
    """A running consumer. Unless ``expression`` is None, it filters by another expression than its group.

    One that ``crashes`` was started anew before each snapshot.
    """

    client_id: str
    addr: str
    room: str
    version: str
    threads: int = 20
    rt_ms: float = 10.0
    failed_ratio: float = 0.0
    strategy: str | None = None
    expression: str | None = None
    topics: list[str] | None = None
    unseen_by: frozenset[str] = frozenset()
    crashes: bool = False


@dataclass(slots=True)
class Lag:
    """A queue's lag: messages now, messages more in each sample, and whether the group's place stands still."""

    now: int
    growth: int = 0
    stands: bool = False
    behind_s: float | None = None


@dataclass(slots=True)
class Group:
    """A consumer group; ``kind`` says what is special about it, and ``passes`` what its filter lets through."""

    name: str
    kind: str
    topics: list[str]
    strategy: str = "AVG"
    clients: list[Client] = field(default_factory=list)
    orderly: bool = False
    expression: str = "*"
    passes: float = 1.0
    pop_share: int = -1
    protocol: str = "REMOTING"
    lags: dict[Queue, Lag] = field(default_factory=dict)
    config: dict[str, list[Queue]] | None = None
    stale_offsets: bool = False

    @property
    def is_broadcasting(self) -> bool:
        return self.kind == "broadcasting"

    @property
    def is_popping(self) -> bool:
        return self.kind == "pop"

    @property
    def retry_topic(self) -> str:
        return f"%RETRY%{self.name}"


@dataclass(slots=True)
class Model:
    """A whole fleet, by names."""

    brokers: dict[str, Broker]
    topics: dict[str, Topic]
    groups: dict[str, Group]

    def readers(self, topic: str) -> list[Group]:
        return [group for group in self.groups.values() if topic in group.topics]

    def single_reader(self, group: Group) -> bool:
        """Whether nobody else reads the group's topics, so that they may change for it alone."""
        return all(self.readers(topic) == [group] for topic in group.topics)

    def brokers_of(self, group: Group) -> list[str]:
        return sorted({broker for topic in group.topics for broker in self.topics[topic].places})

    def owned(self, group: Group, queues: Sequence[Queue]) -> Iterator[tuple[Client, list[Queue]]]:
        """Each client with those of a topic's queues that it owns by its strategy."""
        if group.config is not None:
            for one in group.clients:
                yield one, [queue for queue in group.config[one.client_id] if queue in set(queues)]
            return
        if group.is_broadcasting or group.is_popping:
            yield from ((one, list(queues)) for one in group.clients)
            return
        ids = sorted(one.client_id for one in group.clients)
        rooms = {one.client_id: one.room for one in group.clients} | {b.name: b.room for b in self.brokers.values()}
        for one in group.clients:
            strategy = one.strategy or group.strategy
            shares = strategies.nearby(queues, ids, rooms) if strategy == NEARBY else _of_first(strategy, queues, ids)
            topic = queues[0].topic if queues else ""
            reads = one.topics is None or topic in one.topics
            yield one, shares[one.client_id] if reads else []

    def incoming(self, group: Group, without: str | None = None) -> dict[str, float]:
        """Messages a second for each client id; ``without`` a broker, whose messages the topic's others get."""
        rates = dict.fromkeys((one.client_id for one in group.clients), 0.0)
        for name in group.topics:
            topic = self.topics[name]
            left = [queue for queue in topic.readable if queue.broker_name != without]
            lost = sum(rate for queue, rate in topic.rates.items() if queue.broker_name == without)
            for one, share in self.owned(group, left):
                readers = len(group.clients) if group.is_popping else 1
                each = sum(topic.rates.get(queue, 0.0) + lost / max(len(left), 1) for queue in share)
                rates[one.client_id] += each * group.passes / readers
        return rates


def _of_first(strategy: str, queues: Sequence[Queue], ids: Sequence[str]) -> strategies.Owners:
    """The shares. Consumers of one id all take that of the first: a list finds only the first of equal entries."""
    apart = [one if one not in ids[:place] else f"{one} {place}" for place, one in enumerate(ids)]
    return strategies.STRATEGIES[strategy](queues, apart)
