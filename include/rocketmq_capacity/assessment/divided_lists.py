"""Which queues two clients read, or none, if name servers give different lists of queues.

Each client divides the list of its own name server, and takes its share of that. Nobody observes which name server a
client asks. What the client reports to own may tell; otherwise every name server is possible.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

from msgspec.structs import replace

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.model.division import Division
from rocketmq_capacity.model.facts import GroupFacts, Reads
from rocketmq_capacity.tables import NameserverDifference
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.tables.snapshot.topics import Place
from rocketmq_capacity.vocabulary import ABSENT, READ_WRITE, java_order

Certainty = Literal["YES", "MAYBE", "NO"]
Readable = Mapping[tuple[str, str], int]
"""By topic and broker, the number of queues that consumers see."""
Takers = Mapping[Queue, frozenset[str]]
"""By queue, the client ids that take it."""

PROXIED: Final = "a Proxy assigns the queues of its gRPC clients"
NOT_COMPUTED: Final = "the strategy of its clients throws, or cannot be computed"


@dataclass(frozen=True, slots=True)
class ServerList:
    """A list of queues that clients may have, and the name servers that give it.

    Attributes:
        nameservers: their addresses; empty if the inventory has the list, and it is unknown which name server gives it.
        readable: the queues where the name servers differ; all other queues are as the inventory has them.
    """

    nameservers: tuple[str, ...]
    readable: Readable


@dataclass(frozen=True, slots=True)
class ReadersOfTopics:
    """The groups that read topics on which name servers differ.

    Attributes:
        groups: the first of them, by name.
        left_out: how many more there are.
    """

    groups: Sequence[AssessedGroup] = ()
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class DividedQueue:
    """A queue that does not have exactly one reader for certain.

    Attributes:
        queue: the queue.
        unread: whether nobody reads it.
        twice: whether several clients read it.
        takers: for each list, its name servers and the clients that take the queue if they have this list.
    """

    queue: Queue
    unread: Certainty
    twice: Certainty
    takers: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]


@dataclass(frozen=True, slots=True)
class DividedGroup:
    """What the different lists mean for a group.

    Attributes:
        consumer_group: its name.
        clients: its different client ids.
        placed: of these, the clients whose queues tell which list they have.
        queues: the queues that do not have exactly one reader for certain, in Java's order.
        undecided: why nothing is computed; None if it is computed.
    """

    consumer_group: str
    clients: int
    placed: int
    queues: tuple[DividedQueue, ...] = ()
    undecided: str | None = None

    def unread(self, *how: Certainty) -> int:
        """The number of queues that nobody reads, with this certainty."""
        return sum(one.unread in how for one in self.queues)

    def twice(self, *how: Certainty) -> int:
        """The number of queues that several clients read, with this certainty."""
        return sum(one.twice in how for one in self.queues)


def differing_topics(differences: Iterable[NameserverDifference]) -> set[str]:
    """The topics of which consumers see other queues, depending on the name server."""
    return {row.topic for row in differences if row.topic is not None and row.readable != row.readable_elsewhere}


def server_lists(differences: Sequence[NameserverDifference], nameservers: Iterable[str]) -> list[ServerList]:
    """The different lists of queues that name servers give, that of the inventory first if one of them gives it.

    Args:
        differences: how name servers differ from the inventory.
        nameservers: all name servers; those without a difference give the list of the inventory.
    """
    topics = differing_topics(differences)
    rows = [row for row in differences if row.topic in topics]
    base = {(row.topic or "", row.broker_name): row.readable_elsewhere for row in rows}
    lists: dict[tuple[tuple[tuple[str, str], int], ...], list[str]] = {}
    others = sorted(set(nameservers) - {row.nameserver_addr for row in rows})
    if others or not set(nameservers):
        lists[tuple(sorted(base.items()))] = others
    for address in sorted({row.nameserver_addr for row in rows}):
        of_server = {(row.topic or "", row.broker_name): row.readable for row in rows if row.nameserver_addr == address}
        lists.setdefault(tuple(sorted((base | of_server).items())), []).append(address)
    return [ServerList(tuple(addresses), dict(readable)) for readable, addresses in lists.items()]


def divided(group: AssessedGroup, lists: Sequence[ServerList]) -> DividedGroup | None:
    """What the lists mean for a group; None for one that does not read these topics, or does not divide its queues.

    Topics that clients pop are left out: brokers divide them.
    """
    topics = {topic for one in lists for topic, _ in one.readable}
    reads = [one for one in group.business if one.topic.topic in topics and not group.facts.pops(one)]
    clients = len(group.client_ids)
    if not group.is_clustering or not reads or not clients:
        return None
    if group.facts.has_grpc_clients:
        return DividedGroup(group.name, clients, 0, undecided=PROXIED)
    variants = [one for each in lists for one in _held(each, reads)]
    takers = [_takers(group, reads, one) for one in variants]
    known = [one for one in takers if one is not None]
    if len(known) < len(takers):
        return DividedGroup(group.name, clients, 0, undecided=NOT_COMPUTED)
    possible = {one: _possible(group, one, {own.topic.topic for own in reads}, known) for one in group.client_ids}
    queues = sorted({queue for one in known for queue in one}, key=_in_java_order)
    divided_queues = [_queue(queue, variants, known, possible) for queue in queues]
    placed = sum(len(lists_of) == 1 for lists_of in possible.values())
    return DividedGroup(group.name, clients, placed, tuple(one for one in divided_queues if one is not None))


def _held(server_list: ServerList, reads: Sequence[Reads]) -> list[ServerList]:
    """The lists that clients of these name servers may have.

    If a name server has no route of a topic, a client keeps the list that it had, taken to be that of the inventory. A
    client that has started since has none.
    Source: MQClientInstance.updateTopicRouteInfoFromNameServer, rocketmq-all-5.3.3.
    """
    empty = {each.topic.topic for each in reads if not sum(_counts(each, server_list).values())}
    kept = {place: readable for place, readable in server_list.readable.items() if place[0] not in empty}
    return [server_list, ServerList(server_list.nameservers, kept)] if empty else [server_list]


def _counts(reads: Reads, server_list: ServerList) -> dict[str, int]:
    """By broker, the readable queues of a topic in a list."""
    topic = reads.topic
    of_list = {broker: readable for (name, broker), readable in server_list.readable.items() if name == topic.topic}
    return {place.broker_name: place.readable for place in topic.places} | of_list


def _takers(group: AssessedGroup, reads: Sequence[Reads], server_list: ServerList) -> Takers | None:
    """Who takes which queue of a list if all clients have it; None if that cannot be computed."""
    facts: GroupFacts = replace(group.facts, reads=tuple(_with_list(each, server_list) for each in reads))
    division = Division.of(facts)
    names, ids = division.queues.names, division.members.client_ids
    takers: dict[Queue, set[str]] = {queue: set() for queue in names}
    if not names:
        return {}
    for strategy in set(group.runs):
        if not group.applies(strategy):
            return None
        owners = group.allocator.owners(strategy, division)
        if owners.unknown:
            return None
        for queue, client in zip(owners.queue.tolist(), owners.client.tolist(), strict=True):
            if group.runs[client] == strategy:
                takers[names[queue]].add(ids[client])
    return {queue: frozenset(own) for queue, own in takers.items()}


def _with_list(reads: Reads, server_list: ServerList) -> Reads:
    """The topic with the queues of a list."""
    known = {place.broker_name: place for place in reads.topic.places}
    places = tuple(
        replace(
            known.get(broker) or Place(broker_name=broker, broker_state=ABSENT, has_answered=False),
            read_queue_nums=readable,
            perm=READ_WRITE,
        )
        for broker, readable in _counts(reads, server_list).items()
    )
    return replace(reads, topic=replace(reads.topic, places=places))


def _possible(group: AssessedGroup, client_id: str, topics: set[str], takers: Sequence[Takers]) -> frozenset[int]:
    """The lists that a client may have: those that give it what it reports to own, or all if none does."""
    every = frozenset(range(len(takers)))
    if not all(one.has_owned_queues for one in group.division.members.consumers if one.client_id == client_id):
        return every
    owned = {
        one.queue for one in group.facts.owned if one.client_id == client_id and one.topic in topics and not one.dropped
    }
    fits = (i for i, each in enumerate(takers) if owned == {queue for queue, ids in each.items() if client_id in ids})
    return frozenset(fits) or every


def _queue(
    queue: Queue, lists: Sequence[ServerList], takers: Sequence[Takers], possible: Mapping[str, frozenset[int]]
) -> DividedQueue | None:
    """Who reads a queue; None if exactly one client does for certain, or if the list makes no difference."""
    if len({each.get(queue) for each in takers}) == 1:
        return None
    may_read, reads = 0, 0
    for client_id, held in possible.items():
        takes = [client_id in takers[one].get(queue, ()) for one in held]
        may_read += any(takes)
        reads += all(takes)
    if may_read == reads == 1:
        return None
    by_server: dict[tuple[str, ...], set[str]] = {}
    for server_list, of_list in zip(lists, takers, strict=True):
        by_server.setdefault(server_list.nameservers, set()).update(of_list.get(queue, ()))
    return DividedQueue(
        queue,
        unread=_certainty(is_certain=not may_read, is_possible=not reads),
        twice=_certainty(is_certain=reads > 1, is_possible=may_read > 1),
        takers=tuple((names, tuple(sorted(ids, key=java_order))) for names, ids in by_server.items()),
    )


def _certainty(*, is_certain: bool, is_possible: bool) -> Certainty:
    if is_certain:
        return "YES"
    return "MAYBE" if is_possible else "NO"


def _in_java_order(queue: Queue) -> tuple[bytes, bytes, int]:
    return java_order(queue.topic), java_order(queue.broker_name), queue.queue_id
