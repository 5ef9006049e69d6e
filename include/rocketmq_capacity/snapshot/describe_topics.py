"""The inventory's topics: queues from the route, message type from the brokers, offsets from the samples."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity.protocol.body.broker import TopicConfig
from rocketmq_capacity.protocol.body.cluster import TopicRoute
from rocketmq_capacity.protocol.body.offsets import WrittenOffset
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts, known_offset
from rocketmq_capacity.snapshot.describe_brokers import broker_perm
from rocketmq_capacity.snapshot.identify import logical_broker
from rocketmq_capacity.snapshot.inventory import InventoryTopic, InventoryTopicOffset, TopicQueues
from rocketmq_capacity.vocabulary import PERM_BITS, READ_WRITE, is_open, java_order

MESSAGE_TYPE: Final = "message.type"
DEFAULT_MESSAGE_TYPE: Final = "NORMAL"
"""The type of a topic without the attribute (TopicConfig.getTopicMessageType, rocketmq-all-5.3.3)."""


def describe_topics(
    names: Iterable[str],
    routes: Mapping[str, TopicRoute],
    brokers: Sequence[BrokerFacts],
    untold: Collection[str] = (),
) -> tuple[InventoryTopic, ...]:
    """One entry for each topic, in Java's order of their names; a topic may lack a route.

    Args:
        names: the topics.
        routes: by topic.
        brokers: the answers of one process of each broker name.
        untold: topics without a route because no name server answered; they have the queues that brokers register.
    """
    configs: dict[str, dict[str, TopicConfig]] = {}
    for facts in brokers:
        for config in facts.topic_configs or ():
            configs.setdefault(config.topic, {})[facts.broker_name] = config
    described = []
    for name in sorted(names, key=java_order):
        topic = _topic(name, routes.get(name), list(configs.get(name, {}).values()), brokers)
        if name in untold:
            topic = replace(topic, queues=_registered(configs.get(name, {}), brokers))
        described.append(topic)
    return tuple(described)


def static_topics(routes: Mapping[str, TopicRoute]) -> Collection[str]:
    """Topics with logical queues: consumers do not see the brokers' own queues of them, so these are left out."""
    return {topic for topic, route in routes.items() if route.static_mappings}


def _topic(
    name: str, route: TopicRoute | None, configs: Sequence[TopicConfig], brokers: Sequence[BrokerFacts]
) -> InventoryTopic:
    is_static = route is not None and bool(route.static_mappings)
    return InventoryTopic(
        topic=name,
        message_type=_message_type(configs),
        order=any(config.order for config in configs) if configs else None,
        queues=() if route is None else queues_of(route),
        offsets=None if is_static else _offsets(name, brokers),
    )


def _registered(configs: Mapping[str, TopicConfig], brokers: Iterable[BrokerFacts]) -> tuple[TopicQueues, ...]:
    """A topic's queues by its configuration at each broker; null if a broker did not tell it, or they are logical.

    Source: BrokerController.registerBrokerAll, rocketmq-all-5.3.3.
    """
    queues = []
    for facts in sorted(brokers, key=lambda facts: java_order(facts.broker_name)):
        config, perm = configs.get(facts.broker_name), broker_perm(facts)
        if facts.topic_configs is None or (config is not None and config.is_static):
            queues.append(TopicQueues(broker_name=facts.broker_name))
        elif config is not None:
            queues.append(
                TopicQueues(
                    broker_name=facts.broker_name,
                    read_queue_nums=config.read_queue_nums,
                    write_queue_nums=config.write_queue_nums,
                    perm=None if perm is None else _registered_perm(config.perm, perm),
                )
            )
    return tuple(queues)


def _registered_perm(topic_perm: int, broker_perm: int) -> int:
    """The topic's own perm, cut by the broker's only if that lacks reading or writing."""
    return topic_perm & (PERM_BITS if is_open(broker_perm) else broker_perm)


def _message_type(configs: Sequence[TopicConfig]) -> str | None:
    """The type that a broker has set for the topic; if brokers differ, the first one in alphabetical order."""
    if not configs:
        return None
    # It is set by `+message.type=FIFO` and saved without the plus; 5.0 betas saved it with the plus.
    attributes = [config.attributes for config in configs]
    types = {value for each in attributes for key, value in each.items() if key.removeprefix("+") == MESSAGE_TYPE}
    return min(types, default=DEFAULT_MESSAGE_TYPE)


def queues_of(route: TopicRoute) -> tuple[TopicQueues, ...]:
    """The queues that consumers see.

    A static topic has logical queues. They have a broker name that no broker has, and all can be read
    (ClientMetadata.topicRouteData2EndpointsForStaticTopic, rocketmq-all-5.3.3).
    """
    if route.static_mappings:
        totals: dict[str, int] = {}
        for mapping in route.static_mappings:
            totals[mapping.scope] = max(mapping.total_queues, totals.get(mapping.scope, 0))
        return tuple(
            TopicQueues(
                broker_name=logical_broker(scope), read_queue_nums=total, write_queue_nums=total, perm=READ_WRITE
            )
            for scope, total in sorted(totals.items())
        )
    return tuple(
        TopicQueues(
            broker_name=queues.broker_name,
            read_queue_nums=queues.read_queue_nums,
            write_queue_nums=queues.write_queue_nums,
            perm=queues.perm & PERM_BITS,
        )
        for queues in sorted(route.queues, key=lambda queues: java_order(queues.broker_name))
    )


def _offsets(topic: str, brokers: Iterable[BrokerFacts]) -> tuple[InventoryTopicOffset, ...] | None:
    """Offsets of the last sample, and rates from the first sample to the last; None if no broker answered."""
    offsets: list[InventoryTopicOffset] = []
    is_known = False
    for facts in brokers:
        answers = [sample.written[topic] for sample in facts.samples if topic in sample.written]
        if not answers or topic not in facts.samples[-1].written:
            continue
        is_known = True
        (first_s, first), (last_s, last) = answers[0], answers[-1]
        for queue, written in last.items():
            offsets.append(
                InventoryTopicOffset(
                    broker_name=queue.broker_name,
                    queue_id=queue.queue_id,
                    min_offset=known_offset(written.min_offset),
                    max_offset=known_offset(written.max_offset),
                    put_msgs_per_s=_rate(first.get(queue), written, last_s - first_s),
                )
            )
    unique: dict[tuple[str, int], InventoryTopicOffset] = {}
    for offset in offsets:  # a broker may name a queue of another one; the first answer counts
        unique.setdefault((offset.broker_name, offset.queue_id), offset)
    ordered = sorted(unique.values(), key=lambda one: (java_order(one.broker_name), one.queue_id))
    return tuple(ordered) if is_known else None


def _rate(first: WrittenOffset | None, last: WrittenOffset, seconds: float) -> float | None:
    """Messages a second; None with a single sample, or if the offset went back, as when a topic is made again."""
    if first is None or seconds <= 0 or last.max_offset < first.max_offset:
        return None
    return round((last.max_offset - first.max_offset) / seconds, 3)
