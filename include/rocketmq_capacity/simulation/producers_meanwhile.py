"""What producers do in a what-if while brokers are in trouble, as datasets and as a member of the plan file."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple

import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.plan_file.troubled_broker import Producers, ProducersRoute
from rocketmq_capacity.producers import (
    KILL,
    SILENT,
    Known,
    ProducerTimelines,
    TopicQueuesOnBroker,
    Troubles,
    generation_of,
    producer_timeline,
)
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.tables.compare import Course
from rocketmq_capacity.tables.dataset import Dataset
from rocketmq_capacity.tables.rows import is_one_of
from rocketmq_capacity.vocabulary import BUSINESS, JAVA

OF_PRODUCERS: Final[Sequence[type[Dataset]]] = (
    tables.ProducerRoute,
    tables.ProducerCourse,
    tables.ProducerTimeline,
)
"""The datasets about what producers do."""
SHOWN: Final = 20
"""The plan file names at most this many topics of a route."""


class Meanwhile(NamedTuple):
    """What producers do.

    Attributes:
        rows: of each dataset.
        member: of the plan file; None if no change makes trouble for producers.
    """

    rows: Mapping[type[Dataset], Sequence[Dataset]]
    member: Producers | None


def producers_meanwhile(sides: Sides) -> Meanwhile:
    """What producers do while the changes make brokers slow, read-only or lost."""
    brokers = sides.before.cluster.broker_names
    masters = [one.broker_name for one in sides.after.cluster.brokers if one.broker_id == 0]
    troubles = troubles_of(sides.scenario, brokers, masters, sides.policy)
    if not troubles.brokers:
        return Meanwhile({}, None)
    places = _places(sides.before, troubles)
    known = _known(sides, {place.topic for place in places})
    producers = _producers(sides.before)
    sendings = sides.policy.sendings(seen_groups(sides.before))
    timelines = producer_timeline(troubles, places, known, sides.policy, sendings)
    rows: Sequence[Sequence[Dataset]] = (timelines.rows, timelines.courses, timelines.timeline)
    return Meanwhile(dict(zip(OF_PRODUCERS, rows, strict=True)), _member(timelines, troubles, producers, sides.policy))


def troubles_of(scenario: Scenario, brokers: Iterable[str], masters: Iterable[str], policy: Policy) -> Troubles:
    """The troubles of all changes together. They begin at the same moment.

    A lost master is left out if a controller elects another one, because nobody knows how long that takes.

    Args:
        scenario: the changes.
        brokers: the names of all brokers before the changes.
        masters: the names of brokers that have a master after the changes.
        policy: its ``rooms`` say which brokers are in a lost room.
    """
    names, elected = set(brokers), set(masters)
    troubles = [change.trouble for change in scenario.changes]
    slow = {name: how for trouble in troubles for name, how in trouble.slow.items()}
    lost = frozenset[str]().union(*(trouble.lost | (trouble.lost_if_masterless - elected) for trouble in troubles))
    in_rooms = frozenset[str]()
    if policy.rooms is not None:
        in_rooms = frozenset(name for name in names if policy.rooms.of_broker(name) in scenario.lost_rooms)
    read_only = frozenset[str]().union(*(trouble.read_only for trouble in troubles))
    endings: tuple[str | None, ...] = (SILENT,) if in_rooms else (None,)
    if lost:
        endings = KILL, SILENT
    return Troubles(slow, lost | in_rooms, read_only, endings)


def _places(before: RunSide, troubles: Troubles) -> list[TopicQueuesOnBroker]:
    """The queues on every broker, of each business topic that has queues on a broker in trouble."""
    is_business = pc.field("kind") == BUSINESS
    is_there = is_business & is_one_of("broker_name", troubles.brokers)
    topics = {place.topic for place in before.records(tables.TopicQueue, TopicQueuesOnBroker, is_there)}
    return list(before.records(tables.TopicQueue, TopicQueuesOnBroker, is_business & is_one_of("topic", topics)))


class _Order(NamedTuple):
    topic: str
    is_ordered: bool | None


class _Rate(NamedTuple):
    topic: str
    put_msgs_per_s: float | None


def _known(sides: Sides, topics: set[str]) -> dict[str, Known]:
    """What else is known of each topic: its order flag and its rate after the changes.

    A topic that the changes remove has its rate before them.
    """
    wanted = is_one_of("topic", topics)
    rates = {**_rates(sides.before, wanted), **_rates(sides.after, wanted)}
    return {
        topic: Known(bool(is_ordered), rates.get(topic))
        for topic, is_ordered in sides.before.records(tables.Topic, _Order, wanted)
    }


def _rates(side: RunSide, wanted: pc.Expression) -> dict[str, float | None]:
    """By topic, the messages a second that producers write to all its queues; None if one queue's rate is unknown."""
    rates: dict[str, float | None] = {}
    for topic, rate in side.records(tables.ProducerShare, _Rate, wanted):
        rates[topic] = sum_of((rates.get(topic, 0.0), rate))
    return rates


class _ProducerGroup(NamedTuple):
    producer_group: str


def seen_groups(side: RunSide) -> set[str]:
    """The names of the producer groups in the snapshot; empty where they are unknown."""
    return {
        row.producer_group
        for row in side.records(tables.Producer, _ProducerGroup, pc.field("producer_group").is_valid())
    }


class _ClientVersion(NamedTuple):
    language: str | None
    version: str | None


def _producers(before: RunSide) -> dict[str, int]:
    """The number of producers in the snapshot, by generation of the Java client."""
    rows = before.records(tables.Producer, _ClientVersion, pc.field("version").is_valid())
    producers: Counter[str] = Counter()
    for (language, version), number in Counter(rows).items():
        generation = generation_of(version) if language == JAVA else None
        if generation is not None:
            producers[generation.name] += number
    return dict(sorted(producers.items()))


def _member(timelines: ProducerTimelines, troubles: Troubles, producers: dict[str, int], policy: Policy) -> Producers:
    courses: dict[int, list[Course]] = {}
    for row in timelines.courses:
        course = Course(**{name: getattr(row, name) for name in Course.__struct_fields__})
        courses.setdefault(row.route, []).append(course)
    member: Producers = steady(
        Producers(
            troubled_brokers=tuple(sorted(troubles.brokers)),
            send_interval_ms=policy.thresholds.PRODUCER_TIMELINE.send_interval_ms,
            usual_latency_ms=policy.thresholds.PRODUCER_TIMELINE.usual_latency_ms,
            poll_nameserver_s=policy.thresholds.TRANSITION.poll_nameserver_s,
            producers=producers,
            routes=tuple(
                ProducersRoute(
                    route=number,
                    write_queue_nums={place.broker_name: place.write_queue_nums for place in route.shape.places},
                    topics=len(route.topics),
                    topic_names=route.topics[:SHOWN],
                    put_msgs_per_s=route.put_msgs_per_s,
                    courses=tuple(courses[number]),
                )
                for number, route in enumerate(timelines.routes, 1)
            ),
            routes_left_out=timelines.routes_left_out,
            topics_left_out=sum(row.route is None for row in timelines.rows),
        )
    )
    return member
