"""How many message groups of a FIFO topic go to another queue if the topic gets more queues.

A Proxy sends a message group to the queue with the index ``Hashing.consistentHash(hash of its name, write queues)``, a
jump hash: from M to N queues the fraction 1 - M/N of the groups gets another index. The Proxy sorts the queues by
broker and id, so an index may also mean another queue afterwards.
Source: SendMessageActivity.SendMessageQueueSelector and MessageQueueSelector.buildWrite, rocketmq-all-5.3.3.
"""

from collections import Counter
from collections.abc import Iterable

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.recommendation.facts import Topic
from rocketmq_capacity.vocabulary import FIFO, GRPC, MASTER, MIXED, PERM_WRITE, java_order
from rocketmq_capacity.wording import percent

WriteQueue = tuple[str, int]
"""Broker name, queue id."""


def moved_message_groups(topic: Topic, counts: Iterable[QueueCounts]) -> str | None:
    """The share of message groups that move with these counts, as a sentence; None for a topic without them."""
    has_groups = topic.facts.message_type == FIFO or any(
        reader.is_orderly and reader.protocol in (GRPC, MIXED) for reader in topic.readers
    )
    before = _write_queues(topic, {})
    after = _write_queues(topic, {one.broker_name: one.write_queue_nums for one in counts})
    if not has_groups or not before or len(after) <= len(before):
        return None
    share, by_hash = percent(moved_ratio(before, after)), percent(1 - len(before) / len(after))
    why = f"{by_hash} by the hash over {len(after)} instead of {len(before)} write queues"
    if share != by_hash:
        why += ", the others because new queues come between the old ones"
    return f"Behind a Proxy about {share} of its message groups move to another queue: {why}."


def moved_ratio(before: list[WriteQueue], after: list[WriteQueue]) -> float:
    """The share of all message groups that go to another queue; lists are in the Proxy's order."""
    kept_index = sum(old == new for old, new in zip(before, after, strict=False))
    index_of_new = Counter(after[len(before) :])
    met_again = sum(index_of_new[queue] for queue in before) / len(before)
    return 1 - (kept_index + met_again) / len(after)


def _write_queues(topic: Topic, counts: dict[str, int]) -> list[WriteQueue]:
    """The queues that a Proxy sends to, in its order."""
    places = [
        (each.place.broker_name, counts.get(each.place.broker_name, each.place.write_queue_nums or 0))
        for each in topic.places
        if (each.place.perm or 0) & PERM_WRITE and each.place.broker_state == MASTER
    ]
    ordered = sorted(places, key=lambda place: java_order(place[0]))
    return [(broker_name, queue_id) for broker_name, number in ordered for queue_id in range(number)]
