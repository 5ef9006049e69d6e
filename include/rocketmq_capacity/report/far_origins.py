"""Consequences beyond one group: what a topic on a single broker, a lost master and a doubtful snapshot explain."""

from collections.abc import Sequence
from typing import Final

from rocketmq_capacity.plan_file.finding import Finding

COVERAGE: Final = "TOPIC_COVERAGE"
FIFO: Final = "FIFO_BROKEN"
LOSS: Final = "BROKER_LOSS"
MEMBERSHIP: Final = "MEMBERSHIP_DISAGREEMENT"
SUSPECT: Final = "SUSPECT_SNAPSHOT"
IDLE: Final = "IDLE_CONSUMERS"


def far_origins(findings: Sequence[Finding]) -> dict[int, int]:
    """By index of a finding, the index of the finding of another thing whose consequence it is.

    The loss of a broker that only ends topics which stand on it alone is what their TOPIC_COVERAGE says. If a snapshot
    is doubtful for its groups, the members that brokers name differently are its doubt. If no broker has queues of a
    topic, the clients of its groups have nothing to read. Queues that a group cannot lock because their broker has no
    master come of the lost master.
    """
    alone: dict[str, int] = {}
    masterless: dict[str | None, int] = {}
    doubtful: dict[object, int] = {}
    for index, finding in enumerate(findings):
        if finding.rule == COVERAGE and finding.topic is not None:
            alone.setdefault(finding.topic, index)
        elif finding.rule == LOSS and "slave_ids" in finding.evidence:
            masterless[finding.broker_name] = index
        elif finding.rule == SUSPECT:
            doubtful = dict.fromkeys(finding.subjects, index)
    origins: dict[int, int] = {}
    for index, finding in enumerate(findings):
        if finding.rule == MEMBERSHIP and finding.consumer_group in doubtful:
            origins[index] = doubtful[finding.consumer_group]
        elif finding.rule == IDLE and not finding.evidence.get("queues") and finding.topic in alone:
            origins[index] = alone[finding.topic]
        elif finding.rule == FIFO and finding.broker_name in masterless:
            origins[index] = masterless[finding.broker_name]
        elif finding.rule == LOSS and not finding.evidence.get("groups_under"):
            ended = [*finding.evidence.get("unwritable_topics", ()), *finding.evidence.get("unreadable_topics", ())]
            if ended and alone.keys() >= set(ended):
                origins[index] = alone[ended[0]]
    return origins
