"""What producers do in a what-if while brokers are in trouble, as datasets and as a member of the plan file."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from msgspec import structs

from rocketmq_capacity import contracts
from rocketmq_capacity.contracts.dataset import Dataset
from rocketmq_capacity.contracts.rows import table_in
from rocketmq_capacity.sending.generation import generation_of
from rocketmq_capacity.simulation.producer_timeline import Known, ProducerTimelines, TopicPlace, producer_timeline
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.troubles import Troubles
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.vocabulary import BUSINESS, JAVA

OF_PRODUCERS: Final[Sequence[type[Dataset]]] = (
    contracts.ProducerRoute,
    contracts.ProducerCourse,
    contracts.ProducerTimeline,
)
"""The datasets about what producers do."""
SHOWN: Final = 20
"""The plan file names at most this many topics of a route."""


def add_producers(before: Planning, after: Planning, scenario: Scenario) -> dict[str, Any] | None:
    """Write the datasets and return the plan file's member; None if no change makes trouble for producers."""
    brokers = before.rows(contracts.Broker)
    masters = [one.broker_name for one in after.rows(contracts.Broker) if one.broker_id == 0]
    troubles = Troubles.of(scenario, {one.broker_name for one in brokers}, masters, after.policy)
    if not troubles.brokers:
        return None
    places = _places(before, troubles)
    known = _known(before, after, {place.topic for place in places})
    found = producer_timeline(troubles, places, known, after.policy)
    tables: Sequence[Sequence[Dataset]] = (found.rows, found.courses, found.timeline)
    for dataset, rows in zip(OF_PRODUCERS, tables, strict=True):
        after.add(dataset, rows)
    return {"troubled_brokers": sorted(troubles.brokers), **_plain(found, after, _producers(before))}


def _places(before: Planning, troubles: Troubles) -> list[TopicPlace]:
    """The queues on every broker, of each business topic that has queues on a broker in trouble."""
    is_business, name = pc.field("kind") == BUSINESS, pc.field("broker_name").cast(pa.string())
    files = before.run.files(contracts.TopicQueue.dataset_name())
    is_there = is_business & name.isin(pa.array(sorted(troubles.brokers), pa.string()))
    topics = table_in(files, contracts.TopicQueue, ["topic"], is_there)["topic"].unique().to_pylist()
    wanted = pc.field("topic").cast(pa.string()).isin(pa.array(topics, pa.string()))
    return list(before.records(contracts.TopicQueue, TopicPlace, is_business & wanted))


class _Order(NamedTuple):
    topic: str
    is_ordered: bool | None


class _Rate(NamedTuple):
    topic: str
    put_msgs_per_s: float | None


def _known(before: Planning, after: Planning, topics: set[str]) -> dict[str, Known]:
    """What else is known of each topic: its order flag and its rate after the changes.

    A topic that the changes remove has its rate before them.
    """
    wanted = pc.field("topic").cast(pa.string()).isin(pa.array(sorted(topics), pa.string()))
    rates = {**_rates(before, wanted), **_rates(after, wanted)}
    return {
        topic: Known(bool(is_ordered), rates.get(topic))
        for topic, is_ordered in before.records(contracts.Topic, _Order, wanted)
    }


def _rates(planning: Planning, wanted: pc.Expression) -> dict[str, float | None]:
    """By topic, the messages a second that producers write to all its queues; None if one queue's rate is unknown."""
    if not planning.run.has(contracts.ProducerShare.dataset_name()):  # a run of an earlier version
        return {}
    found: dict[str, float | None] = {}
    for topic, rate in planning.records(contracts.ProducerShare, _Rate, wanted):
        total = found.get(topic, 0.0)
        found[topic] = None if total is None or rate is None else total + rate
    return found


class _Version(NamedTuple):
    language: str | None
    version: str | None


def _producers(before: Planning) -> Mapping[str, int]:
    """The number of producers in the snapshot, by generation of the Java client."""
    rows = before.records(contracts.Producer, _Version, pc.field("version").is_valid())
    found: Counter[str] = Counter()
    for (language, version), number in Counter(rows).items():
        generation = generation_of(version) if language == JAVA else None
        if generation is not None:
            found[generation.name] += number
    return dict(sorted(found.items()))


def _plain(found: ProducerTimelines, after: Planning, producers: Mapping[str, int]) -> dict[str, Any]:
    sends, asks = after.policy.thresholds.PRODUCER_TIMELINE, after.policy.thresholds.TRANSITION
    courses: dict[int, list[dict[str, Any]]] = {}
    for row in found.courses:
        course = structs.asdict(row)
        courses.setdefault(course.pop("route"), []).append(course)
    return {
        "send_interval_ms": sends.send_interval_ms,
        "usual_latency_ms": sends.usual_latency_ms,
        "poll_nameserver_s": asks.poll_nameserver_s,
        "producers": producers,
        "routes": [
            {
                "route": number,
                "write_queue_nums": {place.broker_name: place.write_queue_nums for place in route.shape.places},
                "topics": len(route.topics),
                "topic_names": route.topics[:SHOWN],
                "put_msgs_per_s": route.put_msgs_per_s,
                "courses": courses[number],
            }
            for number, route in enumerate(found.routes, 1)
        ],
        "routes_left_out": found.routes_left_out,
        "topics_left_out": sum(row.route is None for row in found.rows),
    }
