"""Inventory → tables: every fact of the inventory, in the columns of the datasets.

Plain Python over the decoded file, column by column, because the tables of a large cluster have millions of rows. Kinds
of topics and groups, machine rooms, request modes and the brokers of failures are looked up once for each name.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from itertools import chain, repeat
from math import fsum
from operator import attrgetter
from typing import Any, NamedTuple, TypeVar

import pyarrow as pa
from msgspec import Struct

from rocketmq_capacity import tables
from rocketmq_capacity.model.arrays import Integers
from rocketmq_capacity.model.facts import UNKNOWN, lag_of
from rocketmq_capacity.snapshot.differences import nameserver_differences, slave_differences
from rocketmq_capacity.snapshot.fingerprint import fingerprint
from rocketmq_capacity.snapshot.gone_brokers import all_unread, gone_brokers
from rocketmq_capacity.snapshot.group_hours import group_days, group_hours
from rocketmq_capacity.snapshot.holding import Ages
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventorySubscription,
    InventoryTopic,
    MissingBroker,
    parse_utc,
)
from rocketmq_capacity.snapshot.offset_samples import OffsetSamples
from rocketmq_capacity.snapshot.past_brokers import PastLoad, past_loads
from rocketmq_capacity.snapshot.past_disks import past_disks
from rocketmq_capacity.snapshot.resolved import Resolved, only_topics
from rocketmq_capacity.snapshot.seconds import DAY_S, days_between
from rocketmq_capacity.tables.arrow import arrow_schema, table_of_columns
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.vocabulary import BUSINESS, DEFAULT_PROTOCOL, distinct, is_readable, java_order

Columns = dict[str, Any]
"""The values of each column of a table, by name: lists or Arrow arrays of the same length."""

_K = TypeVar("_K", bound=Hashable)
_V = TypeVar("_V")
_Owner = TypeVar("_Owner")
_Part = TypeVar("_Part")


def snapshot_tables(resolved: Resolved) -> Iterator[tuple[type[Dataset], pa.Table]]:
    """One Arrow table for each dataset of the snapshot, with rows in the inventory's order.

    They are made one by one, so that memory need not hold all at once.
    """
    snapshot, inventory = _TableColumns(resolved), resolved.inventory
    queues = snapshot.topic_queues()
    yield tables.TopicQueue, table_of_columns(tables.TopicQueue, queues)
    yield tables.Cluster, table_of_columns(tables.Cluster, snapshot.cluster(queues))
    columns: dict[type[Dataset], Callable[[], Columns]] = {
        tables.Broker: snapshot.brokers,
        tables.GoneBroker: snapshot.gone_brokers,
        tables.NameserverDifference: lambda: nameserver_differences(inventory),
        tables.SlaveDifference: lambda: slave_differences(inventory, resolved.seconds),
        tables.Topic: snapshot.topics,
        tables.QueueOffset: snapshot.queue_offsets,
        # Early, because the largest are written while others are made.
        tables.OffsetSample: lambda: _offset_samples(resolved.offset_samples),
        tables.GroupOffset: snapshot.group_offsets,
        tables.ConsumerGroup: snapshot.consumer_groups,
        tables.GroupSetting: snapshot.group_settings,
        tables.Subscription: snapshot.subscriptions,
        tables.Consumer: snapshot.consumers,
        tables.ConsumerSubscription: snapshot.consumer_subscriptions,
        tables.OwnedQueue: snapshot.owned_queues,
        tables.ConsumeStatus: snapshot.consume_statuses,
        tables.GroupHour: lambda: group_hours(resolved),
        tables.GroupDay: lambda: group_days(resolved),
        tables.Producer: lambda: _producers(inventory),
        tables.Failure: snapshot.failures,
    }
    for dataset, of in columns.items():
        yield dataset, table_of_columns(dataset, of())


def _producers(inventory: Inventory) -> Columns:
    producers = inventory.producers or ()
    names = ("producer_group", "client_id", "client_addr", "language", "version")
    columns: Columns = {name: [getattr(one, name) for one in producers] for name in names}
    return {**columns, "seen_on": [one.seen_on or () for one in producers]}


class _Member(NamedTuple):
    """The columns that identify a running consumer in every table."""

    consumer_group: str
    consumer_index: int
    client_id: str


class _TableColumns:
    """The columns of each table."""

    def __init__(self, resolved: Resolved) -> None:
        self.resolved, self.inventory = resolved, resolved.inventory
        groups = self.inventory.consumer_groups
        self.clients = [client for group in groups for client in group.clients or ()]
        self.members = [
            _Member(group.consumer_group, index, client.client_id)
            for group in groups
            for index, client in enumerate(group.clients or ())
        ]

    def cluster(self, queues: Columns) -> Columns:
        every = answered = 0
        for kind, perm, readable, has_answered in zip(
            queues["kind"], queues["perm"], queues["read_queue_nums"], queues["has_answered"], strict=True
        ):
            if kind == BUSINESS and is_readable(perm, readable):
                every += readable
                answered += readable if has_answered else 0
        return {
            "cluster_name": [self.inventory.cluster_name],
            "taken_at": [self.inventory.taken_at],
            "recorded_at": [self.inventory.recorded_at],
            "fingerprint": [fingerprint(self.inventory)],
            "nameservers": [self.inventory.nameservers or ()],
            "completeness_ratio": [answered / every if every else 1.0],
        }

    def brokers(self) -> Columns:
        brokers = self.inventory.brokers
        past = past_loads(self.inventory, self.resolved.history)
        known = past_disks(self.inventory, self.resolved.history, self.resolved.trend_days)
        disks = [known.get(one.broker_name, ()) if one.broker_id == 0 else () for one in brokers]
        loads = [past.get(one.broker_name, PastLoad()) if one.broker_id == 0 else PastLoad() for one in brokers]
        return {
            **_own_columns(tables.Broker, brokers),
            "seen_msgs_per_s": [one.seen_msgs_per_s for one in loads],
            "seen_bytes_per_s": [one.seen_bytes_per_s for one in loads],
            "seen_bytes_per_day": [one.bytes_per_day for one in loads],
            "disk_days_ago": [[self._days_ago(one.at) for one in each] for each in disks],
            "disk_used_ratios": [[one.used_ratio for one in each] for each in disks],
            "room": _resolved([broker.broker_name for broker in brokers], self.resolved.room_of_broker),
            "has_answered": [broker.broker_addr not in self.resolved.failed_addresses for broker in brokers],
        }

    def gone_brokers(self) -> Columns:
        resolved, names = self.resolved, arrow_schema(tables.GoneBroker).names
        gone = gone_brokers(self.inventory, resolved.history, resolved.stale_days)
        rows = [row for one in gone if (row := self._gone(one)).msgs_per_s]
        return {name: [getattr(row, name) for row in rows] for name in names}

    def _gone(self, broker: MissingBroker) -> tables.GoneBroker:
        kinds = self.resolved.kinds
        topics = [one for one in broker.topics if kinds.of_topic(one.topic) == BUSINESS]
        names = {one.topic for one in topics}
        readers = [
            one for one in broker.readers if one.topic in names and kinds.of_group(one.consumer_group) == BUSINESS
        ]
        return tables.GoneBroker(
            broker_name=broker.broker_name,
            broker_addr=broker.broker_addr,
            seen_at=broker.seen_at,
            seen_ago_s=self._days_ago(broker.seen_at) * DAY_S,
            msgs_per_s=fsum(one.put_msgs_per_s or 0.0 for one in topics),
            topics=tuple(sorted(names, key=java_order)),
            consumer_groups=tuple(sorted({one.consumer_group for one in readers}, key=java_order)),
            unread_msgs=all_unread(one.unread_msgs for one in readers),
        )

    def _days_ago(self, at: str) -> float:
        return days_between(parse_utc(at), self.inventory.taken_at_utc)

    def topics(self) -> Columns:
        declared = {topic.topic: topic for topic in self.inventory.topics}
        names = distinct(chain(declared, *self.resolved.topics_read))
        return {
            **_columns_if_known(tables.Topic, InventoryTopic, [declared.get(name) for name in names]),
            "topic": names,
            "is_declared": [name in declared for name in names],
            "is_ordered": [declared[name].order if name in declared else None for name in names],
            "kind": _resolved(names, self.resolved.kinds.of_topic),
        }

    def topic_queues(self) -> Columns:
        topics, queues = _flat((topic.topic, topic.queues) for topic in self.inventory.topics)
        brokers = [on_broker.broker_name for on_broker in queues]
        return {
            **_own_columns(tables.TopicQueue, queues),
            "topic": topics,
            "room": _resolved(brokers, self.resolved.room_of_broker),
            "kind": _resolved(topics, self.resolved.kinds.of_topic),
            "broker_state": _resolved(brokers, self.resolved.state),
            "has_answered": _resolved(brokers, self.resolved.has_answered),
        }

    def queue_offsets(self) -> Columns:
        topics, offsets = _flat((topic.topic, topic.offsets) for topic in self.inventory.topics)
        return {**_own_columns(tables.QueueOffset, offsets), "topic": topics}

    def consumer_groups(self) -> Columns:
        groups = self.inventory.consumer_groups
        return {
            **_own_columns(tables.ConsumerGroup, groups),
            "kind": [self.resolved.kinds.of_group(group.consumer_group) for group in groups],
            "message_request_mode": [
                self.resolved.request_mode(group, reads)
                for group, reads in zip(groups, self.resolved.reads, strict=True)
            ],
            "is_orderly": [group.orderly for group in groups],
            "protocol": [self.resolved.protocols[group.consumer_group] for group in groups],
            "unseen_clients": list(map(self.resolved.unseen_clients, groups)),
            "connections": [len(group.clients or ()) for group in groups],
            "distinct_client_ids": [len({client.client_id for client in group.clients or ()}) for group in groups],
        }

    def group_settings(self) -> Columns:
        rows = [
            (group.consumer_group, broker_name, settings)
            for group in self.inventory.consumer_groups
            for settings in group.settings or ()
            for broker_name in settings.broker_names
        ]
        return {
            **_own_columns(tables.GroupSetting, [settings for _, _, settings in rows]),
            "consumer_group": [group for group, _, _ in rows],
            "broker_name": [broker_name for _, broker_name, _ in rows],
        }

    def subscriptions(self) -> Columns:
        reads = list(chain.from_iterable(self.resolved.reads))
        topics = [read.topic for read in reads]
        return {
            **_columns_if_known(tables.Subscription, InventorySubscription, [read.subscription for read in reads]),
            "consumer_group": [read.group.consumer_group for read in reads],
            "topic": topics,
            "kind": _resolved(topics, self.resolved.kinds.of_topic),
            "is_declared_by_group": [read.subscription is not None for read in reads],
            "pass_ratio": [self.resolved.pass_ratio(read) for read in reads],
            "message_request_mode": [read.message_request_mode for read in reads],
            "pop_share_queue_num": [read.pop_share_queue_num for read in reads],
        }

    def consumers(self) -> Columns:
        groups = self.inventory.consumer_groups
        return {
            **_own_columns(tables.Consumer, self.clients),
            **_member_columns(self.members),
            "protocol": [client.protocol or DEFAULT_PROTOCOL for client in self.clients],
            "is_listed": list(chain.from_iterable(map(self.resolved.are_listed, groups))),
            "room": list(chain.from_iterable(map(self.resolved.rooms_of, groups))),
            "only_topics": list(chain.from_iterable(map(only_topics, groups, self.resolved.topics_read))),
            "has_owned_queues": [client.owned_queues is not None for client in self.clients],
            "has_subscriptions": [client.subscriptions is not None for client in self.clients],
            "up_s": list(map(self.resolved.up_s, self.clients)),
        }

    def consumer_subscriptions(self) -> Columns:
        return self._reported(tables.ConsumerSubscription, [client.subscriptions for client in self.clients])

    def owned_queues(self) -> Columns:
        ages = [age for client in self.clients for age in self.resolved.ages_of(client)]
        return {
            **self._reported(tables.OwnedQueue, [client.owned_queues for client in self.clients]),
            **dict(zip(Ages._fields, zip(*ages, strict=True) if ages else repeat(()), strict=False)),
        }

    def consume_statuses(self) -> Columns:
        return self._reported(tables.ConsumeStatus, [client.status for client in self.clients])

    def _reported(self, dataset: type[Dataset], of_clients: Sequence[Sequence[Any] | None]) -> Columns:
        """The columns of a dataset of what consumers report: one row for each consumer and part."""
        members, parts = _flat(zip(self.members, of_clients, strict=True))
        columns = {**_own_columns(dataset, parts), **_member_columns(members)}
        return {**columns, "kind": _resolved(columns["topic"], self.resolved.kinds.of_topic)}

    def group_offsets(self) -> Columns:
        groups, offsets = _flat((group.consumer_group, group.offsets) for group in self.inventory.consumer_groups)
        columns = _own_columns(tables.GroupOffset, offsets)
        return {
            **columns,
            "consumer_group": groups,
            "kind": _resolved(columns["topic"], self.resolved.kinds.of_topic),
            "lag": [lag_of(offset.broker_offset, offset.consumer_offset) for offset in offsets],
            "behind_s": [self.resolved.behind_s(offset) for offset in offsets],
        }

    def failures(self) -> Columns:
        failures = self.inventory.failures or ()
        return {
            **_own_columns(tables.Failure, failures),
            "broker_name": [self.resolved.name_at.get(failure.broker_addr) for failure in failures],
        }


def _offset_samples(samples: OffsetSamples) -> Columns:
    starts = pa.array(samples.starts, pa.int32())
    names = ("topic", "broker_name", "queue_id")
    return {
        "consumer_group": samples.groups,
        **{name: list(map(attrgetter(name), samples.queues)) for name in names},
        "at_s": pa.ListArray.from_arrays(starts, pa.array(samples.at_s)),
        "broker_offset": pa.ListArray.from_arrays(starts, _offsets(samples.broker_offset)),
        "consumer_offset": pa.ListArray.from_arrays(starts, _offsets(samples.consumer_offset)),
    }


def _offsets(offsets: Integers) -> pa.Array:
    return pa.array(offsets, mask=offsets == UNKNOWN)


def _own_columns(dataset: type[Dataset], parts: Sequence[Any]) -> Columns:
    """The dataset's columns that the parts of an inventory have under the same name."""
    if not parts:
        return {name: [] for name in arrow_schema(dataset).names}
    names = [name for name in arrow_schema(dataset).names if hasattr(parts[0], name)]
    return {name: list(map(attrgetter(name), parts)) for name in names}


def _columns_if_known(dataset: type[Dataset], kind: type[Struct], parts: Sequence[Struct | None]) -> Columns:
    """The same for parts that may be missing; the values of a missing part are None."""
    names = [name for name in arrow_schema(dataset).names if name in kind.__struct_fields__]
    return {name: [None if part is None else getattr(part, name) for part in parts] for name in names}


def _member_columns(members: Sequence[_Member]) -> Columns:
    return {name: list(map(attrgetter(name), members)) for name in _Member._fields}


def _flat(owned: Iterable[tuple[_Owner, Sequence[_Part] | None]]) -> tuple[list[_Owner], list[_Part]]:
    """Two lists of the same length: the owner of each part, and all parts."""
    owners: list[_Owner] = []
    every: list[_Part] = []
    for owner, parts in owned:
        if parts:
            owners += [owner] * len(parts)
            every += parts
    return owners, every


def _resolved(names: Sequence[_K], resolve: Callable[[_K], _V]) -> list[_V]:
    """What each name resolves to; equal names are resolved once."""
    known = {name: resolve(name) for name in set(names)}
    return [known[name] for name in names]
