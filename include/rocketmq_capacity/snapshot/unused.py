"""Since when topics are not written and groups not used, as far as an inventory and its history prove it.

Offsets of queues only grow: if they are what they were, nothing was written or read in between.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import takewhile

from rocketmq_capacity.snapshot.inventory import Inventory, InventoryGroup, InventoryTopic, parse_utc
from rocketmq_capacity.snapshot.past_clients import has_read, last_sampled_clients
from rocketmq_capacity.snapshot.past_rates import ends_of
from rocketmq_capacity.snapshot.seconds import days_between

Place = tuple[str, int]
"""The broker and the id of a queue of a topic."""
Ends = Mapping[Place, int]
"""By queue the offset that its next message will be written at."""


class Unused:
    """The days for which topics and groups are proven to be unused; those without a proof are missing.

    Attributes:
        topic_days: by topic, days without a message written, where everything that is kept is read.
        group_days: by group, days without clients and without a commit.
    """

    def __init__(self, inventory: Inventory, history: Sequence[Inventory]) -> None:
        now = inventory.taken_at_utc
        idle = _read_topics(inventory, {one.topic: ends for one in inventory.topics if (ends := _idle_ends(one))})
        self.topic_days = _days_of_last_messages(inventory, idle, now)
        for name, silent in _days_of_rates(inventory, idle, now).items():
            self.topic_days[name] = max(silent, self.topic_days.get(name, 0.0))
        self.group_days: dict[str, float] = {}
        topics = dict(idle)
        groups = {one.consumer_group: one for one in inventory.consumer_groups if one.clients == () and has_read(one)}
        seen = {name: last_sampled_clients(group, now) for name, group in groups.items()}
        for earlier in reversed(history):
            days = days_between(earlier.taken_at_utc, now)
            then = ends_of(earlier) if topics else {}
            topics = {name: ends for name, ends in topics.items() if ends.items() <= then.get(name, {}).items()}
            groups = {
                one.consumer_group: groups[one.consumer_group]
                for one in earlier.consumer_groups
                if one.consumer_group in groups
                and _is_unchanged(one, groups[one.consumer_group])
                and _is_after(earlier.taken_at_utc, seen[one.consumer_group])
            }
            for name in topics:
                self.topic_days[name] = max(days, self.topic_days.get(name, 0.0))
            self.group_days.update(dict.fromkeys(groups, days))


def _idle_ends(topic: InventoryTopic) -> Ends:
    """The ends of the queues of a topic to which nothing is written now; empty if one is unknown or written to."""
    ends: dict[Place, int] = {}
    for offset in topic.offsets or ():
        if offset.max_offset is None or offset.put_msgs_per_s:
            return {}
        ends[offset.broker_name, offset.queue_id] = offset.max_offset
    is_known = all(
        (place.broker_name, number) in ends
        for place in topic.queues or ()
        for number in range(max(place.read_queue_nums or 0, place.write_queue_nums or 0))
    )
    return ends if is_known else {}


def _read_topics(inventory: Inventory, ends: Mapping[str, Ends]) -> dict[str, Ends]:
    """The topics of which no group has something left to read."""
    oldest = {
        (topic.topic, one.broker_name, one.queue_id): one.min_offset
        for topic in inventory.topics
        if topic.topic in ends
        for one in topic.offsets or ()
    }
    unread = {
        offset.topic
        for group in inventory.consumer_groups
        for offset in group.offsets or ()
        if offset.topic in ends
        and ends[offset.topic].get((offset.broker_name, offset.queue_id), 0)
        > max(offset.consumer_offset or 0, oldest.get((offset.topic, offset.broker_name, offset.queue_id)) or 0)
    }
    return {name: each for name, each in ends.items() if name not in unread}


def _days_of_last_messages(inventory: Inventory, ends: Mapping[str, Ends], now: datetime) -> dict[str, float]:
    """By topic the age of its last message, if groups that have read each of its queues to the end tell it."""
    last: dict[tuple[str, Place], datetime] = {}
    for group in inventory.consumer_groups:
        for offset in group.offsets or ():
            place = offset.broker_name, offset.queue_id
            if (
                offset.topic in ends
                and offset.last_timestamp
                and offset.consumer_offset == ends[offset.topic].get(place)
            ):
                at = parse_utc(offset.last_timestamp)
                last[offset.topic, place] = max(at, last.get((offset.topic, place), at))
    days: dict[str, float] = {}
    for topic, end_of in ends.items():
        written = [last.get((topic, place)) for place, end in end_of.items() if end]
        known = [at for at in written if at is not None]
        if known and len(known) == len(written):
            days[topic] = days_between(max(known), now)
    return days


def _days_of_rates(inventory: Inventory, ends: Mapping[str, Ends], now: datetime) -> dict[str, float]:
    """By topic since when its stored rates have been 0 without a break: each is the mean until the next one.

    A stored day without a mean tells nothing of the time after it.
    """
    days: dict[str, float] = {}
    for topic in inventory.topics:
        if topic.topic not in ends:
            continue
        newest_first = sorted(topic.rates or (), key=lambda rate: parse_utc(rate.at), reverse=True)
        silent = list(takewhile(lambda rate: rate.mean_msgs_per_s == 0 and not rate.put_msgs_per_s, newest_first))
        if silent:
            days[topic.topic] = days_between(parse_utc(silent[-1].at), now)
    return days


def _is_unchanged(then: InventoryGroup, now: InventoryGroup) -> bool:
    """Whether a group had no clients then, and the offsets of today."""
    return then.clients == () and _committed(then) == _committed(now)


def _is_after(at: datetime, seen: datetime | None) -> bool:
    """Whether samples saw no client of a group from this moment on; ``seen`` ends the last hour in which they did."""
    return seen is None or at >= seen


def _committed(group: InventoryGroup) -> dict[tuple[str, Place], int | None]:
    return {(one.topic, (one.broker_name, one.queue_id)): one.consumer_offset for one in group.offsets or ()}
