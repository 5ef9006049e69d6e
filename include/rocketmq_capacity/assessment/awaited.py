"""Brokers that crashed and that somebody waits for: what fewer queues explain is not to be mended meanwhile."""

from collections.abc import Collection
from typing import Final

from rocketmq_capacity.catalogue.rule import rule_of
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import GoneBroker
from rocketmq_capacity.vocabulary import CRITICAL

RULE: Final = "BROKER_LOSS"
ORPHAN: Final = "ORPHAN_QUEUE"
CAPACITY: Final = "CONSUMER_CAPACITY"


def awaited_brokers(cluster: ClusterFacts, policy: Policy) -> list[GoneBroker]:
    """The brokers that are lost, by name; without those whose loss, which is CRITICAL, somebody has accepted.

    Who accepted that a broker may be lost has not accepted that it is.
    """
    if not cluster.gone:  # almost always, and every group asks
        return []
    taken_at = cluster.cluster.taken_at
    accepted = [one for one in policy.accepted if one.severity == CRITICAL and not one.is_over(taken_at)]
    return [
        broker
        for broker in cluster.gone
        if not any(one.is_about(RULE, None, None, (broker.broker_name,)) for one in accepted)
    ]


def awaited_of(topics: Collection[str], brokers: Collection[GoneBroker]) -> list[str]:
    """The names of those of these brokers that had queues of one of these topics."""
    return [one.broker_name for one in brokers if any(topic in one.topics for topic in topics)]


def comes_of_fewer_queues(rule: str) -> bool:
    """Whether fewer queues may be all that is behind a rule's findings: fewer clients do the work of all.

    An orphan queue is one that is left.
    """
    return rule == CAPACITY or (rule_of(rule).follows_loss_of is not None and rule != ORPHAN)
