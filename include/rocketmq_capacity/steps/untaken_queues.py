"""Queues that no client has taken yet, as the clients themselves report what they own."""

from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.handover.observed import PlaceRow
from rocketmq_capacity.simulation.lost_masters import ReadsRow
from rocketmq_capacity.steps.reported_rows import records
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.tables.rows import table_in
from rocketmq_capacity.vocabulary import BUSINESS, CLUSTERING, CONSUME_PASSIVELY, PULL, is_readable

PLACE: Final = ("topic", "broker_name")


class _HowItReads(NamedTuple):
    consumer_group: str
    message_model: str | None
    consume_type: str | None


class _TellingClient(NamedTuple):
    consumer_group: str
    has_owned_queues: bool


def untaken_queues(run: Run, places: Sequence[PlaceRow], brokers: Collection[str]) -> dict[str, int]:
    """By group, the queues of business topics on these brokers that none of its clients owns.

    Only of groups whose clients divide queues that are pushed to them, and whose every client said what it owns.
    Millions of owned queues are counted in Arrow, and never become Python's.
    """
    readable = {
        (place.topic, place.broker_name): place.read_queue_nums or 0
        for place in places
        if place.broker_name in brokers and is_readable(place.perm, place.read_queue_nums)
    }
    queues: dict[str, int] = {}
    for (topic, _), number in readable.items():
        queues[topic] = queues.get(topic, 0) + number
    owned, groups = _owned(run, readable), _telling(run)
    untaken: dict[str, int] = {}
    for read in records(run, tables.Subscription, ReadsRow):
        group = read.consumer_group
        if group in groups and read.message_request_mode == PULL:
            left = queues.get(read.topic, 0) - owned.get((group, read.topic), 0)
            untaken[group] = untaken.get(group, 0) + left
    return {group: number for group, number in untaken.items() if number}


def _telling(run: Run) -> set[str]:
    """The groups whose clients divide queues that are pushed to them, and all say what they own."""
    clients = list(records(run, tables.Consumer, _TellingClient))
    silent = {one.consumer_group for one in clients if not one.has_owned_queues}
    divide = {
        one.consumer_group
        for one in records(run, tables.ConsumerGroup, _HowItReads)
        if one.message_model == CLUSTERING and one.consume_type == CONSUME_PASSIVELY
    }
    return divide & {one.consumer_group for one in clients} - silent


def _owned(run: Run, readable: dict[tuple[str, str], int]) -> dict[tuple[str, str], int]:
    """By group and topic, the readable queues of these places that some client owns."""
    files = run.files(tables.OwnedQueue.dataset_name())
    names = ["consumer_group", *PLACE, "queue_id"]
    owned = table_in(files, tables.OwnedQueue, names, pc.field("kind").cast(pa.string()) == BUSINESS)
    owned = owned.cast(pa.schema([*((name, pa.string()) for name in names[:3]), ("queue_id", pa.int64())]))
    ends = pa.table({
        "topic": pa.array([topic for topic, _ in readable], pa.string()),
        "broker_name": pa.array([broker for _, broker in readable], pa.string()),
        "end": pa.array(readable.values(), pa.int64()),
    })
    there = owned.join(ends, [*PLACE], join_type="inner")
    there = there.filter((pc.field("queue_id") >= 0) & (pc.field("queue_id") < pc.field("end")))
    one_each = there.group_by(names).aggregate([])
    counts = one_each.group_by(["consumer_group", "topic"]).aggregate([([], "count_all")])
    return {(row["consumer_group"], row["topic"]): row["count_all"] for row in counts.to_pylist()}
