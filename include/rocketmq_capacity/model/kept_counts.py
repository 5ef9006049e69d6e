"""Topics whose number of queues has a meaning beyond the spread of load: it is never changed."""

from typing import Final

from rocketmq_capacity.model.facts import TopicFacts
from rocketmq_capacity.vocabulary import LITE, PRIORITY

STATIC: Final = "it is a static topic, whose queues updateStaticTopic and remappingStaticTopic alone may change"
LEVELS: Final = (
    "it is a PRIORITY topic: each of its queues is a level, the last one of all priorities from there on, and another"
    " number of queues changes which messages go first"
)
LITE_TOPICS: Final = (
    "it is a LITE topic: brokers and producers hash its lite topics over all of its write queues, and with another"
    " number of them many lite topics move to other brokers"
)


def kept_count(topic: TopicFacts) -> str | None:
    """Why the topic's number of queues on a broker may not change, or None.

    Source: SendMessageProcessor (queue id = min(priority, writeQueueNums - 1)) and LiteShardingImpl,
    rocketmq-all-5.5.0; TopicQueueMappingUtils, rocketmq-all-5.3.3.
    """
    if topic.is_static:
        return STATIC
    return LEVELS if topic.message_type == PRIORITY else kept_brokers(topic)


def kept_brokers(topic: TopicFacts) -> str | None:
    """Why the topic may not be created on another broker, or None; a PRIORITY topic may, with the same levels."""
    return LITE_TOPICS if topic.message_type == LITE else None
