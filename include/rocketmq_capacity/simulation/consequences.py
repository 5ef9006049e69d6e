"""Why the changed cluster has a new finding, where a lost topic, broker or client is the whole reason."""

from collections.abc import Mapping, Sequence

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.simulation.effect_words import gone_topics
from rocketmq_capacity.tables import Finding, ScenarioGroup
from rocketmq_capacity.wording import counted, listed


def lost_brokers(before: ClusterFacts, after: ClusterFacts) -> list[str]:
    """The names of the brokers that only the first cluster has, sorted."""
    return sorted(before.broker_names - after.broker_names)


def cause_of(finding: Finding, groups: Mapping[str, ScenarioGroup], lost_brokers: Sequence[str]) -> str | None:
    """What the change takes away so that the finding follows; None if it has another reason.

    Args:
        finding: a finding that only the changed cluster has.
        groups: the groups that the change touches, by name.
        lost_brokers: the brokers that it takes away.
    """
    gone = f"{'broker' if len(lost_brokers) == 1 else 'brokers'} {listed(lost_brokers)}"
    if finding.consumer_group is None:
        return (
            f"the cluster has lost {gone}"
            if lost_brokers and rule_of(finding.rule).follows_loss_of == "brokers"
            else None
        )
    row = groups.get(finding.consumer_group)
    if row is None:
        return None
    if row.before_clients and not row.after_clients:
        return "no client of the group is left"
    if row.unreadable_topics and (finding.topic in row.unreadable_topics or not row.after_queues):
        return "; ".join(gone_topics(row.unreadable_topics, row.unwritable_topics))
    lost = row.before_queues - row.after_queues
    if rule_of(finding.rule).follows_loss_of == "queues" and lost > 0 and row.before_clients >= row.after_clients:
        at = f" with {gone}" if lost_brokers else ""
        return f"{lost} of {counted(row.before_queues, 'queue')} of its topics are gone{at}"
    return None
