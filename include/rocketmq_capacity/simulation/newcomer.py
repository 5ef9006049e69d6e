"""The clients that a scenario adds; each is like the typical client of its group."""

import ipaddress
from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import TypeVar

from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import (
    Client,
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventorySubscription,
)
from rocketmq_capacity.vocabulary import distinct, is_broadcasting

Value = TypeVar("Value", bound=str | int)


def newcomers(group: InventoryGroup, client_ids: Iterable[str], inventory: Inventory) -> tuple[Client, ...]:
    """More clients of a group, one for each id.

    Each setting is the one that most of the group's clients report, and the subscriptions are their most frequent set.
    ``consume_rt_ms`` of each topic is the median of the clients, so that the group's capacity can still be computed.
    Message rates are unknown, and in a broadcasting group, where each client gets all messages, the median as well.
    The new clients are seen on the group's brokers. Their start and their queues are unknown. An id such as
    ``10.0.0.13@1#1`` gives the address (without a port), else it is unknown.
    """
    clients = group.clients or ()
    subscriptions = _usual_subscriptions(clients)
    typical = Client(
        client_id=group.consumer_group,
        protocol=_usual(client.protocol for client in clients),
        language=_usual(client.language for client in clients),
        version=_usual(client.version for client in clients),
        seen_on=_brokers_of(group, inventory),
        allocate_strategy=_usual(client.allocate_strategy for client in clients),
        consume_threads=_usual(client.consume_threads for client in clients),
        consume_batch_size=_usual(client.consume_batch_size for client in clients),
        pull_batch_size=_usual(client.pull_batch_size for client in clients),
        pull_interval_ms=_usual(client.pull_interval_ms for client in clients),
        pull_threshold_for_queue=_usual(client.pull_threshold_for_queue for client in clients),
        pull_threshold_size_for_queue_mib=_usual(client.pull_threshold_size_for_queue_mib for client in clients),
        pull_threshold_for_topic=_usual(client.pull_threshold_for_topic for client in clients),
        pull_threshold_size_for_topic_mib=_usual(client.pull_threshold_size_for_topic_mib for client in clients),
        subscriptions=subscriptions,
        status=_median_status(group, subscriptions if subscriptions is not None else group.subscriptions),
    )
    return tuple(replace(typical, client_id=name, client_addr=_address_in(name)) for name in client_ids)


def _usual(values: Iterable[Value | None]) -> Value | None:
    """The most frequent known value, of equally frequent ones the smallest; None if none is known."""
    counts = Counter(value for value in values if value is not None)
    return min(counts, key=lambda value: (-counts[value], value)) if counts else None


def _usual_subscriptions(clients: Iterable[Client]) -> tuple[InventorySubscription, ...] | None:
    """The most frequent set of subscriptions; None (the group's) if most clients report none of their own."""
    by_set: dict[tuple[tuple[str, str, str], ...], tuple[InventorySubscription, ...] | None] = {}
    counts: Counter[tuple[tuple[str, str, str], ...]] = Counter()
    for client in clients:
        read = client.subscriptions
        key = tuple(sorted((s.topic, s.expression_type or "", s.expression or "") for s in read or ()))
        counts[key] += 1
        by_set.setdefault(key, read)
    return by_set[min(counts, key=lambda key: (-counts[key], key))] if counts else None


def _median_status(
    group: InventoryGroup, subscriptions: tuple[InventorySubscription, ...] | None
) -> tuple[InventoryConsumeStatus, ...] | None:
    """The median figures of each topic that the client reads; None if no client reports a response time."""
    reported: dict[str, list[InventoryConsumeStatus]] = {}
    for client in group.clients or ():
        for status in client.status or ():
            reported.setdefault(status.topic, []).append(status)
    read = reported if subscriptions is None else {subscription.topic for subscription in subscriptions}
    figures = ["consume_rt_ms"]
    if is_broadcasting(group.message_model):
        figures += ["consume_ok_msgs_per_s", "consume_failed_msgs_per_s"]
    medians = (
        InventoryConsumeStatus(topic=topic, **{name: _median(getattr(one, name) for one in each) for name in figures})
        for topic, each in reported.items()
        if topic in read
    )
    return tuple(one for one in medians if one.consume_rt_ms is not None) or None


def _median(figures: Iterable[float | None]) -> float | None:
    known = [figure for figure in figures if figure is not None]
    return median(known) if known else None


def _brokers_of(group: InventoryGroup, inventory: Inventory) -> tuple[str, ...] | None:
    """The brokers that name a client of the group; for a group without clients, those of the topics that it reads."""
    if group.clients:
        return tuple(distinct(name for client in group.clients for name in client.seen_on or ())) or None
    read = {subscription.topic for subscription in group.subscriptions or ()}
    routes = (queues for topic in inventory.topics if topic.topic in read for queues in topic.queues or ())
    return tuple(distinct(queues.broker_name for queues in routes)) or None


def _address_in(client_id: str) -> str | None:
    """The IPv4 address at the start of an id (ClientConfig.buildMQClientId: clientIP@instanceName), for room rules."""
    host = client_id.partition("@")[0]
    try:
        return str(ipaddress.IPv4Address(host))
    except ValueError:
        return None
