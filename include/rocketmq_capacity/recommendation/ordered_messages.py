"""Which ordered messages of a topic go to other queues when its writable queues change."""

from collections.abc import Mapping
from dataclasses import dataclass

from rocketmq_capacity.producers import moved_keys, moved_message_groups, ordered_write_queues
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.recommendation.preflight import topic_safety
from rocketmq_capacity.vocabulary import FIFO, GRPC, MASTER, MIXED, PERM_WRITE
from rocketmq_capacity.wording import percent


@dataclass(frozen=True, slots=True)
class MovedMessages:
    """How many ordered messages go to other queues.

    Attributes:
        queues_before: writable queues before.
        queues_after: the same afterwards.
        of_groups: the share of message groups, which a Proxy sends; None for a topic without them.
        of_keys: the share of keys of producers with SelectMessageQueueByHash.
    """

    queues_before: int
    queues_after: int
    of_groups: float | None
    of_keys: float

    def sentence(self) -> str:
        """The same in words."""
        same = self.queues_after == self.queues_before
        others = "other" if same else f"{self.queues_after:,} instead of {self.queues_before:,}"
        keys = f"producers that choose by the hash of a key (SelectMessageQueueByHash) send {percent(self.of_keys)} of"
        if self.of_groups is None:
            return f"With {others} write queues {keys} their keys to another queue."
        groups = f"{percent(self.of_groups)} of its message groups move to another queue behind a Proxy"
        return f"With {others} write queues about {groups}, and {keys} their keys to another one."


def write_numbers(topic: AdvisedTopic) -> dict[str, int]:
    """How many queues producers see on each broker; unknown is none."""
    return {
        each.place.broker_name: each.place.write_queue_nums or 0
        for each in topic.places
        if (each.place.perm or 0) & PERM_WRITE and each.place.broker_state == MASTER
    }


def moved_messages(topic: AdvisedTopic, after: Mapping[str, int]) -> MovedMessages | None:
    """What moves if producers see so many queues on each broker; None if the topic is not ordered, or nothing moves.

    Where producers see no queue, before or afterwards, nothing moves either.
    """
    old, new = ordered_write_queues(write_numbers(topic)), ordered_write_queues(after)
    if not topic_safety(topic).is_ordered or not old or not new or old == new:
        return None
    has_groups = topic.facts.message_type == FIFO or any(
        reader.is_orderly and reader.protocol in (GRPC, MIXED) for reader in topic.readers
    )
    return MovedMessages(
        len(old), len(new), moved_message_groups(old, new) if has_groups else None, moved_keys(old, new)
    )


def moved_messages_sentence(topic: AdvisedTopic, changed: Mapping[str, int]) -> str | None:
    """The sentence for a topic that gets so many write queues on these brokers; None if nothing moves."""
    moved = moved_messages(topic, {**write_numbers(topic), **changed})
    return None if moved is None else moved.sentence()
