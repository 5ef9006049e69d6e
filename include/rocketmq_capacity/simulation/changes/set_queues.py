"""The change `set_queues`."""

from typing import Annotated, Final, Literal

from msgspec.structs import replace
from pydantic import Field

from rocketmq_capacity.errors import shown
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.change import BrokerName, Count, ScenarioChange, TopicName
from rocketmq_capacity.simulation.parts import topic_of, with_topic
from rocketmq_capacity.simulation.place import ChangePlace
from rocketmq_capacity.simulation.queues import settled
from rocketmq_capacity.simulation.traffic import ProducerSpread
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryTopic, TopicQueues
from rocketmq_capacity.vocabulary import LMQ_PREFIX, LOGICAL_BROKER_PREFIX, RETRY_PREFIX

SEPARATE_RETRY: Final = "useSeparateRetryQueue"
"""A broker's setting (BrokerConfig, rocketmq-all-5.5.0)."""
POP_RETRY_MARKS: Final = ("_", "+")
"""Between group and topic in the name of a POP retry topic, of version 1 and 2 (KeyBuilder)."""


class SetQueues(ScenarioChange):
    """New queue counts of a topic on one broker, or on every broker that has the topic."""

    EXAMPLE = "topic: {topic}, read_queue_nums: 8, write_queue_nums: 8"
    CHANGES_QUEUES = True
    ALTERS = "queues"

    change: Literal["set_queues"]
    topic: TopicName
    broker_name: Annotated[BrokerName | None, Field(description="empty for all brokers")] = None
    read_queue_nums: Annotated[Count, Field(title="Read queues", description="for each broker")]
    write_queue_nums: Annotated[Count, Field(title="Write queues", description="for each broker")]

    def apply(self, inventory: Inventory, place: ChangePlace, policy: Policy) -> Inventory:
        """The topic with these queue counts on one broker, or on every broker that has it.

        The POP retry topics of its groups change as well, on brokers with a retry queue for each of the topic's queues.

        Errors: :class:`BadInput` for an unknown topic, a broker that does not have it, an LMQ (which has one queue),
        and fewer queues of a static topic (which never shrinks).
        """
        topic = topic_of(inventory, self.topic, place)
        if topic.topic.startswith(LMQ_PREFIX):
            raise place.refusal(
                "topic", f"is {shown(self.topic)}, an LMQ; expected a topic: an LMQ has one queue for ever"
            )
        routed = topic.queues or ()
        if self.broker_name is not None:
            place.check_known("broker_name", self.broker_name, (q.broker_name for q in routed), "broker of the topic")
        if not routed:
            raise place.refusal("topic", f"is {shown(self.topic)}, which has no queues on any broker")
        counts = {"read_queue_nums": self.read_queue_nums, "write_queue_nums": self.write_queue_nums}
        queues = tuple(replace(q, **counts) if self.broker_name in (None, q.broker_name) else q for q in routed)
        for before, after in zip(routed, queues, strict=True):
            _check_static(before, after, place)
        changed = with_topic(inventory, replace(topic, queues=queues))
        return settled(inventory, _with_pop_retry_topics(changed, replace(topic, queues=queues)), ProducerSpread.EVEN)


def _check_static(before: TopicQueues, after: TopicQueues, place: ChangePlace) -> None:
    """Refuse fewer logical queues: "Cannot decrease the queue num for static topic".

    Source: TopicQueueMappingUtils.checkAndBuildMappingItems, rocketmq-all-5.3.3.
    """
    if not before.broker_name.startswith(LOGICAL_BROKER_PREFIX):
        return
    for key in ("read_queue_nums", "write_queue_nums"):
        queues_before, queues_after = getattr(before, key) or 0, getattr(after, key)
        if queues_after < queues_before:
            raise place.refusal(
                key, f"is {queues_after}; expected at least {queues_before}: a static topic never has fewer queues"
            )


def _with_pop_retry_topics(inventory: Inventory, topic: InventoryTopic) -> Inventory:
    """The inventory; the topic's POP retry topics have as many queues on each broker as the topic has write queues.

    This is so only on brokers with ``useSeparateRetryQueue``; on others a retry topic keeps its single queue.
    Source: PopReviveService.addRetryTopicIfNotExist and KeyBuilder.buildPopRetryTopic, rocketmq-all-5.5.0.
    """
    separate = {
        broker.broker_name
        for broker in inventory.brokers
        if broker.broker_id == 0 and (broker.config or {}).get(SEPARATE_RETRY) == "true"
    }
    if not separate:
        return inventory
    numbers = {q.broker_name: q.write_queue_nums for q in topic.queues or () if q.broker_name in separate}
    names = {
        f"{RETRY_PREFIX}{group.consumer_group}{mark}{topic.topic}"
        for group in inventory.consumer_groups
        for mark in POP_RETRY_MARKS
    }

    def followed(queues: TopicQueues) -> TopicQueues:
        number = numbers.get(queues.broker_name)
        return queues if number is None else replace(queues, read_queue_nums=number, write_queue_nums=number)

    topics = (
        replace(one, queues=tuple(followed(queues) for queues in one.queues))
        if one.topic in names and one.queues
        else one
        for one in inventory.topics
    )
    return replace(inventory, topics=tuple(topics))
