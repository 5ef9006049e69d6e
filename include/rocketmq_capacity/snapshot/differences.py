"""Inventory → the columns of two tables: how name servers and slaves differ from the rest of the inventory."""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

from msgspec.structs import asdict

from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryBroker,
    InventoryNameserver,
    ListedBroker,
    TopicQueues,
)
from rocketmq_capacity.snapshot.seconds import Seconds
from rocketmq_capacity.vocabulary import is_readable, java_order

Columns = dict[str, list[Any]]


class _AtNameserver(NamedTuple):
    nameserver_addr: str
    topic: str | None
    broker_name: str
    is_listed: bool
    read_queue_nums: int | None = None
    write_queue_nums: int | None = None
    perm: int | None = None
    readable: int = 0
    readable_elsewhere: int = 0


class _AtSlave(NamedTuple):
    broker_name: str
    broker_id: int
    broker_addr: str | None
    changed_ago_s: float | None
    topic: str | None = None
    consumer_group: str | None = None
    read_queue_nums: int | None = None
    write_queue_nums: int | None = None
    master_read_queue_nums: int | None = None
    master_write_queue_nums: int | None = None


_Row = TypeVar("_Row", _AtNameserver, _AtSlave)


def nameserver_differences(inventory: Inventory) -> Columns:
    """The columns of ``nameserver_difference``: brokers and routes that a name server gives differently."""
    routes = {topic.topic: topic.queues for topic in inventory.topics}
    rows: list[_AtNameserver] = []
    for view in inventory.nameserver_views or ():
        if view.brokers is not None:
            rows += _of_brokers(view, view.brokers, inventory.brokers)
        for route in view.routes or ():
            rows += _of_route(view, route.topic, route.queues, routes.get(route.topic) or ())
    return _columns(_AtNameserver, rows)


def slave_differences(inventory: Inventory, seconds: Seconds) -> Columns:
    """The columns of ``slave_difference``."""
    rows: list[_AtSlave] = []
    for broker in inventory.brokers:
        changed_at = broker.master_changed_at
        ago_s = None if changed_at is None else seconds[inventory.taken_at] - seconds[changed_at]
        slave = _AtSlave(broker.broker_name, broker.broker_id, broker.broker_addr, ago_s)
        rows += [slave._replace(**asdict(topic)) for topic in broker.drifted_topics or ()]
        rows += [slave._replace(consumer_group=group) for group in broker.missing_groups or ()]
    return _columns(_AtSlave, rows)


def _of_brokers(
    view: InventoryNameserver, listed: Iterable[ListedBroker], brokers: Iterable[InventoryBroker]
) -> Iterator[_AtNameserver]:
    theirs, ours = _processes(listed), _processes(brokers)
    for name in sorted(theirs.keys() | ours.keys(), key=java_order):
        if theirs.get(name) != ours.get(name):
            yield _AtNameserver(view.nameserver_addr, None, name, name in theirs)


def _processes(brokers: Iterable[InventoryBroker | ListedBroker]) -> dict[str, set[tuple[int, str | None]]]:
    processes: dict[str, set[tuple[int, str | None]]] = {}
    for broker in brokers:
        processes.setdefault(broker.broker_name, set()).add((broker.broker_id, broker.broker_addr))
    return processes


def _of_route(
    view: InventoryNameserver, topic: str, of_view: Iterable[TopicQueues], known: Iterable[TopicQueues]
) -> Iterator[_AtNameserver]:
    theirs = {queues.broker_name: queues for queues in of_view}
    ours = {queues.broker_name: queues for queues in known}
    for name in sorted(theirs.keys() | ours.keys(), key=java_order):
        their_queues, our_queues = theirs.get(name), ours.get(name)
        if their_queues == our_queues:
            continue
        yield _AtNameserver(
            view.nameserver_addr,
            topic,
            name,
            their_queues is not None,
            None if their_queues is None else their_queues.read_queue_nums,
            None if their_queues is None else their_queues.write_queue_nums,
            None if their_queues is None else their_queues.perm,
            _readable(their_queues),
            _readable(our_queues),
        )


def _readable(queues: TopicQueues | None) -> int:
    if queues is None or not is_readable(queues.perm, queues.read_queue_nums):
        return 0
    return queues.read_queue_nums or 0


def _columns(kind: type[_Row], rows: Iterable[_Row]) -> Columns:
    listed = list(rows)
    return {name: [getattr(row, name) for row in listed] for name in kind._fields}
