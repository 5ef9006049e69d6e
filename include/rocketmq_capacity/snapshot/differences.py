"""Inventory → the columns of two tables: how name servers and slaves differ from the rest of the inventory."""

from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from msgspec.structs import asdict, replace

from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryBroker,
    InventoryNameserver,
    ListedBroker,
    TopicQueues,
)
from rocketmq_capacity.snapshot.seconds import Seconds
from rocketmq_capacity.tables.snapshot.cluster import NameserverDifference, SlaveDifference
from rocketmq_capacity.vocabulary import is_readable, java_order

Columns = dict[str, list[Any]]
Processes = dict[int, str | None]
"""By broker id, the address of a process; None if it is unknown."""


Row = TypeVar("Row", NameserverDifference, SlaveDifference)


def nameserver_differences(inventory: Inventory) -> Columns:
    """The columns of ``nameserver_difference``: brokers and routes that a name server gives differently."""
    routes = {topic.topic: topic.queues for topic in inventory.topics}
    rows: list[NameserverDifference] = []
    for view in inventory.nameserver_views or ():
        if view.brokers is not None:
            rows += _of_brokers(view, view.brokers, inventory.brokers)
        for route in view.routes or ():
            known = routes.get(route.topic, ())
            if known is not None:
                rows += _of_route(view, route.topic, route.queues, known)
    return _columns(NameserverDifference, rows)


def slave_differences(inventory: Inventory, seconds: Seconds) -> Columns:
    """The columns of ``slave_difference``."""
    rows: list[SlaveDifference] = []
    for broker in inventory.brokers:
        changed_at = broker.master_changed_at
        ago_s = None if changed_at is None else seconds[inventory.taken_at] - seconds[changed_at]
        slave = SlaveDifference(
            broker_name=broker.broker_name,
            broker_id=broker.broker_id,
            broker_addr=broker.broker_addr,
            changed_ago_s=ago_s,
            is_copying=broker.is_copying,
        )
        rows += [replace(slave, **asdict(topic)) for topic in broker.drifted_topics or ()]
        rows += [replace(slave, consumer_group=group) for group in broker.missing_groups or ()]
    return _columns(SlaveDifference, rows)


def _of_brokers(
    view: InventoryNameserver, listed: Iterable[ListedBroker], brokers: Iterable[InventoryBroker]
) -> Iterator[NameserverDifference]:
    theirs, ours = _processes(listed), _processes(brokers)
    for name in sorted(theirs.keys() | ours.keys(), key=java_order):
        if _differ(theirs.get(name, {}), ours.get(name, {})):
            yield NameserverDifference(nameserver_addr=view.nameserver_addr, broker_name=name, is_listed=name in theirs)


def _processes(brokers: Iterable[InventoryBroker | ListedBroker]) -> dict[str, Processes]:
    processes: dict[str, Processes] = {}
    for broker in brokers:
        processes.setdefault(broker.broker_name, {})[broker.broker_id] = broker.broker_addr
    return processes


def _differ(theirs: Processes, ours: Processes) -> bool:
    """Whether two lists have other processes of a broker, as far as their addresses are known."""
    if theirs.keys() != ours.keys():
        return True
    return any(None not in (theirs[one], ours[one]) and theirs[one] != ours[one] for one in ours)


def _of_route(
    view: InventoryNameserver, topic: str, of_view: Iterable[TopicQueues], known: Iterable[TopicQueues]
) -> Iterator[NameserverDifference]:
    """The brokers with other queues of a topic; what one side does not know of them is as the other side has it."""
    theirs = {queues.broker_name: queues for queues in of_view}
    ours = {queues.broker_name: queues for queues in known}
    for name in sorted(theirs.keys() | ours.keys(), key=java_order):
        their_queues, our_queues = _filled(theirs.get(name), ours.get(name)), _filled(ours.get(name), theirs.get(name))
        if their_queues == our_queues:
            continue
        yield NameserverDifference(
            nameserver_addr=view.nameserver_addr,
            topic=topic,
            broker_name=name,
            is_listed=their_queues is not None,
            read_queue_nums=None if their_queues is None else their_queues.read_queue_nums,
            write_queue_nums=None if their_queues is None else their_queues.write_queue_nums,
            perm=None if their_queues is None else their_queues.perm,
            readable=_readable(their_queues),
            readable_elsewhere=_readable(our_queues),
        )


def _filled(queues: TopicQueues | None, other: TopicQueues | None) -> TopicQueues | None:
    if queues is None or other is None:
        return queues
    unknown = [name for name in TopicQueues.__struct_fields__ if getattr(queues, name) is None]
    return replace(queues, **{name: getattr(other, name) for name in unknown}) if unknown else queues


def _readable(queues: TopicQueues | None) -> int:
    if queues is None or not is_readable(queues.perm, queues.read_queue_nums):
        return 0
    return queues.read_queue_nums or 0


def _columns(kind: type[Row], rows: Iterable[Row]) -> Columns:
    listed = list(rows)
    return {name: [getattr(row, name) for row in listed] for name in kind.__struct_fields__}
