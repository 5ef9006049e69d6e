"""What the changes do to findings that are about no group, and to topics that producers write to unevenly."""

from collections.abc import Iterable

import msgspec
import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.topic import Topic
from rocketmq_capacity.model.facts import TopicWithReaders
from rocketmq_capacity.plan_file.scenario import UnjudgedTopic
from rocketmq_capacity.simulation.consequences import lost_brokers
from rocketmq_capacity.simulation.gone import gone_with_topic_or_broker
from rocketmq_capacity.simulation.judged_again import undecided_balance, undecided_of_cluster, undecided_of_topic
from rocketmq_capacity.simulation.outcome import Sorted, sides_of
from rocketmq_capacity.simulation.sides import Side, Sides


def compare_cluster(sides: Sides) -> Sorted:
    """The findings about topics, brokers and the whole cluster: new, gone or undecided."""
    is_of_no_group = pc.field("consumer_group").is_null()
    found, finds = (side.rows_where(tables.Finding, is_of_no_group) for side in (sides.before, sides.after))
    still, gone, added = sides_of(found, finds)
    names = {one.topic for one in gone if one.topic is not None}
    had, has = (
        {name: Topic(unit, side.cluster, sides.policy) for name, unit in _topics(side, names).items()}
        for side in (sides.before, sides.after)
    )
    clusters = sides.before.cluster, sides.after.cluster
    lost = lost_brokers(*clusters)
    findings = Sorted(still, added, cleared=[], undecided=[])
    for one in gone:
        after = None if one.topic is None else has.get(one.topic)
        doubt = (
            undecided_of_cluster(one, *clusters, sides.policy)
            if one.topic is None
            else undecided_of_topic(one, had[one.topic], after)
        )
        findings.sort_in(one, doubt, gone_with_topic_or_broker(one, after, lost))
    return findings


def producers_undecided(sides: Sides) -> tuple[UnjudgedTopic, ...]:
    """The topics that producers write to unevenly, as long as the changes do not take their messages or queues away."""
    had, has = ({row.topic for row in side.rows(tables.ProducerBalance)} for side in (sides.before, sides.after))
    gone = sorted(had - has)
    was, now = (_topics(side, gone) for side in (sides.before, sides.after))
    return tuple(
        UnjudgedTopic(topic=name, why=undecided_balance(was[name].facts, now[name].facts if name in now else None))
        for name in gone
    )


def _topics(side: Side, names: Iterable[str]) -> dict[str, TopicWithReaders]:
    """The topics with these names that a side has."""
    units = side.rows_by(tables.TopicUnit, "topic", names)
    return {name: msgspec.json.decode(unit.facts, type=TopicWithReaders) for name, (unit,) in units.items()}
