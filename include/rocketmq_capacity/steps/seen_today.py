"""What a run's snapshot says of what earlier plans recommended: the queues of topics, and what clients own."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from functools import partial

from rocketmq_capacity import tables
from rocketmq_capacity.handover.observed import PlaceRow
from rocketmq_capacity.report.ledger import Owners, Today
from rocketmq_capacity.steps.reported_rows import records, rows_if_any, rows_of_groups
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.vocabulary import BUSINESS, EVERY_QUEUE, is_readable

Queue = tuple[str, str, int]
"""Topic, broker and id."""


def seen_today(run: Run) -> Today:
    """Nothing for a run without a run before: there is nothing to compare."""
    if not rows_if_any(run, tables.RunBefore):
        return Today()
    places = [place for place in records(run, tables.TopicQueue, PlaceRow) if place.kind == BUSINESS]
    queues: dict[str, dict[str, tuple[int | None, int | None]]] = {}
    for place in places:
        queues.setdefault(place.topic, {})[place.broker_name] = (place.read_queue_nums, place.write_queue_nums)
    return Today(queues, partial(_owners, run, places))


def _owners(run: Run, places: Sequence[PlaceRow], groups: Collection[str]) -> dict[str, Owners]:
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
) -> Owners:
    there = set(readable)
    held = {(row.consumer_index, (row.topic, row.broker_name, row.queue_id)) for row in owned}
    readers = Counter(queue for _, queue in held if queue in there)
    ids = {client.consumer_index: client.client_id for client in clients}
    most = Counter(dict.fromkeys(ids.values(), 0))
    most.update(id_ for id_, _ in {(ids[index], queue) for index, queue in held if queue in there})
    total = sum(most.values())
    return Owners(
        idle=sum(number == 0 for number in most.values()),
        orphan_queues=len(there - readers.keys()),
        doubly_owned_queues=sum(number > 1 for number in readers.values()),
        peak=round(max(most.values()) * len(most) / total, 4) if total else None,
    )
