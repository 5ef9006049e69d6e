"""What a finding is gone with: a topic, broker or room that a change takes away is not mended by that."""

from collections.abc import Collection

from rocketmq_capacity.assessment.group import AssessedGroup
from rocketmq_capacity.assessment.topic import AssessedTopic
from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.simulation.group_shift import lost_topics_of
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.wording import listed


def gone_with(finding: Finding, before: AssessedGroup, after: AssessedGroup, lost_rooms: Collection[str]) -> str | None:
    """With what a group's finding is gone, in a few words; None if all that it is about is still there.

    Args:
        finding: the finding, which the changed cluster does not have.
        before: the group as it is.
        after: the group as it would be.
        lost_rooms: machine rooms that the scenario takes away.
    """
    if before.facts.connections and not after.facts.connections:
        return "the last client of the group"
    topics = lost_topics_of(before, after)
    ended = {reads.topic.topic for reads in before.business} - {reads.topic.topic for reads in after.business}
    if finding.topic in ended:
        return f"the subscription to {finding.topic}"
    if finding.topic in topics:
        return f"topic {finding.topic}"
    brokers = _lost_brokers(before, after)
    if about := sorted(brokers & _brokers_of(finding)):
        return f"broker {listed(about)}"
    room = _lost_room(finding, before, after, lost_rooms)
    if room is not None:
        return f"room {room}"
    if not topics or finding.topic is not None:
        return None
    return f"the subscription to {listed(topics)}" if ended.issuperset(topics) else f"topic {listed(topics)}"


def _lost_brokers(before: AssessedGroup, after: AssessedGroup) -> set[str]:
    """The brokers that no longer have a queue that the group reads, or that a group without clients has offsets on."""
    return _brokers_with_queues(before) - _brokers_with_queues(after)


def _brokers_with_queues(group: AssessedGroup) -> set[str]:
    read = {place.broker_name for reads in group.business for place in reads.topic.places}
    return read | {lag.broker_name for lag in group.facts.lags}


def _brokers_of(finding: Finding) -> set[str]:
    """The brokers that a finding is about."""
    return {queue.broker_name for queue in finding.queues} | ({finding.broker_name} if finding.broker_name else set())


def _lost_room(
    finding: Finding, before: AssessedGroup, after: AssessedGroup, lost_rooms: Collection[str]
) -> str | None:
    """The lost room of the clients that a finding is about."""
    if not rule_of(finding.rule).leaves_with_clients:
        return None
    stays = {one.client_id for one in after.facts.consumers}
    rooms = {
        one.room
        for one in before.facts.consumers
        if one.client_id in finding.subjects and one.client_id not in stays and one.room in lost_rooms
    }
    return listed(sorted(room for room in rooms if room is not None)) or None


def gone_with_topic_or_broker(
    finding: Finding, after: AssessedTopic | None, lost_brokers: Collection[str]
) -> str | None:
    """The same for a finding without a group; ``after`` is its topic in the changed cluster, if that has it."""
    if finding.topic is not None and (after is None or not after.unit.facts.places):
        return f"topic {finding.topic}"
    about = {*finding.subjects, *([finding.broker_name] if finding.broker_name else [])}
    lost = sorted(about & set(lost_brokers))
    return f"broker {listed(lost)}" if lost else None
