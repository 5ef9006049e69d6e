"""Inventory → units: one row with everything that the snapshot knows of a group, or of a topic.

The inventory is nested like a unit, so no tables have to be joined for its facts. A topic is encoded once, however many
groups read it.
"""

from collections.abc import Iterator, Sequence
from itertools import chain, islice
from typing import Any, Final

import pyarrow as pa
from msgspec import Raw
from msgspec.json import Encoder

from rocketmq_capacity import tables
from rocketmq_capacity.model.facts import (
    Consumed,
    Consumer,
    Lag,
    Observations,
    Owned,
    OwnSubscription,
    PastClients,
    Place,
    Reads,
    SampledOffsets,
    Stranded,
    TopicFacts,
    Written,
    lag_of,
)
from rocketmq_capacity.snapshot.dead_letters import dead_letters
from rocketmq_capacity.snapshot.filters import consumed_msgs_per_s
from rocketmq_capacity.snapshot.holding import Ages
from rocketmq_capacity.snapshot.inventory import (
    InventoryGroup,
    InventoryGroupOffset,
    InventoryOwnedQueue,
    InventoryTopic,
    InventoryTopicOffset,
    TopicQueues,
)
from rocketmq_capacity.snapshot.members import own_members, shared_members
from rocketmq_capacity.snapshot.past_clients import days_of, last_clients, most_clients
from rocketmq_capacity.snapshot.past_members import past_members
from rocketmq_capacity.snapshot.read import Read
from rocketmq_capacity.snapshot.resolved import Resolved, only_topics
from rocketmq_capacity.snapshot.unused import Unused
from rocketmq_capacity.tables.arrow import arrow_schema, table_of_columns
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.snapshot.groups import GroupPart
from rocketmq_capacity.tables.snapshot.topics import TopicPart
from rocketmq_capacity.vocabulary import BUSINESS, DEFAULT_PROTOCOL, distinct, is_write_only

ENCODER: Final = Encoder()
NO_ID: Final = 2**31
"""Above every queue id."""
UNITS_A_TABLE: Final = 250
"""Rows of each table that is written: few enough that Spark can give its tasks equal shares."""
SHORTEST_MS: Final = 1e-9
"""No mean of whole milliseconds over the calls of an hour is shorter, unless it is 0."""
LONGEST_MS: Final = 2.0**31
"""Three weeks."""
_OF_WRITTEN: Final = shared_members(InventoryTopicOffset, Written)

Unit = tuple[str | bytes, ...]
"""The values of a row, in the dataset's order. JSON stays as the encoder writes it: Arrow takes bytes for text."""


def _tables(dataset: type[Dataset], units: Iterator[Unit]) -> Iterator[tuple[type[Dataset], pa.Table]]:
    names = arrow_schema(dataset).names
    while batch := list(islice(units, UNITS_A_TABLE)):
        yield dataset, table_of_columns(dataset, dict(zip(names, zip(*batch, strict=True), strict=True)))


class UnitMaker:
    """Makes units, with what they need of other parts of the inventory."""

    def __init__(self, snapshot: Resolved) -> None:
        self.snapshot = snapshot
        declared = {topic.topic: topic for topic in snapshot.inventory.topics}
        names = distinct(chain(declared, *snapshot.topics_read))
        # As Raw, the encoder later copies it as it is.
        self.topic_facts = {name: Raw(ENCODER.encode(self._topic(name, declared.get(name)))) for name in names}
        self.unseen = {
            (topic.topic, queues.broker_name): first
            for topic in snapshot.inventory.topics
            for queues in topic.queues or ()
            if (first := _first_unseen(queues)) is not None
        }
        self.oldest = {
            (topic.topic, one.broker_name, one.queue_id): one.min_offset
            for topic in snapshot.inventory.topics
            for one in topic.offsets or ()
        }
        self.whole = [one for one in snapshot.history if not one.unanswered]
        self.most_clients = most_clients(snapshot.inventory, self.whole)
        self.days = days_of(snapshot.inventory, self.whole)
        self.different_days = len({one.taken_at_utc.date() for one in self.whole})
        self.unused = Unused(snapshot.inventory, self.whole)
        self.last_clients = last_clients(snapshot.inventory, self.whole)
        self.past_members = past_members(snapshot.inventory, self.whole, snapshot.rebalances)
        self.dead_letters = dead_letters(snapshot.inventory, self.whole)
        self.are_readers_known = snapshot.are_readers_known()

    @property
    def group_count(self) -> int:
        """At least the number of groups that have a unit."""
        return len(self.snapshot.inventory.consumer_groups)

    def group_tables(self) -> Iterator[tuple[type[Dataset], pa.Table]]:
        """The tables of ``group_unit``."""
        return _tables(tables.GroupUnit, self._groups())

    def topic_tables(self) -> Iterator[tuple[type[Dataset], pa.Table]]:
        """The tables of ``topic_unit``."""
        return _tables(tables.TopicUnit, self._topics())

    def _groups(self) -> Iterator[Unit]:
        """The business groups, in the inventory's order."""
        for group, topics, reads in self._each_group():
            if self.snapshot.kinds.of_group(group.consumer_group) != BUSINESS:
                continue
            facts = {
                **self._group(group, reads),
                "reads": [
                    {
                        **own_members(read.subscription, Reads),
                        "topic": self.topic_facts[read.topic],
                        "is_declared_by_group": read.subscription is not None,
                        "pass_ratio": self.snapshot.pass_ratio(read),
                        "message_request_mode": read.message_request_mode,
                        "pop_share_queue_num": read.pop_share_queue_num,
                    }
                    for read in reads
                ],
                "consumers": self._consumers(group, topics),
                "unused_days": self.unused.group_days.get(group.consumer_group),
            }
            if refusals := self.snapshot.refusals(group):
                facts["refusals"] = refusals
            if retry_queues := self.snapshot.retry_queues(group):
                facts["retry_queues"] = retry_queues
            if (letters := self.dead_letters.get(group.consumer_group)) is not None:
                facts["dead_letters"] = letters
            if (past := self.snapshot.past_hours.of_group(self.snapshot.business_ratios(reads))) is not None:
                facts["past"] = past
            if (last := self.last_clients.get(group.consumer_group)) is not None:
                facts["last_clients"] = last
            if (members := self.past_members.get(group.consumer_group)) is not None and members.came:
                facts["past_members"] = members
            parts = facts, self._observations(group), self._sampled(group)
            yield group.consumer_group, *map(ENCODER.encode, parts)

    def _topics(self) -> Iterator[Unit]:
        """Every topic that is declared or subscribed to, by name."""
        readers: dict[str, list[dict[str, Any]]] = {}
        stranded: dict[str, list[Stranded]] = {}
        for group, topics, reads in self._each_group():
            subscribed = set(topics)
            lacking = [one.broker_name for one in self.snapshot.refusals(group) if one.why == "NOT_CREATED"]
            facts = {**self._group(group, reads), "is_orderly": _is_meant_in_order(group), "refused_by": lacking}
            for topic in distinct(chain(topics, (offset.topic for offset in group.offsets or ()))):
                of_topic = {"is_subscribed": topic in subscribed, "has_offsets": group.offsets is not None}
                readers.setdefault(topic, []).append({**facts, **of_topic})
            for offset in group.offsets or ():
                if self._is_unseen(offset):
                    stranded.setdefault(offset.topic, []).append(_stranded(group, offset))
        for topic, encoded in self.topic_facts.items():
            unit: dict[str, Any] = {
                "facts": encoded,
                "readers": readers.get(topic, ()),
                "stranded": stranded.get(topic, ()),
                "are_readers_known": self.are_readers_known,
                "unused_days": self.unused.topic_days.get(topic),
            }
            most = self.most_clients.get(topic, 0)
            if self.whole and most is not None:
                unit["past"] = PastClients(days=self.days, different_days=self.different_days, most_clients=most)
            yield topic, ENCODER.encode(unit)

    def _is_unseen(self, offset: InventoryGroupOffset) -> bool:
        """Whether producers write to the queue, but consumers cannot see it."""
        return offset.queue_id >= self.unseen.get((offset.topic, offset.broker_name), NO_ID)

    def _each_group(self) -> Iterator[tuple[InventoryGroup, list[str], list[Read]]]:
        snapshot = self.snapshot
        return zip(snapshot.inventory.consumer_groups, snapshot.topics_read, snapshot.reads, strict=True)

    def _topic(self, name: str, topic: InventoryTopic | None) -> TopicFacts:
        snapshot = self.snapshot
        return TopicFacts(
            **{**own_members(topic, TopicPart), "topic": name},
            kind=snapshot.kinds.of_topic(name),
            is_declared=topic is not None,
            is_ordered=topic.order if topic else None,
            places=tuple(
                Place(
                    **own_members(queues, Place),
                    room=snapshot.room_of_broker(queues.broker_name),
                    broker_state=snapshot.state(queues.broker_name),
                    has_answered=snapshot.has_answered(queues.broker_name),
                )
                for queues in (topic.queues if topic else None) or ()
            ),
            written=tuple(Written(**_OF_WRITTEN(offset)) for offset in (topic.offsets if topic else None) or ()),
        )

    def _group(self, group: InventoryGroup, reads: Sequence[Read]) -> dict[str, Any]:
        clients = group.clients or ()
        return {
            **own_members(group, GroupPart),
            "kind": self.snapshot.kinds.of_group(group.consumer_group),
            "message_request_mode": self.snapshot.request_mode(group, reads),
            "is_orderly": group.orderly,
            "protocol": self.snapshot.protocols[group.consumer_group],
            "unseen_clients": self.snapshot.unseen_clients(group),
            "connections": len(clients),
            "distinct_client_ids": len({client.client_id for client in clients}),
        }

    def _consumers(self, group: InventoryGroup, topics: Sequence[str]) -> list[Consumer]:
        snapshot, clients = self.snapshot, group.clients or ()
        rooms, own_topics = snapshot.rooms_of(group), only_topics(group, topics)
        are_listed = snapshot.are_listed(group)
        return [
            Consumer(**{
                **own_members(client, Consumer),
                "consumer_index": index,
                "protocol": client.protocol or DEFAULT_PROTOCOL,
                "is_listed": are_listed[index],
                "room": rooms[index],
                "only_topics": None if (read_topics := own_topics[index]) is None else tuple(read_topics),
                "has_owned_queues": client.owned_queues is not None,
                "has_subscriptions": client.subscriptions is not None,
                "up_s": snapshot.up_s(client),
            })
            for index, client in enumerate(clients)
        ]

    def _observations(self, group: InventoryGroup) -> Observations:
        kind, clients = self.snapshot.kinds.of_topic, list(enumerate(group.clients or ()))
        return Observations(
            subscriptions=tuple(
                OwnSubscription(**own_members(own, OwnSubscription), consumer_index=index, kind=kind(own.topic))
                for index, client in clients
                for own in client.subscriptions or ()
            ),
            owned=tuple([
                _owned(client.client_id, queue, ages)
                for _, client in clients
                for queue, ages in zip(client.owned_queues or (), self.snapshot.ages_of(client), strict=True)
                if kind(queue.topic) == BUSINESS
            ]),
            consumed=tuple(
                Consumed(**{
                    **own_members(status, Consumed),
                    "consumer_index": index,
                    "client_id": client.client_id,
                    "consume_rt_ms": _believed(status.consume_rt_ms),
                    "msgs_per_s": consumed_msgs_per_s(status),
                    "failed_msgs_per_s": status.consume_failed_msgs_per_s,
                })
                for index, client in clients
                for status in client.status or ()
                if kind(status.topic) == BUSINESS
            ),
            lags=tuple(map(self._lag, group.offsets or ())),
        )

    def _lag(self, offset: InventoryGroupOffset) -> Lag:
        topic, broker_name, queue_id = offset.topic, offset.broker_name, offset.queue_id
        return Lag(
            topic=topic,
            broker_name=broker_name,
            queue_id=queue_id,
            consumer_offset=offset.consumer_offset,
            lag=lag_of(offset.broker_offset, offset.consumer_offset),
            behind_s=self.snapshot.behind_s(offset),
            min_offset=self.oldest.get((topic, broker_name, queue_id)),
        )

    def _sampled(self, group: InventoryGroup) -> SampledOffsets:
        """The samples of the queues that consumers see: for the others a live cluster gives only the last offset.

        A group without known subscriptions may read any business topic on which it has offsets.
        """

        def is_kept(offset: InventoryGroupOffset) -> bool:
            is_read = group.subscriptions or self.snapshot.kinds.of_topic(offset.topic) == BUSINESS
            return bool(is_read) and not self._is_unseen(offset)

        return self.snapshot.offset_samples.of_group(group.consumer_group, is_kept)


def _believed(call_ms: float | None) -> float | None:
    """The mean time of a call, 0 for no call; None for what no client measures, with which numbers would overflow."""
    return call_ms if call_ms is None or call_ms == 0 or SHORTEST_MS <= call_ms <= LONGEST_MS else None


def _first_unseen(queues: TopicQueues) -> int | None:
    """The first id of a queue that producers see and consumers do not; None without one."""
    read = 0 if is_write_only(queues.perm) else queues.read_queue_nums
    return read if read is not None and read < (queues.write_queue_nums or 0) else None


def _owned(client_id: str, queue: InventoryOwnedQueue, ages: Ages) -> Owned:
    return Owned(
        client_id=client_id,
        topic=queue.topic,
        broker_name=queue.broker_name,
        queue_id=queue.queue_id,
        dropped=queue.dropped,
        locked=queue.locked,
        cached_msgs=queue.cached_msgs,
        locked_ago_s=ages.locked_ago_s,
        pulled_ago_s=ages.pulled_ago_s,
        consumed_ago_s=ages.consumed_ago_s,
        silent_s=ages.silent_s,
    )


def _is_meant_in_order(group: InventoryGroup) -> bool | None:
    """Whether the group consumes in order, or is set so on a broker: then it may do so tomorrow."""
    return any(one.consume_message_orderly for one in group.settings or ()) or group.orderly


def _stranded(group: InventoryGroup, offset: InventoryGroupOffset) -> Stranded:
    return Stranded(
        consumer_group=group.consumer_group,
        broker_name=offset.broker_name,
        queue_id=offset.queue_id,
        consumer_offset=offset.consumer_offset,
    )
