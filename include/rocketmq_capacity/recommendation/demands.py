"""Which groups more queues of a topic might help; told with the findings, so that nobody looks for them again."""

from collections.abc import Iterable, Iterator

from rocketmq_capacity.contracts import Demand, Finding, GroupStatus
from rocketmq_capacity.recommendation.layouts import IDLE, UNEVEN


def demands_of(group: GroupStatus, findings: Iterable[Finding]) -> Iterator[Demand]:
    """What a group's findings ask: more queues of the topic that is named; CROSS_TOPIC_SKEW, of any that it reads."""
    for finding in findings:
        for topic in _asked(group, finding):
            yield Demand(
                topic=topic, rule=finding.rule, consumer_group=group.consumer_group, clients=group.distinct_client_ids
            )


def _asked(group: GroupStatus, finding: Finding) -> tuple[str, ...]:
    if finding.rule == UNEVEN:
        return group.topics
    return (finding.topic,) if finding.rule == IDLE and finding.topic is not None else ()
