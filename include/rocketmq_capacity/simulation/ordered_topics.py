"""Which ordered messages go to other queues when a what-if changes the queues that producers see."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity.plan_file.before_after import BeforeAfterCount
from rocketmq_capacity.plan_file.numbers import METRIC_DECIMALS, rounded
from rocketmq_capacity.plan_file.ordered_topic import OrderedTopic
from rocketmq_capacity.producers import TopicQueuesOnBroker
from rocketmq_capacity.recommendation.facts import AdvisedCluster
from rocketmq_capacity.recommendation.ordered_messages import moved_messages
from rocketmq_capacity.simulation.queue_plans import topics_of
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.tables import TopicQueue
from rocketmq_capacity.vocabulary import BUSINESS, MASTER, PERM_WRITE, java_order


def ordered_topics(sides: Sides) -> tuple[OrderedTopic, ...]:
    """An entry for each topic that is consumed in order and whose writable queues change, by name.

    A topic that producers see no queue of, before or afterwards, has none: nothing is sent there.
    """
    queues_before, queues_after = _written(sides.before), _written(sides.after)
    changed = {
        topic for topic in queues_before.keys() & queues_after.keys() if queues_before[topic] != queues_after[topic]
    }
    before = topics_of(sides.before, AdvisedCluster(sides.before.cluster, sides.policy, is_suspect=False), changed)
    moves = ((name, moved_messages(before[name], queues_after[name])) for name in sorted(changed, key=java_order))
    return tuple(
        OrderedTopic(
            topic=name,
            write_queues=BeforeAfterCount(before=moved.queues_before, after=moved.queues_after),
            moved_message_groups_ratio=rounded(moved.of_groups),
            moved_keys_ratio=round(moved.of_keys, METRIC_DECIMALS),
            meaning=moved.sentence(),
        )
        for name, moved in moves
        if moved is not None
    )


def _written(side: RunSide) -> Mapping[str, Mapping[str, int]]:
    """By business topic and broker the queues that producers see there."""
    queues: dict[str, dict[str, int]] = {}
    for row in side.records(TopicQueue, TopicQueuesOnBroker, pc.field("kind").cast(pa.string()) == BUSINESS):
        if row.broker_state == MASTER and (row.perm or 0) & PERM_WRITE:
            queues.setdefault(row.topic, {})[row.broker_name] = row.write_queue_nums or 0
    return queues
