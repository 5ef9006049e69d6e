"""The rows of a run that desired_state.yaml is made of, and the state that they say."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from rocketmq_capacity.plan_file.desired_state import (
    DesiredGroup,
    DesiredState,
    DesiredTopic,
    QueuesOnBroker,
    SettingsOnBrokers,
    SubscribedTopic,
)
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.vocabulary import BUSINESS, POP, java_order, own_perm


class TopicRow(NamedTuple):
    """Columns of ``topic``."""

    topic: str
    kind: str
    is_declared: bool
    message_type: str | None
    is_ordered: bool | None


class PlaceRow(NamedTuple):
    """Columns of ``topic_queue``."""

    topic: str
    kind: str
    broker_name: str
    read_queue_nums: int | None
    write_queue_nums: int | None
    perm: int | None


class BrokerRow(NamedTuple):
    """Columns of ``broker``."""

    broker_name: str
    broker_id: int
    broker_perm: int | None


class GroupRow(NamedTuple):
    """Columns of ``consumer_group``."""

    consumer_group: str
    kind: str
    message_model: str | None
    consume_type: str | None
    consume_from_where: str | None
    is_orderly: bool | None


class SettingRow(NamedTuple):
    """Columns of ``group_setting``."""

    consumer_group: str
    broker_name: str
    consume_enable: bool | None
    consume_broadcast_enable: bool | None
    consume_message_orderly: bool | None
    retry_queue_nums: int | None
    retry_max_times: int | None


class ReadRow(NamedTuple):
    """Columns of ``subscription``."""

    consumer_group: str
    topic: str
    kind: str
    expression_type: str | None
    expression: str | None
    message_request_mode: str
    pop_share_queue_num: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """Rows of each dataset, in any order; they are read once."""

    topics: Iterable[TopicRow] = ()
    places: Iterable[PlaceRow] = ()
    brokers: Iterable[BrokerRow] = ()
    groups: Iterable[GroupRow] = ()
    settings: Iterable[SettingRow] = ()
    reads: Iterable[ReadRow] = ()


def state_of(plan: Plan, observed: Observed) -> DesiredState:
    """Business topics and groups as the snapshot has them, every list in Java's order."""
    broker_perm = {row.broker_name: row.broker_perm for row in observed.brokers if row.broker_id == 0}
    queues: dict[str, list[QueuesOnBroker]] = {}
    for place in observed.places:
        if place.kind == BUSINESS:
            queues.setdefault(place.topic, []).append(_queues(place, broker_perm.get(place.broker_name)))
    settings = _settings(observed.settings)
    reads: dict[str, list[SubscribedTopic]] = {}
    for read in observed.reads:
        if read.kind == BUSINESS:
            reads.setdefault(read.consumer_group, []).append(_subscribed(read))
    topics = (
        DesiredTopic(
            topic=row.topic,
            message_type=row.message_type,
            order=row.is_ordered,
            queues=tuple(sorted(queues.get(row.topic, ()), key=lambda one: java_order(one.broker_name))),
        )
        for row in observed.topics
        if row.kind == BUSINESS and row.is_declared
    )
    groups = (
        DesiredGroup(
            consumer_group=row.consumer_group,
            message_model=row.message_model,
            consume_type=row.consume_type,
            consume_from_where=row.consume_from_where,
            orderly=row.is_orderly,
            settings=settings.get(row.consumer_group, ()),
            subscriptions=tuple(sorted(reads.get(row.consumer_group, ()), key=lambda one: java_order(one.topic))),
        )
        for row in observed.groups
        if row.kind == BUSINESS
    )
    return DesiredState(
        cluster_name=plan.cluster_name,
        taken_at=plan.taken_at,
        fingerprint=plan.fingerprint,
        topics=tuple(sorted(topics, key=lambda one: java_order(one.topic))),
        consumer_groups=tuple(sorted(groups, key=lambda one: java_order(one.consumer_group))),
    )


def _queues(row: PlaceRow, broker_perm: int | None) -> QueuesOnBroker:
    return QueuesOnBroker(
        broker_name=row.broker_name,
        read_queue_nums=row.read_queue_nums,
        write_queue_nums=row.write_queue_nums,
        perm=own_perm(row.perm, broker_perm),
    )


def _subscribed(row: ReadRow) -> SubscribedTopic:
    return SubscribedTopic(
        topic=row.topic,
        expression_type=row.expression_type,
        expression=row.expression,
        message_request_mode=row.message_request_mode,
        pop_share_queue_num=row.pop_share_queue_num if row.message_request_mode == POP else None,
    )


def _settings(rows: Iterable[SettingRow]) -> dict[str, tuple[SettingsOnBrokers, ...]]:
    """By group, its settings; brokers that have the same ones stand together."""
    alike: dict[str, dict[tuple[object, ...], list[str]]] = {}
    for row in sorted(rows, key=lambda one: java_order(one.broker_name)):
        group, broker_name, *values = row
        alike.setdefault(group, {}).setdefault(tuple(values), []).append(broker_name)
    names = SettingRow._fields[2:]
    return {
        group: tuple(
            msgspec.convert({"broker_names": brokers, **dict(zip(names, values, strict=True))}, SettingsOnBrokers)
            for values, brokers in each.items()
        )
        for group, each in alike.items()
    }
