"""Business topics without a queue that producers see: what a producer gets, and whether its message makes the topic.

Source: DefaultMQProducerImpl.tryToFindTopicPublishInfo, MQClientInstance.updateTopicRouteInfoFromNameServer and
TopicConfigManager.createTopicInSendMessageMethod, rocketmq-all-5.3.3.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.tables import Broker, TopicQueue, UnroutedTopic

TEMPLATE: Final = "TBW102"
"""TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC: a new topic is made in its likeness, and has its route until then."""
CLIENT_QUEUES: Final = 4
"""DefaultMQProducer.defaultTopicQueueNums: a topic that a message makes has at most so many queues."""
NO_ROUTE: Final = "NO_ROUTE"
REFUSED: Final = "REFUSED"
CREATED: Final = "CREATED"


class KnownTopic(NamedTuple):
    """The columns of ``topic`` that say whether a broker has it."""

    topic: str
    is_declared: bool


def without_queues(topics: Iterable[KnownTopic], places: Iterable[TopicLoss]) -> list[KnownTopic]:
    """The business topics without a queue that producers see, sorted; not those of which it is unknown.

    ``places`` are the business topics without each of their brokers.
    """
    seen: dict[str, list[bool | None]] = {}
    for place in places:
        seen.setdefault(place.topic, []).append(place.was_writable)
    return sorted(
        one for one in topics if not one.is_declared or all(there is False for there in seen.get(one.topic, [None]))
    )


def unrouted_topics(
    topics: Iterable[KnownTopic],
    template: Iterable[TopicQueue],
    readers: Mapping[str, Iterable[str]],
    cluster: ClusterFacts,
) -> Iterator[UnroutedTopic]:
    """A row for each topic without a queue that producers see.

    Args:
        topics: these topics.
        template: the queues of TBW102.
        readers: by topic, the groups that subscribe to it.
        cluster: its brokers say whether a message may make a topic (``autoCreateTopicEnable``).
    """
    outcome, created = _of_a_missing_topic({place.broker_name: place for place in template}, cluster.brokers)
    for topic, is_declared in topics:
        # A client that gets a route asks for no other one, even if it may write to none of its queues.
        yield UnroutedTopic(
            topic=topic,
            is_declared=is_declared,
            consumer_groups=tuple(sorted(readers.get(topic, ()))),
            outcome=NO_ROUTE if is_declared else outcome,
            created_queue_nums=None if is_declared or outcome is None else created,
        )


def _of_a_missing_topic(
    template: Mapping[str, TopicQueue], brokers: Iterable[Broker]
) -> tuple[str | None, dict[str, float]]:
    """What a producer gets for a topic that no broker has, and the queues that each broker would make."""
    creates: dict[str, float] = {}
    refuses, is_unknown = False, False
    for broker in brokers:
        if broker.broker_id != 0:
            continue
        enabled = (broker.config or {}).get("autoCreateTopicEnable")
        place = template.get(broker.broker_name)
        queues = None if place is None else place.writable
        if enabled == "true" and queues:
            creates[broker.broker_name] = min(CLIENT_QUEUES, queues)
        elif enabled == "false":
            refuses |= bool(queues)
        elif queues != 0:
            is_unknown = True
    if creates:
        return CREATED, creates
    if is_unknown:
        return None, {}
    return REFUSED if refuses else NO_ROUTE, {}
