"""Which groups more queues of a topic might help; told with the findings, so that nobody looks for them again."""

from collections.abc import Iterable, Iterator

from rocketmq_capacity.contracts import Demand, Finding, GroupStatus
from rocketmq_capacity.recommendation.facts import evidence
from rocketmq_capacity.recommendation.layouts import BUSY, IDLE, UNEVEN


def demands_of(group: GroupStatus, findings: Iterable[Finding]) -> Iterator[Demand]:
    """What a group's findings ask: more queues of the topic that is named; CROSS_TOPIC_SKEW, of any that it reads."""
    for finding in findings:
        for topic, queues in _asked(group, finding):
            yield Demand(
                topic=topic,
                rule=finding.rule,
                consumer_group=group.consumer_group,
                clients=group.distinct_client_ids,
                queues_per_broker=queues,
            )


def _asked(group: GroupStatus, finding: Finding) -> Iterator[tuple[str, int | None]]:
    """Topics, with the number of queues on each broker where the rule itself has found it."""
    if finding.rule == UNEVEN:
        yield from ((topic, None) for topic in group.topics)
    elif finding.rule == IDLE and finding.topic is not None:
        yield finding.topic, None
    elif finding.rule == BUSY:
        queues = evidence(finding).get("needed_queues")
        if queues is not None:
            yield queues["topic"], queues["queues_per_broker"]
