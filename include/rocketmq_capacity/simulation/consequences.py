"""Why the changed cluster has a new finding, where a lost topic, broker or client is the whole reason."""

from collections.abc import Collection, Mapping, Sequence

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.simulation.change import ScenarioChange
from rocketmq_capacity.simulation.effect_words import gone_topics
from rocketmq_capacity.tables import Finding, ScenarioGroup
from rocketmq_capacity.wording import counted, listed


def lost_brokers(before: ClusterFacts, after: ClusterFacts) -> list[str]:
    """The names of the brokers that only the first cluster has, sorted."""
    return sorted(before.broker_names - after.broker_names)


def cause_of(
    finding: Finding,
    groups: Mapping[str, ScenarioGroup],
    lost_brokers: Sequence[str],
    changes: Collection[ScenarioChange],
) -> str | None:
    """What the changes take away so that the finding follows; None if it has, or may have, another reason.

    Args:
        finding: a finding that only the changed cluster has.
        groups: the groups that the changes touch, by name.
        lost_brokers: the brokers that they take away.
        changes: the scenario's.
    """
    gone = f"{'broker' if len(lost_brokers) == 1 else 'brokers'} {listed(lost_brokers)}"
    follows = rule_of(finding.rule).follows_loss_of
    if _may_have_another(finding, lost_brokers, changes):
        follows = None
    if finding.consumer_group is None:
        return f"the cluster has lost {gone}" if lost_brokers and follows == "brokers" else None
    row = groups.get(finding.consumer_group)
    if row is None:
        return None
    if row.before_clients and not row.after_clients:
        return "no client of the group is left"
    if row.unreadable_topics and (finding.topic in row.unreadable_topics or not row.after_queues):
        return "; ".join(gone_topics(row.unreadable_topics, row.unwritable_topics))
    lost = row.before_queues - row.after_queues
    if follows == "queues" and lost > 0 and row.before_clients >= row.after_clients:
        at = f" with {gone}" if lost_brokers else ""
        return f"{lost} of {counted(row.before_queues, 'queue')} of its topics are gone{at}"
    return None


def _may_have_another(finding: Finding, lost_brokers: Collection[str], changes: Collection[ScenarioChange]) -> bool:
    """Whether the finding may follow from a change that takes no broker and no queue away, besides those that do."""
    if (len(lost_brokers) > 0) + sum(change.ALTERS == "queues" for change in changes) > 1:
        return True
    anew = {change.divided_anew for change in changes} - {None}
    alters_messages = any(_alters_messages(change, lost_brokers) for change in changes)
    if finding.consumer_group is None:
        return alters_messages or bool(anew)
    return finding.consumer_group in anew or (alters_messages and rule_of(finding.rule).skews is not None)


def _alters_messages(change: ScenarioChange, lost_brokers: Collection[str]) -> bool:
    """Whether other messages are written to queues, although all of their brokers stay."""
    trouble = change.trouble
    avoided = trouble.read_only | trouble.lost_if_masterless
    return change.ALTERS == "messages" or not avoided <= set(lost_brokers)
