"""What the changes do to findings that are about no group, and to topics that producers write to unevenly."""

from collections.abc import Iterable

import msgspec
import pyarrow.compute as pc

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.model.facts import TopicWithReaders
from rocketmq_capacity.plan_file.scenario import UnjudgedTopic
from rocketmq_capacity.simulation.consequences import lost_brokers
from rocketmq_capacity.simulation.gone import gone_with_topic_or_broker
from rocketmq_capacity.simulation.judged_again import undecided_balance, undecided_of_cluster, undecided_of_topic
from rocketmq_capacity.simulation.outcome import Sorted, sides_of
from rocketmq_capacity.simulation.sides import RunSide, Sides


def compare_cluster(sides: Sides) -> Sorted:
    """The findings about topics, brokers and the whole cluster: new, gone or undecided."""
    names_no_group = pc.field("consumer_group").is_null()
    findings_before = sides.before.rows_where(tables.Finding, names_no_group)
    findings_after = sides.after.rows_where(tables.Finding, names_no_group)
    still, gone, added = sides_of(findings_before, findings_after)
    names = {one.topic for one in gone if one.topic is not None}
    units_before, units_after = _topics(sides.before, names), _topics(sides.after, names)
    topics_before = {
        name: AssessedTopic(unit, sides.before.cluster, sides.policy) for name, unit in units_before.items()
    }
    topics_after = {name: AssessedTopic(unit, sides.after.cluster, sides.policy) for name, unit in units_after.items()}
    clusters = sides.before.cluster, sides.after.cluster
    lost = lost_brokers(*clusters)
    findings = Sorted(still, added, cleared=[], undecided=[])
    for finding in gone:
        after = None if finding.topic is None else topics_after.get(finding.topic)
        doubt = (
            undecided_of_cluster(finding, *clusters, sides.policy)
            if finding.topic is None
            else undecided_of_topic(finding, topics_before[finding.topic], after)
        )
        findings.sort_in(finding, doubt, gone_with_topic_or_broker(finding, after, lost))
    return findings


def producers_undecided(sides: Sides) -> tuple[UnjudgedTopic, ...]:
    """The topics that producers write to unevenly, as long as the changes do not take their messages or queues away."""
    uneven_before = {row.topic for row in sides.before.rows(tables.ProducerBalance)}
    uneven_after = {row.topic for row in sides.after.rows(tables.ProducerBalance)}
    gone = sorted(uneven_before - uneven_after)
    topics_before, topics_after = _topics(sides.before, gone), _topics(sides.after, gone)
    return tuple(
        UnjudgedTopic(
            topic=name,
            why=undecided_balance(
                topics_before[name].facts, topics_after[name].facts if name in topics_after else None
            ),
        )
        for name in gone
    )


def _topics(side: RunSide, names: Iterable[str]) -> dict[str, TopicWithReaders]:
    """The topics with these names that a side has."""
    units = side.rows_by(tables.TopicUnit, "topic", names)
    return {name: msgspec.json.decode(unit.facts, type=TopicWithReaders) for name, (unit,) in units.items()}
