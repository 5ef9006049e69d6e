"""Inventory → tables: every fact of the inventory under the contracts, with names resolved by the policy.

Plain Python over the decoded file, so that everything after it is a pure DataFrame → DataFrame. What is resolved here,
once: the kind of topics and groups, machine rooms, request modes, and which failures concern which broker.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.types import to_arrow_schema

from rocketmq_capacity import contracts
from rocketmq_capacity.config import Policy, Rooms
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.topic_queue import LOGICAL_BROKER_PREFIX
from rocketmq_capacity.snapshot.inventory import (
    Client,
    ConsumerGroup,
    GroupOffset,
    Inventory,
    distinct,
    fingerprint,
    parse_utc,
)
from rocketmq_capacity.snapshot.kinds import Kinds

Row = dict[str, Any]
READ = 4
"""PermName.PERM_READ."""


def snapshot_tables(
    inventory: Inventory, policy: Policy, history: Sequence[Inventory] = ()
) -> Mapping[type[Dataset], pa.Table]:
    """One Arrow table for each snapshot dataset; ``history`` is oldest first and lends its offset samples."""
    snapshot = _Snapshot(inventory, policy, history)
    rows: dict[type[Dataset], Iterator[Row]] = {
        contracts.Cluster: snapshot.cluster(),
        contracts.Broker: snapshot.brokers(),
        contracts.Topic: snapshot.topics(),
        contracts.TopicQueue: snapshot.topic_queues(),
        contracts.QueueOffset: snapshot.queue_offsets(),
        contracts.ConsumerGroup: snapshot.consumer_groups(),
        contracts.Subscription: snapshot.subscriptions(),
        contracts.Consumer: snapshot.consumers(),
        contracts.ConsumerSubscription: snapshot.consumer_subscriptions(),
        contracts.OwnedQueue: snapshot.owned_queues(),
        contracts.ConsumeStatus: snapshot.consume_statuses(),
        contracts.GroupOffset: snapshot.group_offsets(),
        contracts.OffsetSample: snapshot.offset_samples(),
        contracts.Failure: snapshot.failures(),
    }
    return {
        dataset: pa.Table.from_pylist(list(of), schema=to_arrow_schema(dataset.spark_schema()))
        for dataset, of in rows.items()
    }


class _Snapshot:
    """The inventory with the look-ups that several tables share."""

    def __init__(self, inventory: Inventory, policy: Policy, history: Sequence[Inventory]) -> None:
        self.inventory, self.history = inventory, history
        self.rooms = policy.rooms or Rooms()
        self.kinds = Kinds(inventory, policy.exclude)
        failed = {failure.broker_addr for failure in inventory.failures or ()}
        self.failed_addresses = failed
        self.name_at = {b.broker_addr: b.broker_name for b in inventory.brokers if b.broker_addr}
        silent = {self.name_at[address] for address in failed if address in self.name_at}
        self.present = {broker.broker_name for broker in inventory.brokers}
        self.masters = {broker.broker_name for broker in inventory.brokers if broker.broker_id == 0}
        self.answering = self.present - silent

    def cluster(self) -> Iterator[Row]:
        every = answered = 0
        for queues in self.topic_queues():
            if queues["kind"] == "BUSINESS" and (queues["perm"] or 0) & READ:
                readable = queues["read_queue_nums"] or 0
                every += readable
                answered += readable if queues["has_answered"] else 0
        yield {
            "cluster_name": self.inventory.cluster_name,
            "taken_at": self.inventory.taken_at,
            "fingerprint": fingerprint(self.inventory),
            "nameservers": list(self.inventory.nameservers or ()),
            "completeness_ratio": answered / every if every else 1.0,
        }

    def brokers(self) -> Iterator[Row]:
        for broker in self.inventory.brokers:
            yield {
                "broker_name": broker.broker_name,
                "broker_id": broker.broker_id,
                "broker_addr": broker.broker_addr,
                "broker_perm": broker.broker_perm,
                "version": broker.version,
                "config": list(broker.config.items()) if broker.config is not None else None,
                "runtime": list(broker.runtime.items()) if broker.runtime is not None else None,
                "room": self.rooms.of_broker(broker.broker_name),
                "has_answered": broker.broker_addr not in self.failed_addresses,
            }

    def topics(self) -> Iterator[Row]:
        declared = {topic.topic: topic for topic in self.inventory.topics}
        subscribed = chain.from_iterable(map(_topics_of, self.inventory.consumer_groups))
        for name in distinct(chain(declared, subscribed)):
            topic = declared.get(name)
            yield {
                "topic": name,
                "is_declared": topic is not None,
                "message_type": topic.message_type if topic else None,
                "is_ordered": topic.order if topic else None,
                "kind": self.kinds.of_topic(name),
            }

    def topic_queues(self) -> Iterator[Row]:
        for topic in self.inventory.topics:
            kind = self.kinds.of_topic(topic.topic)
            for queues in topic.queues or ():
                name = queues.broker_name
                yield {
                    "topic": topic.topic,
                    "broker_name": name,
                    "read_queue_nums": queues.read_queue_nums,
                    "write_queue_nums": queues.write_queue_nums,
                    "perm": queues.perm,
                    "room": self.rooms.of_broker(name),
                    "kind": kind,
                    "broker_state": self._state(name),
                    # A logical broker is asked nothing; where its queues really are, other rows tell.
                    "has_answered": name in self.answering or name.startswith(LOGICAL_BROKER_PREFIX),
                }

    def _state(self, broker_name: str) -> str:
        if broker_name in self.masters:
            return "MASTER"
        return "MASTERLESS" if broker_name in self.present else "ABSENT"

    def queue_offsets(self) -> Iterator[Row]:
        for topic in self.inventory.topics:
            for offset in topic.offsets or ():
                yield {
                    "topic": topic.topic,
                    "broker_name": offset.broker_name,
                    "queue_id": offset.queue_id,
                    "min_offset": offset.min_offset,
                    "max_offset": offset.max_offset,
                    "put_msgs_per_s": offset.put_msgs_per_s,
                }

    def consumer_groups(self) -> Iterator[Row]:
        for group in self.inventory.consumer_groups:
            clients = group.clients or ()
            modes = {row["message_request_mode"] for row in self._subscriptions_of(group) if row["kind"] == "BUSINESS"}
            mode = "MIXED" if len(modes) > 1 else next(iter(modes), group.message_request_mode or "PULL")
            yield {
                "consumer_group": group.consumer_group,
                "kind": self.kinds.of_group(group.consumer_group),
                "message_model": group.message_model,
                "consume_type": group.consume_type,
                "message_request_mode": mode,
                "is_orderly": group.orderly,
                "connections": len(clients),
                "distinct_client_ids": len({client.client_id for client in clients}),
            }

    def subscriptions(self) -> Iterator[Row]:
        for group in self.inventory.consumer_groups:
            yield from self._subscriptions_of(group)

    def _subscriptions_of(self, group: ConsumerGroup) -> Iterator[Row]:
        own = {subscription.topic: subscription for subscription in group.subscriptions or ()}
        for topic in _topics_of(group):
            subscription = own.get(topic)
            mode = (subscription.message_request_mode if subscription else None) or group.message_request_mode
            share = subscription.pop_share_queue_num if subscription else None
            share = group.pop_share_queue_num if share is None else share
            yield {
                "consumer_group": group.consumer_group,
                "topic": topic,
                "kind": self.kinds.of_topic(topic),
                "is_declared_by_group": subscription is not None,
                "expression_type": subscription.expression_type if subscription else None,
                "expression": subscription.expression if subscription else None,
                "message_request_mode": mode or "PULL",
                "pop_share_queue_num": -1 if share is None else share,
            }

    def consumers(self) -> Iterator[Row]:
        for group, index, client in self._clients():
            if index == 0:
                topics, rooms = _topics_of(group), self._rooms_of(group)
            reads = _reads(client, group)
            yield {
                "consumer_group": group.consumer_group,
                "consumer_index": index,
                "client_id": client.client_id,
                "client_addr": client.client_addr,
                "language": client.language,
                "version": client.version,
                "seen_on": list(client.seen_on) if client.seen_on is not None else None,
                "started_at": client.started_at,
                "allocate_strategy": client.allocate_strategy,
                "consume_threads": client.consume_threads,
                "consume_batch_size": client.consume_batch_size,
                "pull_threshold_for_queue": client.pull_threshold_for_queue,
                "pull_threshold_size_for_queue_mib": client.pull_threshold_size_for_queue_mib,
                "room": rooms.get(client.client_id),
                "only_topics": None if len(reads) == len(topics) else reads,
                "has_owned_queues": client.owned_queues is not None,
                "has_subscriptions": client.subscriptions is not None,
                "up_s": self._up_s(client),
            }

    def _rooms_of(self, group: ConsumerGroup) -> dict[str, str]:
        """One room a client id, as RocketMQ's resolver is asked by id alone: the first consumer's that has one."""
        rooms: dict[str, str] = {}
        for client in group.clients or ():
            if client.client_id not in rooms and (room := self.rooms.of_client(client.client_id, client.client_addr)):
                rooms[client.client_id] = room
        return rooms

    def _up_s(self, client: Client) -> float | None:
        if client.started_at is None:
            return None
        return (self.inventory.taken_at_utc - parse_utc(client.started_at)).total_seconds()

    def consumer_subscriptions(self) -> Iterator[Row]:
        for group, index, client in self._clients():
            for subscription in client.subscriptions or ():
                yield {
                    "consumer_group": group.consumer_group,
                    "consumer_index": index,
                    "client_id": client.client_id,
                    "topic": subscription.topic,
                    "kind": self.kinds.of_topic(subscription.topic),
                    "expression_type": subscription.expression_type,
                    "expression": subscription.expression,
                }

    def owned_queues(self) -> Iterator[Row]:
        for group, index, client in self._clients():
            for queue in client.owned_queues or ():
                yield {
                    "consumer_group": group.consumer_group,
                    "consumer_index": index,
                    "client_id": client.client_id,
                    "topic": queue.topic,
                    "broker_name": queue.broker_name,
                    "queue_id": queue.queue_id,
                    "kind": self.kinds.of_topic(queue.topic),
                }

    def consume_statuses(self) -> Iterator[Row]:
        for group, index, client in self._clients():
            for status in client.status or ():
                yield {
                    "consumer_group": group.consumer_group,
                    "consumer_index": index,
                    "client_id": client.client_id,
                    "topic": status.topic,
                    "kind": self.kinds.of_topic(status.topic),
                    "consume_rt_ms": status.consume_rt_ms,
                    "consume_ok_msgs_per_s": status.consume_ok_msgs_per_s,
                    "consume_failed_msgs_per_s": status.consume_failed_msgs_per_s,
                }

    def _clients(self) -> Iterator[tuple[ConsumerGroup, int, Client]]:
        for group in self.inventory.consumer_groups:
            for index, client in enumerate(group.clients or ()):
                yield group, index, client

    def group_offsets(self) -> Iterator[Row]:
        for group in self.inventory.consumer_groups:
            for offset in group.offsets or ():
                known = offset.broker_offset is not None and offset.consumer_offset is not None
                yield {
                    "consumer_group": group.consumer_group,
                    "topic": offset.topic,
                    "kind": self.kinds.of_topic(offset.topic),
                    "broker_name": offset.broker_name,
                    "queue_id": offset.queue_id,
                    "broker_offset": offset.broker_offset,
                    "consumer_offset": offset.consumer_offset,
                    "lag": max(0, (offset.broker_offset or 0) - (offset.consumer_offset or 0)) if known else None,
                    "last_timestamp": offset.last_timestamp,
                }

    def offset_samples(self) -> Iterator[Row]:
        """Each queue's samples by time; where two are of one moment the later inventory's stands."""
        samples: dict[tuple[str, str, str, int, float], Row] = {}
        for inventory in (*self.history, self.inventory):
            for group in inventory.consumer_groups:
                for offset in group.offsets or ():
                    for at_s, broker_offset, consumer_offset in _samples_of(offset, inventory):
                        key = (group.consumer_group, offset.topic, offset.broker_name, offset.queue_id, at_s)
                        samples[key] = {
                            "consumer_group": group.consumer_group,
                            "topic": offset.topic,
                            "broker_name": offset.broker_name,
                            "queue_id": offset.queue_id,
                            "at_s": at_s,
                            "broker_offset": broker_offset,
                            "consumer_offset": consumer_offset,
                        }
        yield from samples.values()

    def failures(self) -> Iterator[Row]:
        for failure in self.inventory.failures or ():
            yield {
                "broker_addr": failure.broker_addr,
                "broker_name": self.name_at.get(failure.broker_addr),
                "request": failure.request,
                "error": failure.error,
            }


def _topics_of(group: ConsumerGroup) -> list[str]:
    """The topics that the group or any of its clients subscribes."""
    clients = (client.subscriptions or () for client in group.clients or ())
    return distinct(s.topic for s in chain(group.subscriptions or (), chain.from_iterable(clients)))


def _reads(client: Client, group: ConsumerGroup) -> list[str]:
    """The topics that this client subscribes: its own, or its group's where it did not report any."""
    own = group.subscriptions if client.subscriptions is None else client.subscriptions
    return distinct(subscription.topic for subscription in own or ())


def _samples_of(offset: GroupOffset, inventory: Inventory) -> Iterator[tuple[float, int | None, int | None]]:
    for sample in offset.samples or ():
        yield parse_utc(sample.at).timestamp(), sample.broker_offset, sample.consumer_offset
    yield inventory.taken_at_utc.timestamp(), offset.broker_offset, offset.consumer_offset
