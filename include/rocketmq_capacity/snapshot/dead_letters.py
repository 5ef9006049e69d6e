"""How many messages of each group went to its dead-letter topic, whose offsets only grow."""

from collections.abc import Mapping, Sequence
from datetime import timedelta
from math import fsum
from typing import Final

from rocketmq_capacity.model.facts import DeadLetters
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopic, parse_utc
from rocketmq_capacity.snapshot.seconds import HOUR_S
from rocketmq_capacity.vocabulary import DLQ_PREFIX

LEAST: Final = timedelta(hours=20)
"""The count goes back to the last inventory that is so old: daily runs do not begin on the second."""


def dead_letters(inventory: Inventory, history: Sequence[Inventory]) -> dict[str, DeadLetters]:
    """By group, its messages that became dead letters; without a group of which none did, or of which it is unknown.

    Args:
        inventory: the cluster now.
        history: earlier inventories of it, oldest first; without any the rates of this one tell.
    """
    topics = [one for one in inventory.topics if one.topic.startswith(DLQ_PREFIX)]
    now = inventory.taken_at_utc
    with_topics = [one for one in history if one.topics]  # the lake's runs before the latest one have none
    old = [one for one in with_topics if now - parse_utc(one.taken_at) >= LEAST]
    earlier = old[-1] if old else next(iter(with_topics), None)
    before = {} if earlier is None else {one.topic: one for one in earlier.topics if one.topic.startswith(DLQ_PREFIX)}
    elapsed_s = 0.0 if earlier is None else (now - parse_utc(earlier.taken_at)).total_seconds()
    of_groups: dict[str, DeadLetters] = {}
    for topic in topics:
        if elapsed_s > 0:
            letters = _grown(topic, before.get(topic.topic))
            an_hour = letters * HOUR_S / elapsed_s
        else:
            letters, an_hour = None, fsum(one.put_msgs_per_s or 0.0 for one in topic.offsets or ()) * HOUR_S
        if an_hour > 0:
            group = topic.topic.removeprefix(DLQ_PREFIX)
            of_groups[group] = DeadLetters(
                letters=letters, elapsed_s=elapsed_s if letters else None, msgs_per_h=an_hour
            )
    return of_groups


def _grown(topic: InventoryTopic, before: InventoryTopic | None) -> int:
    """The messages that were written since, to queues that are known from both; one that went back counts nothing.

    All are new in a topic that was not there.
    """
    ends = _ends(topic)
    first = dict.fromkeys(ends, 0) if before is None else _ends(before)
    return sum(max(0, end - first[queue]) for queue, end in ends.items() if queue in first)


def _ends(topic: InventoryTopic) -> Mapping[tuple[str, int], int]:
    return {
        (one.broker_name, one.queue_id): one.max_offset for one in topic.offsets or () if one.max_offset is not None
    }
