"""Random fleets of many small groups: a whole inventory with a policy, so that one plan checks hundreds of cases."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import Final

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import (
    FORMAT,
    Client,
    Inventory,
    InventoryBroker,
    InventoryGroup,
    InventorySubscription,
    InventoryTopic,
    TopicQueues,
)
from rocketmq_capacity.vocabulary import STRATEGIES, java_order

BEYOND: Final = "\U00010000"
"""Sorts before every U+E000 … U+FFFF by UTF-16 code units, and behind them by code points or UTF-8 bytes."""
WITHIN: Final = "\uffee"

BROKERS: Final = (
    *("broker-a", "broker-b", "broker-10", "broker-2", "hz@broker-a", "hz@broker-b", "sh@broker-c", "sh@broker-d@"),
    *("hz@", "@broker-e", "hz@broker-f@x", "@@hz", "hz@@", "bj@broker-g", f"{BEYOND}broker", f"{WITHIN}broker"),
)
BROKER_ROOMS: Final = {
    "broker-a": "hz",
    "broker-b": "sh",
    "broker-10": "hz",
    "broker-2": "sh",
    "hz@broker-a": "hz",
    "hz@broker-b": "hz",
    "sh@broker-c": "sh",
    "sh@broker-d@": "sh",
    "hz@": "nobody's",
    "@broker-e": "nobody's",
    "hz@broker-f@x": "hz",
    "@@hz": "alone",
    "hz@@": "alone",
    f"{BEYOND}broker": "sh",
    f"{WITHIN}broker": BEYOND,
}
"""The room ``alone`` has no client."""
ROOMLESS: Final = next(name for name in BROKERS if name not in BROKER_ROOMS)
ROOM_OF_NETWORK: Final = {1: "hz", 2: "sh", 3: "nobody's", 4: BEYOND, 5: "empty"}
"""Second number of a client's address -> its room; network 9 has none, and the room ``empty`` has no broker."""
UNREADABLE_PERMS: Final = (0, 1, 2, 3, None)
ODD_TOPICS: Final = ("TBW102", "rmq_sys_wheel_timer", "bench_load", "%DLQ%g0", "absent")
"""RocketMQ's own, the policy's excluded, one that is allocated like any other, one that the cluster does not know."""


@dataclass(frozen=True, slots=True)
class Fleet:
    """What is planned, and by which policy."""

    inventory: Inventory
    policy: Policy


def random_fleet(
    seed: int, groups: int, *, virtual_nodes: int = 10, machine_rooms: Sequence[str] | None = None
) -> Fleet:
    """A fleet in which every edge of every strategy occurs often; the same seed gives the same fleet."""
    seeded = Random(seed)
    topics = [_topic(seeded, name) for name in (*(f"topic-{i}" for i in range(groups // 2)), *ODD_TOPICS[:-1])]
    retries = [_topic(seeded, f"%RETRY%g{i}") for i in range(groups)]
    consumer_groups = tuple(_group(seeded, f"g{i}", [topic.topic for topic in topics]) for i in range(groups))
    odd_groups = tuple(_group(seeded, name, [topics[0].topic]) for name in ("CID_RMQ_SYS_TRANS", "bench_group"))
    inventory = Inventory(
        format=FORMAT,
        cluster_name="C1",
        taken_at="2026-11-20T02:00:00Z",
        # broker-b has slaves alone, broker-2 is absent; both are allocated like any other.
        brokers=tuple(
            InventoryBroker(broker_name=n, broker_id=int(n == "broker-b")) for n in BROKERS if n != "broker-2"
        ),
        topics=(*topics, *retries),
        consumer_groups=(*consumer_groups, *odd_groups),
    )
    return Fleet(inventory, _policy(seeded, inventory, virtual_nodes, machine_rooms))


def _topic(seeded: Random, name: str) -> InventoryTopic:
    names = [n for n in seeded.sample(BROKERS, seeded.choice((1, 1, 2, 3, 5, 8))) if n in BROKER_ROOMS] or ["broker-a"]
    if seeded.random() < 0.2:  # room strategies throw for this topic
        names.append(ROOMLESS)
    return InventoryTopic(topic=name, queues=tuple(_queues(seeded, broker) for broker in names))


def _queues(seeded: Random, broker_name: str) -> TopicQueues:
    is_readable = seeded.random() < 0.85
    return TopicQueues(
        broker_name=broker_name,
        read_queue_nums=seeded.choice((0, 1, 1, 2, 3, 4, 7, 8, 13, None)),
        write_queue_nums=seeded.choice((0, 1, 4, 16)),
        perm=seeded.choice((6, 6, 6, 4, 7, 5)) if is_readable else seeded.choice(UNREADABLE_PERMS),
    )


def _group(seeded: Random, name: str, topics: Sequence[str]) -> InventoryGroup:
    subscribed = dict.fromkeys([*seeded.sample(topics, min(len(topics), seeded.randint(0, 3))), f"%RETRY%{name}"])
    if seeded.random() < 0.3:
        subscribed[seeded.choice(ODD_TOPICS)] = None
    clients = _clients(seeded, list(subscribed))
    return InventoryGroup(
        consumer_group=name,
        message_model=seeded.choices(("CLUSTERING", None, "BROADCASTING"), (8, 1, 1))[0],
        orderly=seeded.choice((True, False, None, None)),
        message_request_mode=seeded.choice(("POP", "PULL", None)),
        pop_share_queue_num=_share(seeded, len(clients)),
        subscriptions=tuple(_subscription(seeded, topic, len(clients)) for topic in subscribed),
        clients=clients or seeded.choice(((), None)),
    )


def _subscription(seeded: Random, topic: str, clients: int) -> InventorySubscription:
    return InventorySubscription(
        topic=topic, expression_type="TAG", expression="*", pop_share_queue_num=_share(seeded, clients)
    )


def _share(seeded: Random, clients: int) -> int | None:
    return seeded.choice((None, None, -1, 0, 1, 1, 2, 3, clients - 3, clients - 2, clients - 2, clients - 1, 1000))


def _clients(seeded: Random, topics: list[str]) -> tuple[Client, ...]:
    count = seeded.choice((0, 1, 2, 2, 3, 3, 4, 5, 6, 7, 9, 12, 25))
    shapes = ("10.0.0.{}@1#1", "10.0.0.{}@1#1", f"{BEYOND}-{{}}", f"{WITHIN}-{{}}", "c{}")
    ids = {seeded.choice(shapes).format(number) for number in seeded.sample(range(1, 200), count)}
    listed = sorted(ids, key=java_order)
    if listed and seeded.random() < 0.4:
        for place in seeded.sample((0, len(listed) // 2, -1), seeded.choice((1, 1, 2))):
            listed += [listed[place]] * seeded.choice((1, 1, 2))
    seeded.shuffle(listed)
    lost = seeded.random() < 0.15
    return tuple(_client(seeded, client_id, topics, may_be_lost=lost) for client_id in listed)


def _client(seeded: Random, client_id: str, topics: list[str], *, may_be_lost: bool) -> Client:
    network = seeded.choice((*ROOM_OF_NETWORK, 1, 2, 9 if may_be_lost else 1))
    own = None
    if seeded.random() < 0.15:
        own = tuple(
            InventorySubscription(topic=topic) for topic in seeded.sample(topics, seeded.randint(0, len(topics)))
        )
    return Client(client_id=client_id, client_addr=f"10.{network}.0.1:{seeded.randint(1024, 65535)}", subscriptions=own)


def _policy(seeded: Random, inventory: Inventory, virtual_nodes: int, machine_rooms: Sequence[str] | None) -> Policy:
    assignments = {
        group.consumer_group: lists
        for group in inventory.consumer_groups
        if seeded.random() < 0.3 and (lists := _assignments(seeded, group)) is not None
    }
    return Policy.model_validate({
        "strategies": STRATEGIES,
        "rooms": {
            "brokers": [{"broker_name": name, "room": room} for name, room in BROKER_ROOMS.items()],
            "clients": [{"cidr": f"10.{n}.0.0/16", "room": room} for n, room in ROOM_OF_NETWORK.items()],
        },
        "machine_rooms": machine_rooms,
        "config_assignments": assignments,
        "consistent_hash": {"virtual_nodes": virtual_nodes},
        "exclude": {"topics": ["^bench_"], "consumer_groups": ["^bench_"]},
    })


def _assignments(seeded: Random, group: InventoryGroup) -> dict[str, list[dict[str, object]]]:
    """Lists of some of the group's clients, and of one that is not there; queues may repeat, and need not exist."""
    topics = [subscription.topic for subscription in group.subscriptions or ()] + ["topic-0"]
    ids = {client.client_id for client in group.clients or () if seeded.random() < 0.7} | {"somebody else"}
    return {
        client_id: [
            {"topic": seeded.choice(topics), "broker_name": seeded.choice(BROKERS), "queue_id": seeded.randint(0, 3)}
            for _ in range(seeded.randint(0, 6))
        ]
        for client_id in sorted(ids)
    }
