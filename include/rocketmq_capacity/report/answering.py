"""Which recommendations answer which findings, and how urgent a finding is."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rocketmq_capacity.catalogue.action import INVESTIGATE, action_of
from rocketmq_capacity.catalogue.rule import evidence_of, rule_of
from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.order import subjects_key
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.detail import SEVERITY_RANK
from rocketmq_capacity.report.looks import looked_into


def urgency(finding: PlanFinding) -> tuple[Any, ...]:
    """A sort key: the finding to mend first comes first."""
    return (
        SEVERITY_RANK[finding.severity],
        rule_of(finding.rule).place,
        finding.rule,
        finding.consumer_group or "",
        finding.topic or "",
        finding.broker_name or "",
        subjects_key(finding.subjects),
    )


def answering(
    findings: Sequence[PlanFinding], recommendations: Sequence[PlanRecommendation], topics: Mapping[str, Sequence[str]]
) -> list[list[int]]:
    """For each finding the positions of the recommendations that answer it, in the order of the actions.

    A recommendation answers a finding if it names the finding's rule and is about the same thing: the same group, the
    same topic, a topic that the finding's group reads, or a topic that the finding of a broker proposes for it.

    Args:
        findings: in any order.
        recommendations: in the plan's order; positions count from 0.
        topics: the business topics of each group.
    """
    by_subject: dict[tuple[str, str | None, str | None], list[int]] = {}
    for position, recommendation in enumerate(recommendations):
        for rule in recommendation.rules:
            for subject in _subjects(recommendation.consumer_group, recommendation.topic):
                by_subject.setdefault((rule, *subject), []).append(position)

    def of(finding: PlanFinding) -> list[int]:
        rule, group, topic = finding.rule, finding.consumer_group, finding.topic
        positions: dict[int, None] = {}
        for subject in (*_asked(group, topic, topics), *_proposed(finding)):
            positions |= dict.fromkeys(by_subject.get((rule, *subject), ()))
        fitting = [
            position
            for position in positions
            if _fits(recommendations[position], group, topic)
            and _is_about(recommendations[position], finding)
            and _changes_queues(recommendations[position], finding)
        ]
        return sorted(fitting, key=lambda position: (action_of(recommendations[position].action).place, position))

    return [of(finding) for finding in findings]


def _asked(
    group: str | None, topic: str | None, topics: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str | None, str | None]]:
    yield None, None
    if group is not None:
        yield group, None
    for name in topics.get(group or "", ()) if topic is None else (topic,):
        yield None, name


def _proposed(finding: PlanFinding) -> Iterator[tuple[None, str]]:
    """The topics that would level a broker without topics (TOPIC_COVERAGE)."""
    from rocketmq_capacity.assessment.coverage import (
        EmptyBrokerEvidence,  # a Dag's file is parsed without what rules compute
    )

    empty = evidence_of(finding)
    for place in empty.proposed if isinstance(empty, EmptyBrokerEvidence) else ():
        yield None, place.topic


def _subjects(group: str | None, topic: str | None) -> list[tuple[str | None, str | None]]:
    if group is None and topic is None:
        return [(None, None)]
    return [(g, t) for g, t in ((group, None), (None, topic)) if (g, t) != (None, None)]


def _fits(recommendation: PlanRecommendation, group: str | None, topic: str | None) -> bool:
    """Whether the groups and the topics of the two are equal; None fits every name."""
    other_group, other_topic = recommendation.consumer_group, recommendation.topic
    if None not in {group, other_group} and group != other_group:
        return False
    return None in {topic, other_topic} or topic == other_topic


def _is_about(recommendation: PlanRecommendation, finding: PlanFinding) -> bool:
    """Whether a look into one version, some brokers or the cluster is about what the finding is; true for any other.

    A look into the cluster is about no single topic, unless a broker hides its queues.
    """
    from rocketmq_capacity.assessment.layout import is_hidden_by_broker
    from rocketmq_capacity.assessment.versions import version_named_in  # the same

    version, broker_names = recommendation.before.get("version"), looked_into(recommendation)
    is_look = recommendation.action == INVESTIGATE and recommendation.consumer_group is recommendation.topic is None
    if is_look and finding.topic is not None and not is_hidden_by_broker(finding):
        return False
    return version in (None, version_named_in(finding)) and (not broker_names or finding.broker_name in broker_names)


def _changes_queues(recommendation: PlanRecommendation, finding: PlanFinding) -> bool:
    """Whether other queue counts of a topic concern the broker of its finding; true for any other."""
    before, after = recommendation.before.get("queues", ()), recommendation.after.get("queues", ())
    if finding.topic is None or finding.broker_name is None or not (before and after):
        return True
    return any(one["broker_name"] == finding.broker_name and one not in before for one in after)
