"""Demands: groups that more queues of a topic might help. They are made with the findings that they come from."""

from collections.abc import Iterable, Iterator

from rocketmq_capacity.contracts import Demand, Finding, GroupStatus
from rocketmq_capacity.recommendation.facts import evidence
from rocketmq_capacity.recommendation.layouts import BUSY, IDLE, UNEVEN


def demands_of(group: GroupStatus, findings: Iterable[Finding]) -> Iterator[Demand]:
    """The demands of a group's findings: for the topic of the finding, and for CROSS_TOPIC_SKEW for all its topics."""
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
    """Topics, with the number of queues on each broker if the rule has computed it."""
    if finding.rule == UNEVEN:
        yield from ((topic, None) for topic in group.topics)
    elif finding.rule == IDLE and finding.topic is not None:
        yield finding.topic, None
    elif finding.rule == BUSY:
        queues = evidence(finding).get("needed_queues")
        if queues is not None:
            yield queues["topic"], queues["queues_per_broker"]
