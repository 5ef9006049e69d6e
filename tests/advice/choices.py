"""Which group, topic or broker a fault befalls, and the usual ways in which groups change."""

from collections.abc import Callable
from copy import deepcopy
from random import Random

from tests.advice.fleet import Fleet
from tests.advice.healthy import set_busy
from tests.advice.judge import Expected
from tests.advice.model import Broker, Client, Group, Topic
from tests.advice.shape import Queue, dice


def dice_of(fleet: Fleet, name: str) -> Random:
    return dice(fleet.size, fleet.seed, "fault", name)


def some_group(fleet: Fleet, *kinds: str, alone: bool = False, of: Callable[[Group], bool] = lambda _: True) -> Group:
    """A group of one of these kinds; ``alone`` if its topic has to be its own: then it gets a copy of a shared one."""
    groups = fleet.model.groups.values()
    group = dice_of(fleet, "group").choice([one for one in groups if one.kind in kinds and of(one)])
    if alone and not fleet.model.single_reader(group):
        shared = only_topic(fleet, group)
        own = deepcopy(shared)
        own.name = f"{shared.name}_own"
        own.rates = {queue._replace(topic=own.name): rate for queue, rate in shared.rates.items()}
        fleet.model.topics[own.name] = own
        group.topics = [own.name]
    return group


def some_broker(fleet: Fleet, *, of: Callable[[Broker], bool] = lambda _: True) -> Broker:
    return dice_of(fleet, "broker").choice([one for one in fleet.model.brokers.values() if of(one)])


def only_topic(fleet: Fleet, group: Group) -> Topic:
    (name,) = group.topics
    return fleet.model.topics[name]


def about(fleet: Fleet, group: Group) -> frozenset[str]:
    """The group, its topics and their brokers, which may be named along with it."""
    return frozenset({group.name, *group.topics, *fleet.model.brokers_of(group)})


def of_group(
    fleet: Fleet, group: Group, rule: str, severities: tuple[str, ...], actions: tuple[str, ...], *also: str
) -> Expected:
    """A cause of one group, which may name what the group is about."""
    return Expected(rule, severities, actions, group.name, also=frozenset(also), may_name=about(fleet, group))


def queues_of(fleet: Fleet, group: Group) -> list[Queue]:
    return [queue for name in group.topics for queue in fleet.model.topics[name].readable]


def owned_by(fleet: Fleet, group: Group, client_id: str) -> list[Queue]:
    return [
        queue
        for name in group.topics
        for one, share in fleet.model.owned(group, fleet.model.topics[name].readable)
        if one.client_id == client_id
        for queue in share
    ]


def sorted_clients(group: Group) -> list[Client]:
    return sorted(group.clients, key=lambda one: one.client_id)


def busy(fleet: Fleet, group: Group, share: float) -> None:
    """Let its busiest client be busy for this share of its time, whatever the loss of a broker would do."""
    set_busy(fleet.model, group, share, dice_of(fleet, "busy"), one_lost=None)


def with_clients(fleet: Fleet, group: Group, count: int) -> None:
    """Give the group so many clients in place of its own: copies of them with ids of their own."""
    chance = dice_of(fleet, "clients")
    first = group.clients[0]
    while len(group.clients) < count:
        place = len(group.clients)
        ip = first.addr.partition(":")[0].rsplit(".", 1)[0] + f".{place + 101}"
        client_id = f"{ip}@{chance.randint(1, 30_000)}#{chance.randint(10**14, 10**15)}"
        group.clients.append(Client(client_id, f"{ip}:40001", first.room, first.version, first.threads, first.rt_ms))
    del group.clients[count:]
