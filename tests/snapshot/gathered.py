"""The units of an inventory, gathered from its tables: what :mod:`rocketmq_capacity.snapshot.units` has to equal."""

import struct
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import msgspec

from rocketmq_capacity import tables
from rocketmq_capacity.model.facts import GroupFacts, PastClients, SampledOffsets, TopicWithReaders
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, parse_utc
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.snapshot.tables import snapshot_tables
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.vocabulary import BUSINESS

Row = dict[str, Any]
Rows = Mapping[type[Dataset], list[Row]]


def gathered(
    inventory: Inventory, policy: Policy, history: Sequence[Inventory] = ()
) -> tuple[list[GroupFacts], list[TopicWithReaders]]:
    """The business groups and the topics, in the order of their tables."""
    rows = {dataset: table.to_pylist() for dataset, table in snapshot_tables(Resolved(inventory, policy, history))}
    topics = _topics(rows)
    # No table tells a group whose offsets nobody knows from one that has none.
    with_offsets = {group.consumer_group for group in inventory.consumer_groups if group.offsets is not None}
    return _groups(rows, topics), [
        msgspec.structs.replace(unit, past=_past(unit.facts.topic, inventory, history))
        for unit in _topic_units(rows, topics, with_offsets)
    ]


def _past(topic: str, inventory: Inventory, history: Sequence[Inventory]) -> PastClients | None:
    """No table has it."""
    told = [one for one in history if not one.failures]
    if not told:
        return None
    most = 0
    for group in (group for one in told for group in one.consumer_groups):
        clients = group.clients or ()
        own = [one.topic for client in clients for one in client.subscriptions or ()]
        named = [*own, *(one.topic for one in group.subscriptions or ()), *(one.topic for one in group.offsets or ())]
        if topic in named:
            if group.clients is None:
                return None
            most = max(most, len({client.client_id for client in clients}))
    age = max(parse_utc(inventory.taken_at) - parse_utc(one.taken_at) for one in told)
    return PastClients(days=age.total_seconds() / 86_400, different_days=len(told), most_clients=most)


def _topics(rows: Rows) -> dict[str, Row]:
    places, written = _by(rows[tables.TopicQueue], "topic"), _by(rows[tables.QueueOffset], "topic")
    return {
        row["topic"]: row | {"places": places[row["topic"]], "written": written[row["topic"]]}
        for row in rows[tables.Topic]
    }


def _groups(rows: Rows, topics: Mapping[str, Row]) -> list[GroupFacts]:
    oldest = {_queue(row): row["min_offset"] for row in rows[tables.QueueOffset]}
    of_group: dict[str, Iterable[Row]] = {
        "reads": [row | {"topic": topics[row["topic"]]} for row in rows[tables.Subscription]],
        "consumers": rows[tables.Consumer],
        "subscriptions": rows[tables.ConsumerSubscription],
        "owned": filter(_is_business, rows[tables.OwnedQueue]),
        "consumed": (
            row | {"msgs_per_s": _handled(row), "failed_msgs_per_s": row["consume_failed_msgs_per_s"]}
            for row in rows[tables.ConsumeStatus]
            if _is_business(row)
        ),
        "lags": [row | {"min_offset": oldest.get(_queue(row))} for row in rows[tables.GroupOffset]],
    }
    parts = {name: _by(each, "consumer_group") for name, each in of_group.items()}
    there = {(row["consumer_group"], *_queue(row)) for row in rows[tables.GroupOffset]}
    known = (row for row in rows[tables.OffsetSample] if (row["consumer_group"], *_queue(row)) in there)
    sampled = _by((row for row in known if not _is_unseen(rows, row)), "consumer_group")
    return [
        msgspec.structs.replace(
            msgspec.convert(row | {name: each[row["consumer_group"]] for name, each in parts.items()}, GroupFacts),
            sampled=_sampled(sampled[row["consumer_group"]]),
        )
        for row in filter(_is_business, rows[tables.ConsumerGroup])
    ]


def _sampled(rows: Sequence[Row]) -> SampledOffsets:
    def packed(kind: str, name: str) -> bytes:
        numbers = [-1 if number is None else number for row in rows for number in row[name]]
        return struct.pack(f"<{len(numbers)}{kind}", *numbers)

    return SampledOffsets(
        topics=tuple(row["topic"] for row in rows),
        brokers=tuple(row["broker_name"] for row in rows),
        queue_ids=tuple(row["queue_id"] for row in rows),
        counts=tuple(len(row["at_s"]) for row in rows),
        at_s=packed("d", "at_s"),
        broker_offset=packed("q", "broker_offset"),
        consumer_offset=packed("q", "consumer_offset"),
    )


def _queue(row: Row) -> tuple[str, str, int]:
    return row["topic"], row["broker_name"], row["queue_id"]


def _is_unseen(rows: Rows, queue: Row) -> bool:
    """Whether a queue is written and not read."""
    counts = [
        (row["read_queue_nums"], row["write_queue_nums"])
        for row in rows[tables.TopicQueue]
        if (row["topic"], row["broker_name"]) == (queue["topic"], queue["broker_name"])
    ]
    return any(None not in (read, write) and read < write and queue["queue_id"] >= read for read, write in counts)


def _topic_units(rows: Rows, topics: Mapping[str, Row], told: Collection[str]) -> list[TopicWithReaders]:
    groups = {
        row["consumer_group"]: row | {"has_offsets": row["consumer_group"] in told}
        for row in rows[tables.ConsumerGroup]
    }
    subscribed = {(row["topic"], row["consumer_group"]) for row in rows[tables.Subscription]}
    with_offsets = {(row["topic"], row["consumer_group"]) for row in rows[tables.GroupOffset]}
    readers = _by(
        (
            groups[group] | {"topic": topic, "is_subscribed": (topic, group) in subscribed}
            for topic, group in subscribed | with_offsets
        ),
        "topic",
    )
    stranded = _by((row for row in rows[tables.GroupOffset] if _is_unseen(rows, row)), "topic")
    return [
        msgspec.convert({"facts": facts, "readers": readers[name], "stranded": stranded[name]}, TopicWithReaders)
        for name, facts in topics.items()
    ]


def _handled(row: Row) -> float | None:
    ok, failed = row["consume_ok_msgs_per_s"], row["consume_failed_msgs_per_s"]
    return None if ok is None or failed is None else ok + failed


def _is_business(row: Row) -> bool:
    return bool(row["kind"] == BUSINESS)


def _by(rows: Iterable[Row], name: str) -> Mapping[str, list[Row]]:
    grouped: Mapping[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[row[name]].append(row)
    return grouped
