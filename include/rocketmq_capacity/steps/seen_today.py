"""What a run's snapshot says of what earlier plans recommended: the queues of topics, and what clients own."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.handover.observed import BrokerRow, PlaceRow
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.report.gates import Going, Leftover, Spread
from rocketmq_capacity.report.ledger import LedgerFacts, ReportedOwners
from rocketmq_capacity.steps.reported_rows import records, rows_if_any, rows_of_groups
from rocketmq_capacity.steps.untaken_queues import untaken_queues
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.rows import rows_where
from rocketmq_capacity.vocabulary import (
    BUSINESS,
    EVERY_QUEUE,
    PERM_WRITE,
    SYSTEM,
    is_broadcasting,
    is_open,
    is_readable,
)

Queue = tuple[str, str, int]
"""Topic, broker and id."""


def seen_today(run: Run) -> LedgerFacts:
    """Nothing for a run without a run before: there is nothing to compare."""
    if not rows_if_any(run, tables.RunBefore):
        return LedgerFacts()
    places = [place for place in records(run, tables.TopicQueue, PlaceRow) if place.kind == BUSINESS]
    queues: dict[str, dict[str, tuple[int | None, int | None]]] = {}
    for place in places:
        queues.setdefault(place.topic, {})[place.broker_name] = (place.read_queue_nums, place.write_queue_nums)
    spread = _spread(run, places)
    return LedgerFacts(queues, partial(_owners, run, places), partial(_went_back, run), partial(_leftover, run), spread)


def _spread(run: Run, places: Sequence[PlaceRow]) -> Spread:
    """How business topics lie on the masters that can be read and written, as ADD_BROKER counts them."""
    names = sorted(
        one.broker_name
        for one in records(run, tables.Broker, BrokerRow)
        if one.broker_id == 0 and is_open(one.broker_perm)
    )
    writable: dict[str, dict[str, int | None]] = defaultdict(dict)
    for place in places:
        writable[place.topic][place.broker_name] = _writable_queues(place)
    having = {broker for own in writable.values() for broker, queues in own.items() if queues != 0}
    counts = {topic: {own.get(name, 0) for name in names} for topic, own in sorted(writable.items())}
    return Spread(
        brokers=tuple(names),
        empty=tuple(name for name in names if name not in having),
        uneven=tuple(topic for topic, own in counts.items() if None not in own and len(own) > 1),
        unknown=tuple(topic for topic, own in counts.items() if None in own),
        untaken=partial(untaken_queues, run, places, names),
    )


def _writable_queues(place: PlaceRow) -> int | None:
    if place.perm is None or place.write_queue_nums is None:
        return None
    return place.write_queue_nums if place.perm & PERM_WRITE else 0


def _went_back(run: Run, groups: Collection[str]) -> dict[str, int | None]:
    """The messages by which the offsets of these groups went back since the run before; None if one is unknown."""
    now = {_queue_of(row): row.consumer_offset for row in rows_of_groups(run, tables.GroupOffset, list(groups))}
    before = rows_of_groups(run, tables.OffsetBefore, list(groups))
    steps: dict[str, list[int | None]] = defaultdict(list)
    for row in before:
        then, offset = row.consumer_offset, now.get(_queue_of(row))
        steps[row.consumer_group].append(None if then is None or offset is None else max(0, then - offset))
    return {name: _sum(steps[name]) if name in steps else None for name in groups}


def _queue_of(row: tables.GroupOffset | tables.OffsetBefore) -> tuple[str, str, str, int]:
    return row.consumer_group, row.topic, row.broker_name, row.queue_id


def _leftover(run: Run, topic: str, going: Going) -> Leftover:
    """What is still written to queues that go, and what each group that reads the topic has not read there."""
    of_topic = pc.field("topic").cast(pa.string()) == topic
    ids = {(broker, id_) for broker, (first, end) in going.items() for id_ in range(first, end)}
    written = {
        (row.broker_name, row.queue_id): row
        for row in rows_where(run.files(tables.QueueOffset.dataset_name()), tables.QueueOffset, of_topic)
    }
    rates = [written[queue].put_msgs_per_s if queue in written else None for queue in ids]
    offsets = rows_where(run.files(tables.GroupOffset.dataset_name()), tables.GroupOffset, of_topic)
    lags = {(row.consumer_group, row.broker_name, row.queue_id): row.lag for row in offsets}
    reads = rows_where(run.files(tables.Subscription.dataset_name()), tables.Subscription, of_topic)
    names = sorted({row.consumer_group for row in offsets} | {row.consumer_group for row in reads})
    groups = [one for one in rows_of_groups(run, tables.ConsumerGroup, names) if one.kind != SYSTEM]
    empty = {queue for queue in ids if queue in written and _is_empty(written[queue])}
    return Leftover(
        msgs_per_s=sum_of(rates),
        unread={
            one.consumer_group: _sum([0 if queue in empty else lags.get((one.consumer_group, *queue)) for queue in ids])
            for one in groups
        },
        broadcasting=frozenset(one.consumer_group for one in groups if is_broadcasting(one.message_model)),
    )


def _is_empty(queue: tables.QueueOffset) -> bool:
    """Whether no message is kept in it."""
    return queue.max_offset is not None and queue.min_offset == queue.max_offset


def _sum(numbers: Sequence[int | None]) -> int | None:
    """None if one of them is unknown, unless the others are above 0 already: so many are left at least."""
    known = sum(number for number in numbers if number is not None)
    return known if known or None not in numbers else None


def _owners(run: Run, places: Sequence[PlaceRow], groups: Collection[str]) -> dict[str, ReportedOwners]:
    """What the clients of these groups own; only of groups of which every client said it."""
    names = list(groups)
    owned: dict[str, list[tables.OwnedQueue]] = defaultdict(list)
    for row in rows_of_groups(run, tables.OwnedQueue, names):
        owned[row.consumer_group].append(row)
    clients: dict[str, list[tables.Consumer]] = defaultdict(list)
    for client in rows_of_groups(run, tables.Consumer, names):
        clients[client.consumer_group].append(client)
    topics: dict[str, set[str]] = defaultdict(set)
    for read in rows_of_groups(run, tables.Subscription, names):
        topics[read.consumer_group].add(read.topic)
    readable: dict[str, list[Queue]] = defaultdict(list)
    wanted = set().union(*topics.values()) if topics else set()
    for place in places:
        if place.topic in wanted and is_readable(place.perm, place.read_queue_nums):
            readable[place.topic] += [
                (place.topic, place.broker_name, id_) for id_ in range(place.read_queue_nums or 0)
            ]
    return {
        name: _owners_of(clients[name], owned[name], [one for topic in topics[name] for one in readable[topic]])
        for name in names
        if clients[name]
        and all(client.has_owned_queues for client in clients[name])
        and all(row.queue_id != EVERY_QUEUE for row in owned[name])  # popped: clients share queues
    }


def _owners_of(
    clients: Sequence[tables.Consumer], owned: Sequence[tables.OwnedQueue], readable: Collection[Queue]
) -> ReportedOwners:
    there = set(readable)
    held = {(row.consumer_index, (row.topic, row.broker_name, row.queue_id)) for row in owned}
    readers = Counter(queue for _, queue in held if queue in there)
    ids = {client.consumer_index: client.client_id for client in clients}
    most = Counter(dict.fromkeys(ids.values(), 0))
    most.update(id_ for id_, _ in {(ids[index], queue) for index, queue in held if queue in there})
    total = sum(most.values())
    return ReportedOwners(
        idle=sum(number == 0 for number in most.values()),
        orphan_queues=len(there - readers.keys()),
        doubly_owned_queues=sum(number > 1 for number in readers.values()),
        peak=round(max(most.values()) * len(most) / total, 4) if total else None,
    )
