"""A cluster of chance, and what becomes of it when recommendations are followed to the letter."""

import random
from collections.abc import Iterable
from typing import Any, Final

from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import Client, Inventory, InventoryGroup, InventoryTopic, TopicQueues
from tests.assessment.cases import a_group, a_topic, ids, member
from tests.assessment.judge import Row
from tests.recommendation.answers import options
from tests.recommendation.cases import broker
from tests.simulation.clusters import after, cluster, queues

BROKERS: Final = tuple(broker(f"broker-{letter}") for letter in "abc")
STRATEGIES: Final = (None, "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH")


def random_cluster(seed: int, topics: int, groups: int) -> Inventory:
    """Topics on one to three brokers, some unequal or with fewer read queues; groups on one to three of them each."""
    chance = random.Random(seed)
    each = [_topic(chance, f"t{i:02}") for i in range(topics)]
    return cluster(each, [_group(chance, f"g{i:02}", each) for i in range(groups)], BROKERS)


def _topic(chance: random.Random, name: str) -> InventoryTopic:
    where = BROKERS if chance.random() < 0.6 else chance.sample(BROKERS, chance.choice((1, 1, 1, 2)))
    usual = chance.randint(1, 5)
    layout = []
    for place in where:
        write = usual if chance.random() < 0.8 else chance.randint(1, 6)
        read = write if chance.random() < 0.9 else chance.randint(0, write)
        layout.append(queues(place.broker_name, read, write))
    rates = {
        (q.broker_name, i): float(chance.choice((1, 5, 50))) for q in layout for i in range(q.write_queue_nums or 0)
    }
    reads = {q.broker_name: q.read_queue_nums or 0 for q in layout}
    # Nothing waits on the queues that consumers cannot see, so that these may be raised.
    offsets = {(where, i): (0, 5_000 if i < reads[where] else 0) for where, i in rates}
    return a_topic(name, *layout, rates=rates, offsets=offsets, order=False, message_type="NORMAL")


def _group(chance: random.Random, name: str, topics: list[InventoryTopic]) -> InventoryGroup:
    strategy = chance.choice(STRATEGIES)
    names = ids(chance.randint(1, 14))
    if chance.random() < 0.15:
        names.append(chance.choice(names))
    mixed = chance.random() < 0.15
    clients = [
        member(
            client_id,
            allocate_strategy=chance.choice(STRATEGIES[1:3]) if mixed else strategy,
            language="JAVA",
            version=chance.choice(("V5_3_3", "V5_1_0")),
        )
        for client_id in dict.fromkeys(names)
    ]
    clients += [replace(one) for one in clients if names.count(one.client_id) > 1]
    return a_group(name, clients, chance.sample(topics, chance.choice((1, 1, 1, 2, 3))), orderly=False)


def touched(row: Row) -> set[str]:
    """The groups that a recommendation is about."""
    if row["consumer_group"] is not None:
        return {row["consumer_group"]}
    return {group["consumer_group"] for group in row["after"].get("groups", ())}


def followed(inventory: Inventory, rows: Iterable[Row], idle: dict[str, list[str]]) -> Inventory:
    """The cluster after the recommendations: their commands run, their words obeyed; ``idle`` clients by group."""
    for row in rows:
        for command in row["commands"]:
            inventory = _run(inventory, command)
        inventory = _obey(inventory, row, idle.get(row["consumer_group"], []))
    return inventory


def _run(inventory: Inventory, command: str) -> Inventory:
    subcommand, given = command.split()[1], options(command)
    names = {one.broker_addr: one.broker_name for one in inventory.brokers}
    if subcommand == "setConsumeMode":
        change = {
            "change": "set_request_mode",
            "consumer_group": given["-g"],
            "topic": given["-t"],
            "message_request_mode": given["-m"],
            "pop_share_queue_num": int(given["-q"] or ""),
        }
        return after(inventory, change)
    if subcommand != "updateTopic":
        return inventory
    topic, broker_name = given["-t"], names[given["-b"]]
    counts = {"read_queue_nums": int(given["-r"] or ""), "write_queue_nums": int(given["-w"] or "")}
    (there,) = (one for one in inventory.topics if one.topic == topic)
    if broker_name not in {place.broker_name for place in there.queues or ()}:
        new = TopicQueues(broker_name=broker_name, perm=int(given["-p"] or ""), **counts)
        grown = replace(there, queues=(*(there.queues or ()), new))
        return replace(inventory, topics=tuple(grown if one is there else one for one in inventory.topics))
    return after(inventory, {"change": "set_queues", "topic": topic, "broker_name": broker_name, **counts})


def _obey(inventory: Inventory, row: Row, idle: list[str]) -> Inventory:
    group = row["consumer_group"]
    match row["action"]:
        case "SCALE_CONSUMERS":
            more = row["after"]["clients"] - row["before"]["clients"]
            if more > 0:
                return after(inventory, {"change": "add_clients", "consumer_group": group, "count": more})
            return _with_clients(inventory, group, lambda clients: [c for c in clients if c.client_id not in idle])
        case "CHANGE_STRATEGY":
            strategy = row["after"]["strategy"]
            return after(inventory, {"change": "set_strategy", "consumer_group": group, "strategy": strategy})
        case "FIX_CLIENT_ID":
            return _with_clients(inventory, group, _renamed)
    return inventory


def _with_clients(inventory: Inventory, group: str, change: Any) -> Inventory:
    return replace(
        inventory,
        consumer_groups=tuple(
            replace(one, clients=tuple(change(one.clients or ()))) if one.consumer_group == group else one
            for one in inventory.consumer_groups
        ),
    )


def _renamed(clients: tuple[Client, ...]) -> list[Client]:
    """Every later consumer of an id under a new id right behind it in Java's order."""
    seen: set[str] = set()
    renamed = []
    for one in clients:
        renamed.append(replace(one, client_id=f"{one.client_id}#2") if one.client_id in seen else one)
        seen.add(one.client_id)
    return renamed
