"""The least that the readable queues of a topic cost a broker, whatever is written to them.

Each queue has a consume-queue file on its broker and on every slave. Each group that divides the queues always has a
pull waiting on each of them: a broker answers it after 15 s at the latest, and the client pulls again.
Source: MessageStoreConfig.mappedFileSizeConsumeQueue, DefaultMQPushConsumerImpl.BROKER_SUSPEND_MAX_TIME_MILLIS,
rocketmq-all-5.3.3.
"""

from collections.abc import Mapping
from typing import Final

from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.plan_file.queue_plan import QueueCost
from rocketmq_capacity.recommendation.facts import AdvisedTopic
from rocketmq_capacity.vocabulary import SYSTEM, is_broadcasting
from rocketmq_capacity.wording import rounded

FILE_BYTES: Final = 300_000 * 20
"""Entries of a file x bytes of an entry; a broker may set another size."""
FILE_SIZE: Final = "mappedFileSizeConsumeQueue"
SUSPENDED_S: Final = 15


def queue_cost(topic: AdvisedTopic, read_queue_nums: Mapping[str, int]) -> tuple[QueueCost, ...]:
    """An entry for each broker of the topic with these readable queues, by name."""
    replicas: dict[str, int] = {}
    for broker in topic.cluster.facts.brokers:
        replicas[broker.broker_name] = replicas.get(broker.broker_name, 0) + 1
    pulls = _pulls_of_a_queue(topic)
    return tuple(
        QueueCost(
            broker_name=name,
            replicas=replicas.get(name, 0),
            files=queues,
            files_bytes=queues * _file_bytes(topic, name),
            pulls_per_s=None if pulls is None else rounded(queues * pulls / SUSPENDED_S, 4),
        )
        for name, queues in sorted(read_queue_nums.items())
    )


def _pulls_of_a_queue(topic: AdvisedTopic) -> int | None:
    """Pulls that wait on each queue: one for each group with clients, and one for each broadcasting client."""
    groups = [one for one in topic.readers if one.kind != SYSTEM and one.is_subscribed]
    if any(one.unseen_clients for one in groups):
        return None
    return sum(one.connections if is_broadcasting(one.message_model) else min(one.connections, 1) for one in groups)


def _file_bytes(topic: AdvisedTopic, broker_name: str) -> int:
    master = topic.cluster.masters.get(broker_name)
    size = whole_number(((master and master.config) or {}).get(FILE_SIZE))
    return FILE_BYTES if size is None else size
