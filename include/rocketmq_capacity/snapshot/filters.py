"""Filters: the share of a topic's messages that a group gets.

A broker hands out only the messages that match the expression, and the group's offset skips the rest. So the put rate
of a topic does not show the work of a group with a filter; the rate at which its clients consume does.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryConsumeStatus,
    InventoryGroup,
    InventoryGroupOffset,
    InventoryTopic,
    PassRatio,
    parse_utc,
)
from rocketmq_capacity.vocabulary import EVERY_MESSAGE, distinct, is_broadcasting, is_readable

COMMITTED_EVERY_S: Final = 5.0
"""A client commits its offsets at this interval (ClientConfig.persistConsumerOffsetInterval)."""
EVERYTHING: Final = (None, "", EVERY_MESSAGE)
"""Expressions that let every message through. Source: FilterAPI.buildSubscriptionData, rocketmq-all-5.3.3."""


def filtered_topics(group: InventoryGroup) -> list[str]:
    """The topics that the group or one of its clients reads through a filter, in Java's order."""
    of_clients = (client.subscriptions or () for client in group.clients or ())
    every = chain(group.subscriptions or (), chain.from_iterable(of_clients))
    return distinct(one.topic for one in every if one.expression not in EVERYTHING)


def pass_ratios(group: InventoryGroup, topics: Mapping[str, InventoryTopic], taken_at: str) -> dict[str, float | None]:
    """For each topic that the group filters: messages consumed / messages passed over; None if unknown.

    The messages that the group's offsets passed over are counted between the samples. The put rate is taken instead if
    there are no samples, or if the two differ no more than the moments of the commits explain: a group that keeps up
    passes over all messages.

    Args:
        group: the group, with its clients' rates.
        topics: the inventory's topics, by name.
        taken_at: the moment of the snapshot, UTC ISO-8601.
    """
    known = {one.topic: one.pass_ratio for one in group.pass_ratios or ()}
    return {
        name: known[name] if name in known else _pass_ratio(group, name, topics.get(name), taken_at)
        for name in filtered_topics(group)
    }


def _pass_ratio(group: InventoryGroup, name: str, topic: InventoryTopic | None, taken_at: str) -> float | None:
    consumed, passed = _consumed_msgs_per_s(group, name), _passed_msgs_per_s(group, name, topic, taken_at)
    if consumed is None or passed is None:
        return None
    if passed == 0:
        # Any share of no messages is none, so 1 is as good as any other ratio.
        return 1.0 if put_msgs_per_s(topic) == 0 else None
    return min(consumed / passed, 1.0)


def with_pass_ratios(inventory: Inventory) -> Inventory:
    """The inventory with every filter's ratio as a member, so that it stays when a scenario changes the clients."""
    topics = {topic.topic: topic for topic in inventory.topics}

    def with_ratios(group: InventoryGroup) -> InventoryGroup:
        ratios = pass_ratios(group, topics, inventory.taken_at)
        entries = tuple(PassRatio(topic=name, pass_ratio=ratio) for name, ratio in ratios.items())
        return replace(group, pass_ratios=entries) if entries else group

    return replace(inventory, consumer_groups=tuple(map(with_ratios, inventory.consumer_groups)))


def consumed_msgs_per_s(status: InventoryConsumeStatus) -> float | None:
    """Messages a second that a client consumes of a topic, with success or without; None if one part is unknown."""
    if status.consume_ok_msgs_per_s is None or status.consume_failed_msgs_per_s is None:
        return None
    return status.consume_ok_msgs_per_s + status.consume_failed_msgs_per_s


def _consumed_msgs_per_s(group: InventoryGroup, topic: str) -> float | None:
    """Messages a second of all clients, or of the average client of a broadcasting group; None if one is unknown."""
    clients, total = group.clients or (), 0.0
    for client in clients:
        if client.status is None:
            return None
        for status in client.status:
            if status.topic == topic:
                rate = consumed_msgs_per_s(status)
                if rate is None:
                    return None
                total += rate
    if not clients:
        return None
    return total / len(clients) if is_broadcasting(group.message_model) else total


def _passed_msgs_per_s(group: InventoryGroup, name: str, topic: InventoryTopic | None, taken_at: str) -> float | None:
    readable = set(_readable(topic))
    offsets = [one for one in group.offsets or () if (one.broker_name, one.queue_id) in readable and one.topic == name]
    advances = [_advance(offset, taken_at) for offset in offsets]
    known = [one for one in advances if one is not None]
    put = put_msgs_per_s(topic)
    if not readable or len(known) < len(readable):
        return put
    moved, seconds = sum(moved / seconds for moved, seconds in known), min(seconds for _, seconds in known)
    return put if put is not None and abs(moved - put) * seconds <= put * COMMITTED_EVERY_S else moved


def _advance(offset: InventoryGroupOffset, taken_at: str) -> tuple[int, float] | None:
    """How far the group's offset moved since the first sample, in messages, and in how many seconds.

    None without samples, and if the offset went back.
    """
    samples = sorted(offset.samples or (), key=lambda one: parse_utc(one.at))
    if not samples:
        return None
    first, seconds = samples[0], (parse_utc(taken_at) - parse_utc(samples[0].at)) / timedelta(seconds=1)
    if first.consumer_offset is None or offset.consumer_offset is None or seconds <= 0:
        return None
    moved = offset.consumer_offset - first.consumer_offset
    return (moved, seconds) if moved >= 0 else None


def put_msgs_per_s(topic: InventoryTopic | None) -> float | None:
    """Messages a second written to the readable queues; None if a rate is unknown, or if there is no queue."""
    readable = list(_readable(topic))
    rates = {(one.broker_name, one.queue_id): one.put_msgs_per_s for one in (topic.offsets if topic else None) or ()}
    return sum_of(map(rates.get, readable)) if readable else None


def _readable(topic: InventoryTopic | None) -> Iterator[tuple[str, int]]:
    for queues in (topic.queues if topic else None) or ():
        if is_readable(queues.perm, queues.read_queue_nums):
            for queue_id in range(queues.read_queue_nums or 0):
                yield queues.broker_name, queue_id
