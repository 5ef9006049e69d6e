"""Rules on the disks of brokers: BROKER_DISK."""

from collections.abc import Iterator
from typing import Final

from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.finding import finding, percent
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.contracts import Broker, Finding
from rocketmq_capacity.contracts.disk import deletes_early_above, used_ratio
from rocketmq_capacity.contracts.facts import ClusterFacts, Disagreements
from rocketmq_capacity.contracts.wording import rounded
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.vocabulary import CRITICAL, WARNING

BROKER_DISK: Final = Rule(
    name="BROKER_DISK",
    title="Brokers whose disk fills",
    meaning="Above its limits a broker first deletes messages early, then refuses new ones.",
    place=150,
    looks="disk",
)


def broker_disk(cluster: ClusterFacts, _: Disagreements, policy: Policy) -> Iterator[Finding]:
    """BROKER_DISK: a broker's disk is so full that it deletes messages before their time, or soon refuses new ones.

    Masters and slaves are judged alike. A broker that does not say how full its disk is has no finding.
    """
    bounds = policy.thresholds.BROKER_DISK
    for broker in sorted(cluster.brokers, key=lambda one: (one.broker_name, one.broker_id, one.broker_addr or "")):
        used, above = used_ratio(broker), deletes_early_above(broker, bounds.warning_ratio)
        if used is None or used <= min(above, bounds.critical_ratio):
            continue
        name = _named(broker)
        yield finding(
            BROKER_DISK,
            CRITICAL if used > bounds.critical_ratio else WARNING,
            broker_name=broker.broker_name,
            subjects=[name],
            evidence={
                "broker_addr": broker.broker_addr,
                "is_slave": broker.broker_id > 0,
                "used_ratio": rounded(used),
                "deletes_early_above_ratio": rounded(above),
                "critical_ratio": rounded(bounds.critical_ratio),
            },
            message=f"{percent(used)} of the disk of {name} are used; above {percent(above)} it deletes messages before"
            " their time, and above 90 % it refuses new ones.",
        )


def _named(broker: Broker) -> str:
    return broker.broker_addr or f"{broker.broker_name} {broker.broker_id}"


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (broker_disk,)
