"""What RocketMQ's own classes give for a whole fleet: the answer that the Spark plan has to equal, row for row."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Client, InventoryGroup, InventoryTopic
from tests.allocation.fleets import BROKER_ROOMS, ROOM_OF_NETWORK, Fleet
from tests.oracle.java_oracle import Allocation, Case, JavaOracle, Queue, Refusal

READ: Final = 4


class Row(NamedTuple):
    """A row of the dataset ``allocation``."""

    strategy: str
    consumer_group: str
    topic: str
    broker_name: str
    queue_id: int
    client_id: str


@dataclass(frozen=True, slots=True)
class Expected:
    """The rows, as often as each stands; and of each (group, strategy) that was asked its topics, by their answers.

    Attributes:
        allocated: topics that the official class allocates.
        thrown: topics for which it throws.
    """

    rows: Counter[Row]
    allocated: dict[tuple[str, str], set[str]]
    thrown: dict[tuple[str, str], set[str]]
    asked: int

    @property
    def refused(self) -> set[tuple[str, str]]:
        """Where the official class throws for every topic."""
        return self.thrown.keys() - self.allocated.keys()


class _Asked(NamedTuple):
    group: InventoryGroup
    strategy: str
    case: Case


def official_allocation(fleet: Fleet, oracle: JavaOracle) -> Expected:
    """Ask the official classes for every clustering group, planned topic and strategy; broadcasting needs no class.

    RocketMQ asks a class topic by topic, and goes on where it throws (RebalanceImpl.rebalanceByTopic). One decision of
    the contract is taken here and not by the classes: a strategy that is not set up (POP of orderly consumers, CONFIG
    without lists, MACHINE_ROOM without rooms) is refused whatever the brokers are called.
    """
    asked = list(_asked(fleet))
    rows = Counter[Row]()
    allocated, thrown = defaultdict[tuple[str, str], set[str]](set), defaultdict[tuple[str, str], set[str]](set)
    for of, answer in zip(asked, oracle.allocate([of.case for of in asked]), strict=True):
        clients = len(answer.client_ids)
        assert len(answer.refusals()) in {0, clients}, "a class throws at each client of a topic, or at none"
        (thrown if answer.refusals() else allocated)[of.group.consumer_group, of.strategy].add(of.case.topic)
        rows.update(_rows(of, answer))
    for group, topic in _planned(fleet):
        if group.message_model == "BROADCASTING":
            rows.update(_broadcast(group, topic))
    return Expected(rows, allocated, thrown, len(asked))


def never_asked(fleet: Fleet) -> set[tuple[str, str]]:
    """(group, strategy) that RocketMQ cannot get to: no clients, no readable queue, or what its set-up rules out."""
    never = set[tuple[str, str]]()
    with_queues = {group.consumer_group for group, _ in _planned(fleet)}
    for group in _planned_groups(fleet):
        if group.message_model == "BROADCASTING":
            continue
        is_idle = not group.clients or group.consumer_group not in with_queues
        for strategy in fleet.policy.strategies:
            if is_idle or not _is_set_up(group, strategy, fleet.policy):
                never.add((group.consumer_group, strategy))
    return never


def _asked(fleet: Fleet) -> Iterable[_Asked]:
    for group, topic in _planned(fleet):
        if group.message_model == "BROADCASTING" or not group.clients:
            continue
        for strategy in fleet.policy.strategies:
            if _is_set_up(group, strategy, fleet.policy):
                yield _Asked(group, strategy, _case(group, topic, strategy, fleet.policy))


def _is_set_up(group: InventoryGroup, strategy: str, policy: Policy) -> bool:
    if strategy == "POP":
        return not group.orderly
    if strategy == "MACHINE_ROOM":
        return policy.machine_rooms is not None
    return strategy != "CONFIG" or group.consumer_group in policy.config_assignments


def _planned_groups(fleet: Fleet) -> Iterable[InventoryGroup]:
    for group in fleet.inventory.consumer_groups:
        if not group.consumer_group.startswith(("CID_RMQ_SYS_", "bench_")):
            yield group


def _planned(fleet: Fleet) -> Iterable[tuple[InventoryGroup, InventoryTopic]]:
    """Every group with each of its topics that has a readable queue."""
    readable = {topic.topic: topic for topic in fleet.inventory.topics if _readable(topic)}
    for group in _planned_groups(fleet):
        names = {s.topic for s in group.subscriptions or ()}
        names |= {s.topic for client in group.clients or () for s in client.subscriptions or ()}
        for name in sorted(names & readable.keys()):
            if name != "TBW102" and not name.startswith(("rmq_sys_", "bench_")):
                yield group, readable[name]


def _readable(topic: InventoryTopic) -> list[tuple[str, int]]:
    return [
        (queues.broker_name, queue_id)
        for queues in topic.queues or ()
        if (queues.perm or 0) & READ
        for queue_id in range(queues.read_queue_nums or 0)
    ]


def _case(group: InventoryGroup, topic: InventoryTopic, strategy: str, policy: Policy) -> Case:
    clients = group.clients or ()
    # A retry topic is never popped: the broker gives it the mode PULL.
    asked = "AVG" if strategy == "POP" and topic.topic.startswith("%RETRY%") else strategy
    lists = policy.config_assignments.get(group.consumer_group, {})
    return Case(
        asked,
        _readable(topic),
        [client.client_id for client in clients],
        group.consumer_group,
        topic.topic,
        machine_rooms=policy.machine_rooms,
        virtual_nodes=policy.consistent_hash.virtual_nodes,
        broker_rooms=BROKER_ROOMS,
        client_rooms=_client_rooms(clients),
        config={client_id: [(q.topic, q.broker_name, q.queue_id) for q in lists[client_id]] for client_id in lists},
        pop_share_queue_num=_share(group, topic.topic),
    )


def _client_rooms(clients: Iterable[Client]) -> Mapping[str, str]:
    rooms: dict[str, str] = {}
    for client in clients:
        network = int((client.client_addr or "").split(".")[1])
        if network in ROOM_OF_NETWORK:
            rooms.setdefault(client.client_id, ROOM_OF_NETWORK[network])
    return rooms


def _share(group: InventoryGroup, topic: str) -> int:
    own = [s.pop_share_queue_num for s in group.subscriptions or () if s.topic == topic]
    return next((share for share in (*own, group.pop_share_queue_num) if share is not None), -1)


def _reads(client: Client, group: InventoryGroup, topic: str) -> bool:
    own = group.subscriptions if client.subscriptions is None else client.subscriptions
    return any(subscription.topic == topic for subscription in own or ())


def _rows(of: _Asked, answer: Allocation) -> Iterable[Row]:
    """Each consumer that subscribes the topic takes what its id was given; another takes nothing."""
    topic = of.case.topic
    given = dict(zip(answer.client_ids, answer.owned, strict=True))
    for client in of.group.clients or ():
        owned = given[client.client_id]
        if isinstance(owned, list) and _reads(client, of.group, topic):
            # CONFIG gives its list whatever the topic; a consumer takes the topic's queues of it.
            yield from (_row(of.strategy, of.group, q, client) for q in owned if q.topic == topic)


def _row(strategy: str, group: InventoryGroup, queue: Queue, client: Client) -> Row:
    return Row(strategy, group.consumer_group, queue.topic, queue.broker_name, queue.queue_id, client.client_id)


def _broadcast(group: InventoryGroup, topic: InventoryTopic) -> Iterable[Row]:
    for client in group.clients or ():
        if _reads(client, group, topic.topic):
            for broker_name, queue_id in _readable(topic):
                yield _row("BROADCASTING", group, Queue(topic.topic, broker_name, queue_id), client)


__all__ = ["Expected", "Refusal", "Row", "never_asked", "official_allocation"]
