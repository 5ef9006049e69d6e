"""Filters: which share of a topic's messages a group gets.

A broker hands out what the expression lets through, and a group's offset passes over the rest. So the put rate of a
topic says nothing of what a filtering group has to do; what its clients consume does.
"""

from collections.abc import Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.snapshot.inventory import (
    ConsumerGroup,
    ConsumeStatus,
    GroupOffset,
    Inventory,
    PassRatio,
    Topic,
    distinct,
    parse_utc,
)
from rocketmq_capacity.vocabulary import is_broadcasting, is_readable

COMMITTED_EVERY_S: Final = 5.0
"""A client's offsets reach the broker all so often (ClientConfig.persistConsumerOffsetInterval)."""
EVERYTHING: Final = (None, "", "*")
"""Expressions that let every message through. Source: FilterAPI.buildSubscriptionData, rocketmq-all-5.3.3."""


def filtered_topics(group: ConsumerGroup) -> list[str]:
    """The topics of which the group, or one of its clients, does not ask for every message; sorted."""
    own = (client.subscriptions or () for client in group.clients or ())
    every = chain(group.subscriptions or (), chain.from_iterable(own))
    return distinct(one.topic for one in every if one.expression not in EVERYTHING)


def pass_ratios(group: ConsumerGroup, topics: Mapping[str, Topic], taken_at: str) -> dict[str, float | None]:
    """Of each topic that the group filters: messages consumed / messages passed over; None where it cannot be told.

    How many messages a second are passed over is how far the group's offsets moved between the samples. It is how many
    are written where there are no samples, and where the difference may come of when the clients commit: a group that
    keeps up passes over all of them.

    Args:
        group: the group, with its clients' rates.
        topics: the inventory's, by name.
        taken_at: the moment of the snapshot.
    """
    known = {one.topic: one.pass_ratio for one in group.pass_ratios or ()}
    return {
        name: known[name] if name in known else _pass_ratio(group, name, topics.get(name), taken_at)
        for name in filtered_topics(group)
    }


def _pass_ratio(group: ConsumerGroup, name: str, topic: Topic | None, taken_at: str) -> float | None:
    consumed, passed = _consumed_msgs_per_s(group, name), _passed_msgs_per_s(group, name, topic, taken_at)
    if consumed is None or passed is None:
        return None
    if passed == 0:
        # Where nothing comes, any share of it is nothing.
        return 1.0 if _put_msgs_per_s(topic) == 0 else None
    return min(consumed / passed, 1.0)


def with_pass_ratios(inventory: Inventory) -> Inventory:
    """The inventory with the ratio of every filter as a fact of its own, which a change of clients leaves as it is."""
    topics = {topic.topic: topic for topic in inventory.topics}

    def with_ratios(group: ConsumerGroup) -> ConsumerGroup:
        ratios = pass_ratios(group, topics, inventory.taken_at)
        each = tuple(PassRatio(topic=name, pass_ratio=ratio) for name, ratio in ratios.items())
        return replace(group, pass_ratios=each) if each else group

    return replace(inventory, consumer_groups=tuple(map(with_ratios, inventory.consumer_groups)))


def consumed_msgs_per_s(status: ConsumeStatus) -> float | None:
    """Messages a second that a client handles of a topic, well or not."""
    if status.consume_ok_msgs_per_s is None or status.consume_failed_msgs_per_s is None:
        return None
    return status.consume_ok_msgs_per_s + status.consume_failed_msgs_per_s


def _consumed_msgs_per_s(group: ConsumerGroup, topic: str) -> float | None:
    """Of all clients; of a broadcasting group, of each client on average. None where a client's is unknown."""
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


def _passed_msgs_per_s(group: ConsumerGroup, name: str, topic: Topic | None, taken_at: str) -> float | None:
    readable = set(_readable(topic))
    offsets = [one for one in group.offsets or () if (one.broker_name, one.queue_id) in readable and one.topic == name]
    advances = [_advance(offset, taken_at) for offset in offsets]
    known = [one for one in advances if one is not None]
    put = _put_msgs_per_s(topic)
    if not readable or len(known) < len(readable):
        return put
    moved, seconds = sum(moved / seconds for moved, seconds in known), min(seconds for _, seconds in known)
    return put if put is not None and abs(moved - put) * seconds <= put * COMMITTED_EVERY_S else moved


def _advance(offset: GroupOffset, taken_at: str) -> tuple[int, float] | None:
    """How far the group's offset moved since the first sample, in messages and seconds.

    None without samples, and where it went back.
    """
    samples = sorted(offset.samples or (), key=lambda one: parse_utc(one.at))
    if not samples:
        return None
    first, seconds = samples[0], (parse_utc(taken_at) - parse_utc(samples[0].at)) / timedelta(seconds=1)
    if first.consumer_offset is None or offset.consumer_offset is None or seconds <= 0:
        return None
    moved = offset.consumer_offset - first.consumer_offset
    return (moved, seconds) if moved >= 0 else None


def _put_msgs_per_s(topic: Topic | None) -> float | None:
    """Written to the readable queues; None where a queue's rate is unknown, and where there is no queue."""
    readable = list(_readable(topic))
    rates = {(one.broker_name, one.queue_id): one.put_msgs_per_s for one in (topic.offsets if topic else None) or ()}
    known = [rate for queue in readable if (rate := rates.get(queue)) is not None]
    return sum(known) if readable and len(known) == len(readable) else None


def _readable(topic: Topic | None) -> Iterator[tuple[str, int]]:
    for place in (topic.queues if topic else None) or ():
        if is_readable(place.perm, place.read_queue_nums):
            for queue_id in range(place.read_queue_nums or 0):
                yield place.broker_name, queue_id
