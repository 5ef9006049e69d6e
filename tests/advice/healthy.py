"""Healthy fleets of chance: equal sizes and seeds give equal fleets.

The busiest client of each group is busy for 15 to 50 % of its time, every queue is read by one client, and no group is
too weak without any one broker. Counts of clients leave remainders where a topic is alone, and divide several topics.
"""

from collections.abc import Sequence
from itertools import cycle
from random import Random
from typing import Final

from tests.advice.model import NEARBY, Broker, Client, Group, Model, Place, Topic
from tests.advice.shape import ROOMS, SIZES, Queue, Size, dice

KINDS: Final = (
    *("plain", "several", "orderly", "plain", "pop", "nearby", "plain", "broadcasting", "circle", "standby"),
    *("plain", "filtered", "several", "grpc", "plain", "hash", "plain", "orderly", "plain", "plain"),
)
"""What is special about the groups, by turns."""
WORDS: Final = ("order", "pay", "stock", "cart", "price", "mail", "click", "refund", "parcel", "user", "stat", "coupon")
VERSIONS: Final = ("V5_3_3", "V5_3_1", "V5_2_0", "V4_9_8")
THREADS: Final = (4, 8, 16, 20, 32, 64)
USUAL_RT_MS: Final = (3.0, 400.0)
BUSY: Final = (0.15, 0.5)
"""The busy share of a group's busiest client at its peak: at least and at most."""
BUSY_ONE_LOST: Final = 0.68
"""The most of it without any one broker."""
FAIR_HASH: Final = 1
"""Clients of a group with CONSISTENT_HASH differ by at most so many queues: whoever chose it has looked."""


def model_of(size_name: str, seed: int, *, peak: float = 1.0) -> Model:
    """A healthy fleet; ``peak`` times the usual traffic still leaves its clients within the bounds."""
    size = SIZES[size_name]
    chance = dice(size_name, seed)
    brokers = _brokers(size, chance)
    model = Model(brokers, {}, {})
    kinds = [kind for kind, _ in zip(cycle(KINDS), range(size.groups), strict=False)]
    ordered = _topics(model, size, kinds, chance)
    for number, kind in enumerate(kinds):
        _add_group(model, kind, f"g_{number:03}_{kind}", number, ordered, dice(size_name, seed, number), peak)
    return model


def _brokers(size: Size, chance: Random) -> dict[str, Broker]:
    """Rooms by turns; every fifth broker is twice as large, and every second has a slave."""
    brokers = [
        Broker(
            f"{ROOMS[number % len(ROOMS)]}@broker-{number:02}",
            ROOMS[number % len(ROOMS)],
            number,
            weight=2 if number % 5 == 4 else 1,
            has_slave=number % 2 == 0,
            disk_ratio=round(chance.uniform(0.3, 0.6), 2),
        )
        for number in range(size.brokers)
    ]
    return {one.name: one for one in brokers}


def _topics(model: Model, size: Size, kinds: Sequence[str], chance: Random) -> list[str]:
    """Topics on sets of brokers that they share; the kind of its first reader decides what a topic is like."""
    names = list(model.brokers)
    step = size.brokers_of_topic
    sets = [names[begin : begin + step] for begin in range(0, len(names), step)]
    sets = [(each + names)[:step] for each in sets] + [names[step // 2 : step // 2 + step]]
    for number in range(size.topics):
        kind = kinds[number % len(kinds)]
        name = f"{WORDS[number % len(WORDS)]}_{number:03}"
        own = sorted(sets[number % len(sets)])
        count = 4 if kind in {"several", "nearby"} else chance.choice((2, 3, 4, 4, 8))
        weighs = kind in {"plain", "circle"} and chance.random() < 0.5
        places = {}
        for broker in own:
            queues = count * (model.brokers[broker].weight if weighs else 1)
            places[broker] = Place(queues, queues)
        usual = chance.uniform(4, 40)
        topic = Topic(name, "FIFO" if kind == "orderly" else "NORMAL", places, {})
        topic.rates = {queue: round(usual * chance.uniform(0.98, 1.02), 3) for queue in topic.readable}
        model.topics[name] = topic
    return list(model.topics)


def _add_group(
    model: Model, kind: str, name: str, number: int, topics: Sequence[str], chance: Random, peak: float
) -> None:
    own = _topics_of(model, kind, number, topics, chance)
    queues = len(model.topics[own[0]].readable)
    group = Group(name, kind, own, orderly=kind == "orderly")
    group.strategy = {"circle": "AVG_BY_CIRCLE", "nearby": NEARBY, "hash": "CONSISTENT_HASH"}.get(kind, "AVG")
    if kind == "filtered":
        group.expression, group.passes = "paid || sent", 0.4
    if kind == "grpc":
        group.protocol = "GRPC"
    model.groups[name] = group
    for _ in range(200):
        group.clients = _clients(group, number, _count(kind, queues, chance), chance)
        if kind != "hash" or _is_fair(model, group):
            break
    _set_busy(model, group, chance, peak)


def _topics_of(model: Model, kind: str, number: int, topics: Sequence[str], chance: Random) -> list[str]:
    """The topic of its number, so that each is read; several of four queues a broker where several are read."""
    first = topics[number % len(topics)]
    is_first_reader = number < len(topics)
    alike = "FIFO" if kind == "orderly" else "NORMAL"
    if not is_first_reader and kind not in {"several", "nearby"}:
        first = chance.choice([name for name in topics if model.topics[name].message_type == alike])
    fours = [name for name in topics if _is_four_a_broker(model.topics[name])]
    if kind in {"several", "nearby"} and first not in fours:
        first = chance.choice(fours)
    others = [name for name in fours if name != first]
    return [first, *chance.sample(others, min(2, len(others)))] if kind == "several" else [first]


def _is_four_a_broker(topic: Topic) -> bool:
    return topic.message_type == "NORMAL" and {place.read for place in topic.places.values()} == {4}


def _count(kind: str, queues: int, chance: Random) -> int:
    """How many clients: with remainders, or as many as queues; those of several topics and rooms divide them."""
    match kind:
        case "several" | "nearby":
            return chance.choice((4, 8))
        case "standby":
            return queues + 1
        case "broadcasting" | "grpc":
            return chance.randint(2, 5)
        case "pop":  # every client pops every queue, so that there may be more clients than queues
            return chance.randint(3, 2 * queues)
        case "hash":
            return chance.randint(2, 4)
        case _:
            return chance.choice((queues, chance.randint(2, queues), chance.randint(max(2, queues // 2), queues)))


def _clients(group: Group, number: int, count: int, chance: Random) -> list[Client]:
    version = chance.choice(VERSIONS)
    clients = []
    for place in range(count):
        room = ROOMS[place % len(ROOMS)]
        ip = f"10.{1 + place % len(ROOMS)}.{number % 250}.{place + 1 + number // 250 * 100}"
        client_id = f"{ip}@{chance.randint(1, 30_000)}#{chance.randint(10**14, 10**15)}"
        mixed = chance.choice(VERSIONS) if number % 4 == 0 else version
        clients.append(Client(client_id, f"{ip}:{chance.randint(30_000, 60_000)}", room, mixed))
    return clients


def _is_fair(model: Model, group: Group) -> bool:
    counts = [len(share) for _, share in model.owned(group, model.topics[group.topics[0]].readable)]
    return max(counts) - min(counts) <= FAIR_HASH


def _set_busy(model: Model, group: Group, chance: Random, peak: float) -> None:
    """Threads and response times with which its busiest client is as busy as it may be."""
    set_busy(model, group, chance.uniform(*BUSY) / peak, chance, one_lost=BUSY_ONE_LOST / peak)


def set_busy(
    model: Model, group: Group, share: float, chance: Random, *, one_lost: float | None = BUSY_ONE_LOST
) -> None:
    """Let the group's busiest client be busy for ``share`` of its time, or less where a lost broker needs it."""
    today = max(model.incoming(group).values())
    losses = [max(model.incoming(group, broker).values()) for broker in model.brokers_of(group)]
    if one_lost is not None and not group.is_broadcasting:
        share = min(share, one_lost * today / max(losses))
    usual = [threads for threads in THREADS if USUAL_RT_MS[0] <= share * 1000 * threads / today <= USUAL_RT_MS[1]]
    threads = chance.choice(usual or THREADS)
    at_once = min(threads, _most_queues(model, group)) if group.orderly else threads
    for one in group.clients:
        one.threads = threads
        one.rt_ms = round(share * 1000 * at_once / today * chance.uniform(0.96, 1.0), 4)


def _most_queues(model: Model, group: Group) -> int:
    counts: dict[str, int] = {}
    for name in group.topics:
        for one, share in model.owned(group, model.topics[name].readable):
            counts[one.client_id] = counts.get(one.client_id, 0) + len(share)
    return max(counts.values())


def queues_of(model: Model, group: Group) -> list[Queue]:
    return [queue for name in group.topics for queue in model.topics[name].readable]
