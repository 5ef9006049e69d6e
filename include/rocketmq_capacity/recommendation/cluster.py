"""The recommendations for the whole cluster: what answers findings that are about no group and no topic.

What is only looked into is one recommendation for each rule and broker, because unrelated findings would otherwise
share a cause. Brokers for which a rule advises the same are looked into together. So is everything that another
snapshot mends first: the rules on the snapshot itself, and what is undecided because of it.
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from msgspec.structs import replace

from rocketmq_capacity import tables
from rocketmq_capacity.assessment.broker_loss import CrashEvidence, MasterlessEvidence
from rocketmq_capacity.assessment.layout import is_hidden_by_broker
from rocketmq_capacity.assessment.versions import version_named_in
from rocketmq_capacity.catalogue.rule import evidence_of
from rocketmq_capacity.recommendation.add_broker import add_broker
from rocketmq_capacity.recommendation.afterwards import with_afterwards
from rocketmq_capacity.recommendation.facts import COVERAGE, AdvisedCluster
from rocketmq_capacity.recommendation.investigate import advice_on, investigate
from rocketmq_capacity.recommendation.raise_read_queues import RULE as READ_LESS_THAN_WRITE

ON_THE_SNAPSHOT: Final = ("SNAPSHOT_INCOMPLETE", "SUSPECT_SNAPSHOT")

Key = tuple[str | None, ...]
"""Identifies findings that are looked into together."""


def cluster_answers(
    findings: Sequence[tables.Finding], cluster: AdvisedCluster, created: Collection[str]
) -> list[tables.Recommendation]:
    """The recommendations for the whole cluster, which answer the findings without a group and without a topic.

    They also answer the topics whose queues a broker's own permission hides: it is mended at the broker, once.
    ``created`` are the topics for which CREATE_TOPIC_ON_BROKER is recommended: they answer the brokers that lack them.
    """
    levelled = {name for topic in created for name in cluster.lacking.get(topic, ())}
    of_cluster = [
        one
        for one in findings
        if one.consumer_group is one.topic is None and not (one.rule == COVERAGE and one.broker_name in levelled)
    ]
    hidden = {one.broker_name or "": one for one in findings if is_hidden_by_broker(one)}
    closed = [replace(one, topic=None) for _, one in sorted(hidden.items())]
    added = add_broker(of_cluster, cluster)
    answered = () if added is None else added.rules
    looks = _looks([one for one in (*of_cluster, *closed) if one.rule not in answered], cluster)
    done = with_afterwards([*([] if added is None else [added]), *looks], cluster.nameserver)
    return [_shows_permission(one) if one.rules == (READ_LESS_THAN_WRITE,) else one for one in done]


def _shows_permission(look: tables.Recommendation) -> tables.Recommendation:
    """The look into a closed broker: its settings, which are looked at first, also show that it is open again."""
    return replace(look, check_command=look.commands[0], check_shows="brokerPermission is 6.")


def _looks(findings: Sequence[tables.Finding], cluster: AdvisedCluster) -> Iterator[tables.Recommendation]:
    by_broker: dict[Key, list[tables.Finding]] = {}
    for finding in findings:
        by_broker.setdefault(_place(finding, cluster), []).append(finding)
    together: dict[Key, list[tables.Finding]] = {}
    lost = {one.rule for one in findings if isinstance(evidence_of(one), CrashEvidence | MasterlessEvidence)}
    for place, alike in by_broker.items():
        said = sorted({advice_on(one, cluster) for one in alike})
        # What else the loss of a broker would do is worse while another one is lost: it is mended with that.
        key = place if None in place else (place[0], *(() if place[0] in lost else said))
        together.setdefault(key, []).extend(alike)
    for alike in together.values():
        version = version_named_in(alike[0])
        yield investigate(alike, cluster, version=version, broker_names=_broker_names(alike))


def _broker_names(findings: Sequence[tables.Finding]) -> list[str]:
    """The brokers that the findings are about, sorted; none if one of them is about the whole cluster."""
    names = {one.broker_name for one in findings}
    return sorted(name for name in names if name is not None) if None not in names else []


def _place(finding: tables.Finding, cluster: AdvisedCluster) -> Key:
    """The rule and what it is about: a broker, a version, or (None) the whole cluster."""
    if finding.rule in ON_THE_SNAPSHOT or advice_on(finding, cluster) == cluster.undecided:
        return "the snapshot", None
    version = version_named_in(finding)
    return finding.rule, finding.broker_name if version is None else f"version {version}"
