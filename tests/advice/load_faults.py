"""Faults of how busy clients are, and of how evenly their work is spread."""

from typing import Any, Final

from tests.advice.choices import (
    about,
    busy,
    dice_of,
    of_group,
    only_topic,
    owned_by,
    queues_of,
    some_group,
    sorted_clients,
    with_clients,
)
from tests.advice.faults import named
from tests.advice.fleet import BUSIEST_DAY, Fleet
from tests.advice.healthy import set_busy
from tests.advice.judge import Expected
from tests.advice.model import Client, Group, Lag, Place
from tests.advice.shape import ROOMS, Queue

ALARMING: Final = 0.52
"""A busy share from which a skew is a warning, and at which the loss of a broker is still survived."""
TOO_MANY_CLIENTS: Final = 7
GROWING_DAYS: Final = 35


def queues_shared_out_unevenly(fleet: Fleet) -> Expected:
    """CONSISTENT_HASH gives one client far more than its share."""
    group = some_group(fleet, "hash", alone=True)
    with_clients(fleet, group, 4)
    chance = dice_of(fleet, "hash")
    while True:
        _rename(group, chance.randint(1, 30_000))
        counts = [len(owned_by(fleet, group, one.client_id)) for one in group.clients]
        if min(counts) > 0 and max(counts) * len(counts) / sum(counts) > 1.6:
            break
    set_busy(fleet.model, group, ALARMING, chance)
    return of_group(fleet, group, "ALLOCATION_SKEW", ("WARNING",), ("CHANGE_STRATEGY",), "TRAFFIC_SKEW")


def remainders_that_go_to_the_same_clients(fleet: Fleet) -> Expected:
    """Three topics of sixteen queues each for five clients: the first gets four of each, the others three."""
    group = some_group(fleet, "several")
    with_clients(fleet, group, TOO_MANY_CLIENTS)
    set_busy(fleet.model, group, ALARMING, dice_of(fleet, "busy"))
    return of_group(
        fleet,
        group,
        "CROSS_TOPIC_SKEW",
        ("WARNING",),
        ("CHANGE_STRATEGY", "EXPAND_QUEUES", "SCALE_CONSUMERS"),
        "TRAFFIC_SKEW",
    )


def messages_shared_out_unevenly(fleet: Fleet) -> Expected:
    """Producers prefer one broker, all of whose queues go to one client by AVG."""
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    with_clients(fleet, group, len(topic.places))
    preferred = dice_of(fleet, "preferred").choice(sorted(topic.places))
    topic.places = {broker: Place(4, 4) for broker in topic.places}
    topic.rates = {queue: 25.0 if queue.broker_name == preferred else 10.0 for queue in topic.readable}
    set_busy(fleet.model, group, ALARMING, dice_of(fleet, "busy"), one_lost=0.69)
    return of_group(fleet, group, "TRAFFIC_SKEW", ("WARNING",), ("CHANGE_STRATEGY",))


def a_hot_queue(fleet: Fleet) -> Expected:
    """Producers send most messages by one key."""
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    hot = dice_of(fleet, "hot").choice(topic.readable)
    topic.rates[hot] *= 12
    set_busy(fleet.model, group, 0.3, dice_of(fleet, "busy"))
    return Expected(
        "HOT_QUEUE",
        ("WARNING", "INFO"),
        ("CHECK_PRODUCER_KEYS",),
        topic=topic.name,
        also=frozenset({"TRAFFIC_SKEW"}),
        may_name=about(fleet, group),
    )


def clients_that_are_too_busy(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle", "filtered")
    busy(fleet, group, 0.85)
    return of_group(
        fleet,
        group,
        "CONSUMER_CAPACITY",
        ("WARNING",),
        ("SCALE_CONSUMERS", "RAISE_CONSUME_THREADS", "EXPAND_QUEUES", "SHORTEN_CALLS"),
    )


def traffic_that_outgrows_its_clients(fleet: Fleet) -> Expected:
    """It grows by a fiftieth of today's each day, and its clients bear an eighth more. Each has two queues or more."""
    group = some_group(
        fleet, "plain", "circle", alone=True, of=lambda one: 2 * len(one.clients) <= len(queues_of(fleet, one))
    )
    fleet.days = GROWING_DAYS
    only_topic(fleet, group).growth = 0.02
    busy(fleet, group, 0.62 / BUSIEST_DAY)
    return of_group(fleet, group, "CONSUMER_CAPACITY", ("WARNING",), ("SCALE_CONSUMERS",))


def clients_that_cannot_keep_up(fleet: Fleet) -> Expected:
    """Every client is given a quarter more than it can handle, and lag grows on all of its queues."""
    group = some_group(fleet, "plain", of=lambda one: len(queues_of(fleet, one)) % len(one.clients) == 0)
    busy(fleet, group, 1.25)
    _fall_behind(fleet, group, queues_of(fleet, group), 0.2)
    return of_group(
        fleet,
        group,
        "CONSUMER_CAPACITY",
        ("WARNING", "CRITICAL"),
        ("SCALE_CONSUMERS", "RAISE_CONSUME_THREADS", "EXPAND_QUEUES", "SHORTEN_CALLS"),
        "LAG_STATE",
    )


def more_clients_than_queues_and_still_too_busy(fleet: Fleet) -> Expected:
    """Two queues a broker, thirty clients of which most are idle, and those that are not are 90 % busy."""
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    topic.places = {broker: Place(1, 1) for broker in topic.places}
    topic.rates = dict.fromkeys(topic.readable, 20.0)
    with_clients(fleet, group, 30)
    busy(fleet, group, 0.9)
    return of_group(fleet, group, "CONSUMER_CAPACITY", ("WARNING", "CRITICAL"), ("EXPAND_QUEUES",), "IDLE_CONSUMERS")


def a_slow_client(fleet: Fleet) -> Expected:
    """One client needs twenty times as long as its peers, and falls behind."""
    group, sick = _one_of_several(fleet)
    sick.rt_ms *= 20
    _fall_behind(fleet, group, owned_by(fleet, group, sick.client_id), 0.7)
    return _outlier(fleet, group, sick)


def a_slow_client_that_keeps_up(fleet: Fleet) -> Expected:
    """One client needs seven times as long as its peers; it is busy enough to fail at the next peak."""
    group, _ = _one_of_several(fleet)
    busy(fleet, group, 0.12)
    rates = fleet.model.incoming(group)
    sick = max(
        sorted_clients(group), key=lambda one: rates[one.client_id]
    )  # one with fewer queues would have time left
    sick.rt_ms *= 7
    return _outlier(fleet, group, sick)


def a_client_with_few_threads(fleet: Fleet) -> Expected:
    group, sick = _one_of_several(fleet)
    for one in group.clients:
        one.rt_ms, one.threads = one.rt_ms * 40 / one.threads, 40
    sick.threads = 2
    _fall_behind(fleet, group, owned_by(fleet, group, sick.client_id), 0.7)
    return _outlier(fleet, group, sick)


def _one_of_several(fleet: Fleet) -> tuple[Group, Client]:
    group = some_group(fleet, "plain", "circle", of=lambda one: len(one.clients) >= 4)
    return group, dice_of(fleet, "sick").choice(sorted_clients(group))


def _outlier(fleet: Fleet, group: Group, sick: Client) -> Expected:
    return of_group(
        fleet,
        group,
        "CLIENT_OUTLIER",
        ("WARNING", "CRITICAL"),
        ("REPLACE_CLIENT",),
        "CONSUMER_CAPACITY",
        "LAG_STATE",
        "LAG_SKEW",
    )


def a_room_that_gets_nothing(fleet: Fleet) -> Expected:
    """Queues are divided by room, and all of them are in one."""
    group = some_group(fleet, "nearby", alone=True)
    topic = only_topic(fleet, group)
    topic.places = {name: place for name, place in topic.places.items() if name.startswith(ROOMS[0])}
    topic.rates = {queue: rate for queue, rate in topic.rates.items() if queue.broker_name in topic.places}
    set_busy(fleet.model, group, 0.3, dice_of(fleet, "busy"))
    return of_group(
        fleet,
        group,
        "ROOM_STARVATION",
        ("WARNING", "INFO"),
        ("CHANGE_STRATEGY", "INVESTIGATE"),
        "IDLE_CONSUMERS",
        "ALLOCATION_SKEW",
        "TRAFFIC_SKEW",
    )


def messages_that_cross_rooms(fleet: Fleet) -> Expected:
    """Nothing is new but that the policy asks for it: one line for the two rooms, whatever number of groups."""
    fleet.policy["report_cross_room"] = True
    everything = [*fleet.model.groups, *fleet.model.topics, *fleet.model.brokers]
    actions = ("INVESTIGATE", "CHANGE_STRATEGY")
    return Expected("CROSS_ROOM", ("INFO",), actions, may_name=frozenset(everything))


def clients_of_a_drained_broker(fleet: Fleet) -> Expected:
    """A topic is closed for writing on one broker and read to the end there, which is all that some clients own."""
    group = some_group(fleet, "plain", "filtered", alone=True)
    topic = only_topic(fleet, group)
    with_clients(fleet, group, len(topic.readable))
    drained = sorted(topic.places)[1]
    topic.places[drained].perm = 4
    for queue in topic.readable:
        if queue.broker_name == drained:
            topic.rates[queue] = 0.0
    set_busy(fleet.model, group, 0.3, dice_of(fleet, "busy"))
    return Expected(
        "READ_ONLY_IDLE",
        ("WARNING", "INFO"),
        ("INVESTIGATE",),
        broker_name=drained,
        may_name=about(fleet, group),
    )


def caches_larger_than_the_heap(fleet: Fleet) -> Expected:
    group = some_group(fleet, "plain", "circle")
    fleet.policy["client_heap_mib"] = {group.name: 64}

    def cache_more(inventory: dict[str, Any]) -> None:
        (row,) = (one for one in inventory["consumer_groups"] if one["consumer_group"] == group.name)
        for client in row["clients"]:
            own = sum(one["topic"] in group.topics for one in client["owned_queues"])
            # 48 MiB in all, with messages of a KiB
            client["pull_threshold_for_queue"] = 48 * 1024 // max(own, 1)
            client["pull_threshold_size_for_queue_mib"] = 64

    fleet.edits.append(cache_more)
    return of_group(fleet, group, "CLIENT_MEMORY", ("WARNING", "CRITICAL"), ("LOWER_PULL_THRESHOLDS",))


def _rename(group: Group, number: int) -> None:
    for place, one in enumerate(group.clients):
        ip = one.addr.partition(":")[0]
        one.client_id = f"{ip}@{number + place}#{10**14 + number * 977 + place}"


def _fall_behind(fleet: Fleet, group: Group, queues: list[Queue], share: float) -> None:
    """Let this share of what comes to the queues wait, for an hour by now."""
    for queue in queues:
        growth = fleet.model.topics[queue.topic].rates[queue] * share * 5
        group.lags[queue] = Lag(int(growth * 720), int(growth))


FAULTS: Final = named(
    queues_shared_out_unevenly,
    remainders_that_go_to_the_same_clients,
    messages_shared_out_unevenly,
    a_hot_queue,
    clients_that_are_too_busy,
    clients_that_cannot_keep_up,
    more_clients_than_queues_and_still_too_busy,
    a_slow_client,
    a_slow_client_that_keeps_up,
    a_client_with_few_threads,
    a_room_that_gets_nothing,
    messages_that_cross_rooms,
    clients_of_a_drained_broker,
    caches_larger_than_the_heap,
) | named(traffic_that_outgrows_its_clients, with_history=True)
