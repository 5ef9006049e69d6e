"""A what-if's queue plans: the steps from the cluster as it is to the changed queues and brokers."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.json import Decoder

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.cases import QueueCounts
from rocketmq_capacity.contracts.facts import Place, TopicWithReaders
from rocketmq_capacity.contracts.rows import rows_by, rows_where
from rocketmq_capacity.recommendation.broker_plans import add_broker_plan, remove_broker_plan
from rocketmq_capacity.recommendation.facts import Cluster, Topic
from rocketmq_capacity.recommendation.queue_plans import plans_of_topic
from rocketmq_capacity.simulation.scenario import AddBroker, ReadOnlyBroker, Scenario, SetQueues
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.vocabulary import BUSINESS, LOGICAL_BROKER_PREFIX

_UNIT: Final = Decoder(TopicWithReaders)


def changes_queues(scenario: Scenario) -> bool:
    """Whether the scenario changes numbers of queues, adds a broker, or makes a broker read-only."""
    return any(isinstance(one, SetQueues | AddBroker | ReadOnlyBroker) for one in scenario.changes)


def queue_plans(before: Planning, after: Planning, scenario: Scenario, *, is_suspect: bool) -> list[dict[str, Any]]:
    """An entry for each topic whose queues the scenario sets, by name, then one for each broker; in the plan's form.

    The commands are for the cluster as it is. If several changes set the queues of a topic, the last one counts.
    """
    cluster = Cluster(before.cluster, after.deciding, is_suspect)
    asked = {one.topic: one.broker_name for one in scenario.changes if isinstance(one, SetQueues)}
    was, will_be = _topics(before.run, cluster, asked), _topics(after.run, cluster, asked)
    plans = [
        plan
        for name in sorted(was.keys() & will_be.keys())
        for plan in plans_of_topic(was[name], _counts(will_be[name]))
    ]
    return [*plans, *_broker_plans(before, after, scenario, cluster)]


def _broker_plans(before: Planning, after: Planning, scenario: Scenario, cluster: Cluster) -> Iterator[dict[str, Any]]:
    for change in scenario.changes:
        if isinstance(change, AddBroker):
            names = _business_topics(after.run, change.broker_name)
            was, will_be = _topics(before.run, cluster, names), _topics(after.run, cluster, names)
            spread = {
                name: (was[name], counts)
                for name in names
                if name in was
                for counts in _counts(will_be[name])
                if counts.broker_name == change.broker_name
            }
            yield add_broker_plan(cluster, change.broker_name, change.broker_addr, spread)
        elif isinstance(change, ReadOnlyBroker):
            there = _topics(before.run, cluster, _business_topics(before.run, change.broker_name))
            yield remove_broker_plan(cluster, change.broker_name, [there[name] for name in sorted(there)])


def _business_topics(run: Run, broker_name: str) -> Sequence[str]:
    is_there = pc.field("broker_name").cast(pa.string()) == broker_name
    files = run.files(contracts.TopicQueue.dataset_name())
    places = rows_where(files, contracts.TopicQueue, is_there & (pc.field("kind") == BUSINESS))
    return sorted(one.topic for one in places)


def _topics(run: Run, cluster: Cluster, names: Any) -> dict[str, Topic]:
    files = run.files(contracts.TopicUnit.dataset_name())
    units = rows_by(files, contracts.TopicUnit, "topic", list(names)) if names else {}
    found = {name: _UNIT.decode(unit.facts) for name, (unit,) in units.items()}
    return {name: Topic(one.facts, cluster, readers=one.readers) for name, one in found.items()}


def _counts(topic: Topic) -> list[QueueCounts]:
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
