"""A what-if's queue plans: the steps from the cluster as it is to the changed queues and brokers."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import pyarrow.compute as pc
from msgspec.json import Decoder

from rocketmq_capacity import tables
from rocketmq_capacity.model.cases import QueueCounts
from rocketmq_capacity.model.facts import Place, TopicWithReaders
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.plan_file.queue_plan import QueuePlan
from rocketmq_capacity.recommendation.broker_plans import add_broker_plan, remove_broker_plan
from rocketmq_capacity.recommendation.facts import AdvisedCluster, AdvisedTopic
from rocketmq_capacity.recommendation.queue_plans import plans_of_topic
from rocketmq_capacity.simulation.changes.add_broker import AddBroker
from rocketmq_capacity.simulation.changes.read_only_broker import ReadOnlyBroker
from rocketmq_capacity.simulation.changes.set_queues import SetQueues
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.tables.rows import is_one_of
from rocketmq_capacity.vocabulary import BUSINESS, LOGICAL_BROKER_PREFIX

_UNIT: Final = Decoder(TopicWithReaders)


def changes_queues(scenario: Scenario) -> bool:
    """Whether queues come, go or get another perm."""
    return any(change.CHANGES_QUEUES for change in scenario.changes)


def queue_plans(sides: Sides, *, is_suspect: bool) -> tuple[QueuePlan, ...]:
    """An entry for each topic whose queues the scenario sets, by name, then one for each broker.

    The commands are for the cluster as it is. If several changes set the queues of a topic, the last one counts.
    """
    changes = sides.scenario.changes
    asked = {one.topic for one in changes if isinstance(one, SetQueues)}
    added = {one.broker_name for one in changes if isinstance(one, AddBroker)}
    drained = {one.broker_name for one in changes if isinstance(one, ReadOnlyBroker)}
    names = {*asked, *_business_topics(sides.after, added), *_business_topics(sides.before, drained)}
    cluster = AdvisedCluster(sides.before.cluster, sides.policy, is_suspect)
    topics_before, topics_after = topics_of(sides.before, cluster, names), topics_of(sides.after, cluster, names)
    plans = [
        plan
        for name in sorted(asked & topics_before.keys() & topics_after.keys())
        for plan in plans_of_topic(topics_before[name], _counts(topics_after[name]))
    ]
    plans += _broker_plans(sides.scenario, cluster, topics_before, topics_after)
    return tuple(map(steady, plans))


def _broker_plans(
    scenario: Scenario,
    cluster: AdvisedCluster,
    topics_before: Mapping[str, AdvisedTopic],
    topics_after: Mapping[str, AdvisedTopic],
) -> Iterator[QueuePlan]:
    for change in scenario.changes:
        if isinstance(change, AddBroker):
            spread = {
                name: (topics_before[name], counts)
                for name, topic in topics_after.items()
                if name in topics_before and topic.facts.kind == BUSINESS
                for counts in _counts(topic)
                if counts.broker_name == change.broker_name
            }
            yield add_broker_plan(cluster, change.broker_name, change.broker_addr, spread)
        elif isinstance(change, ReadOnlyBroker):
            there = [
                topics_before[name]
                for name in sorted(topics_before)
                if topics_before[name].facts.kind == BUSINESS
                and any(place.broker_name == change.broker_name for place in topics_before[name].facts.places)
            ]
            yield remove_broker_plan(cluster, change.broker_name, there)


def _business_topics(side: RunSide, broker_names: Iterable[str]) -> set[str]:
    is_there = is_one_of("broker_name", broker_names)
    return {one.topic for one in side.rows_where(tables.TopicQueue, is_there & (pc.field("kind") == BUSINESS))}


def topics_of(side: RunSide, cluster: AdvisedCluster, names: Iterable[str]) -> dict[str, AdvisedTopic]:
    """Some topics of a run with their readers, by name."""
    units = {name: _UNIT.decode(unit.facts) for name, (unit,) in side.rows_by(tables.TopicUnit, "topic", names).items()}
    return {name: AdvisedTopic(one.facts, cluster, readers=one.readers) for name, one in units.items()}


def _counts(topic: AdvisedTopic) -> list[QueueCounts]:
    return [
        QueueCounts(
            broker_name=place.broker_name,
            read_queue_nums=place.read_queue_nums,
            write_queue_nums=place.write_queue_nums,
        )
        for place in topic.facts.places
        if _is_known(place) and place.read_queue_nums is not None and place.write_queue_nums is not None
    ]


def _is_known(place: Place) -> bool:
    return not place.broker_name.startswith(LOGICAL_BROKER_PREFIX)
