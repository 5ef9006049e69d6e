"""Topics whose queue plans are made, and the plans."""

from collections.abc import Sequence
from typing import Any

from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.recommendation.broker_plans import add_broker_plan
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedTopic
from rocketmq_capacity.recommendation.queue_plans import plans_of_topic
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, TopicQueues
from tests.assessment.cases import a_group, a_topic, members
from tests.fixtures.units import units_of
from tests.recommendation.cases import broker
from tests.simulation.clusters import cluster, queues

TWO = (queues("broker-a", 8), queues("broker-b", 8))


def facts_of(inventory: Inventory) -> tuple[AdvisedCluster, dict[str, AdvisedTopic]]:
    """The cluster, and its topics by name."""
    units = units_of(inventory)
    whole = AdvisedCluster(units.cluster, Policy(), is_suspect=False)
    return whole, {one.facts.topic: AdvisedTopic(one.facts, whole, readers=one.readers) for one in units.topics}


def of_topic(
    *layout: TopicQueues,
    groups: Sequence[tuple[str, int, dict[str, Any]]] = (("g_pay", 4, {}),),
    name: str = "pay",
    order: bool | None = False,
    message_type: str | None = "NORMAL",
) -> AdvisedTopic:
    """A topic and its groups: name, clients, facts."""
    topic = a_topic(name, *(layout or TWO), order=order, message_type=message_type)
    readers = [a_group(group, members(clients), [topic], **facts) for group, clients, facts in groups]
    inventory = cluster([topic], readers, [broker("broker-a"), broker("broker-b")])
    return facts_of(inventory)[1][name]


def plan_to(topic: AdvisedTopic, read: int, write: int | None = None) -> list[QueuePlan]:
    """The plans to so many queues on each of its brokers; as many to write as to read where that is not said."""
    names = [place.place.broker_name for place in topic.places]
    counts = [
        QueueCounts(broker_name=name, read_queue_nums=read, write_queue_nums=read if write is None else write)
        for name in names
    ]
    return list(plans_of_topic(topic, counts))


def added(topic: AdvisedTopic, whole: AdvisedCluster, read: int = 8) -> QueuePlan:
    """The plan of a broker that comes, with the topic on it: 8 write queues."""
    counts = QueueCounts(broker_name="broker-c", read_queue_nums=read, write_queue_nums=8)
    return add_broker_plan(whole, "broker-c", "broker-c:10911", {topic.name: (topic, counts)})
