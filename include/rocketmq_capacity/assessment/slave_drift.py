"""The rule on slaves that should have the same data as their master and do not: SLAVE_DRIFT."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Annotated, Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.assessment.balancing_faults import SLAVE_COPIES_NO_TYPES
from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.topology import NAMED, distinct
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.protocol.version import Version, version_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding, SlaveDifference
from rocketmq_capacity.vocabulary import INFO, WARNING, java_order
from rocketmq_capacity.wording import counted, listed, rounded


class Drifted(Struct, frozen=True, kw_only=True):
    """A topic on a slave and on its master."""

    topic: Annotated[str, means("the topic")]
    read_queue_nums: Annotated[int | None, means("on the slave", "queue")]
    write_queue_nums: Annotated[int | None, means("on the slave", "queue")]
    master_read_queue_nums: Annotated[int | None, means("on the master", "queue")]
    master_write_queue_nums: Annotated[int | None, means("on the master", "queue")]


class SlaveDrift(Evidence, frozen=True, kw_only=True):
    """The evidence of SLAVE_DRIFT."""

    slave_ids: Annotated[Sequence[int], means("broker ids of the slaves that differ", "")]
    missing_topics: Annotated[Sequence[str], means("the first topics that they lack")]
    other_topics: Annotated[Sequence[str], means("the first topics with other queues")]
    missing_groups: Annotated[Sequence[str], means("the first groups that they lack")]
    topics: Annotated[int, means("that they lack or that differ", "topic")]
    groups: Annotated[int, means("that they lack", "group")]
    changed_ago_s: Annotated[float | None, means("time since the master changed")]
    known_fault: Annotated[str | None, means("a fault of their version that can be the cause")]
    differences: Annotated[Sequence[Drifted], means("the first topics, with both sides")]


LOOK: Final = (
    "Find out why this slave ({subjects}) does not copy its master, before the master is switched: its log, and whether"
    " it reaches the master's address. Afterwards brokerStatus of the slave shows that it runs, and a new snapshot"
    " finds nothing."
)
UPGRADE: Final = "Upgrade it to 5.4.0 or later: with the known fault it stops copying again."


def _advice(_: Finding, evidence: Evidence) -> str:
    is_known = isinstance(evidence, SlaveDrift) and evidence.known_fault is not None
    return f"{LOOK} {UPGRADE}" if is_known else LOOK


SLAVE_DRIFT: Final = Rule(
    name="SLAVE_DRIFT",
    title="Slaves that lack what their masters have",
    meaning=(
        "If a slave replaces its master, the broker has only the slave's topics and groups. What it lacks is lost."
    ),
    place=170,
    goal="SURVIVES_LOSS",
    evidence=SlaveDrift,
    advice=_advice,
    looks="slave",
    about=("broker",),
    severities={
        "WARNING": "the next switch of masters hurts",
        "INFO": "the master changed so lately that the slave may not have asked yet",
    },
    details="""
    A slave lacks topics or consumer groups of its master, or has other numbers of queues. The slaves of one broker
    are one finding. A slave asks its master once a minute. The rule does not look at what only the slave has.

    Slaves of RocketMQ 5.3.2 and 5.3.3 stop copying topics at the first one that has a message type
    ([#9403](https://github.com/apache/rocketmq/issues/9403)). The finding then names this as `known_fault`. Upgrade
    the slave to 5.4.0 or later.
    """,
)


def slave_drift(cluster: ClusterFacts, disagreements: Disagreements, policy: Policy) -> Iterator[Finding]:
    """SLAVE_DRIFT: a slave lacks topics, queues or groups of its master; if it becomes the master, they are lost.

    The slaves of one broker are one finding. It is INFO if the master's tables changed so lately that they may not have
    asked for them yet.
    Source: SlaveSynchronize, BrokerController.handleSlaveSynchronize (every 60 s), rocketmq-all-5.3.3.
    """
    settle_s = policy.thresholds.SLAVE_DRIFT.settle_s
    rows = sorted(disagreements.slaves, key=lambda row: (java_order(row.broker_name), row.broker_id))
    versions = {(one.broker_name, one.broker_id): version_of(one.version) for one in cluster.brokers} if rows else {}
    for broker_name, of_broker in groupby(rows, key=lambda row: row.broker_name):
        slaves = [list(of_slave) for _, of_slave in groupby(of_broker, key=lambda row: row.broker_id)]
        yield _drift(
            slaves, settle_s, {broker_id: versions.get((broker_name, broker_id)) for broker_id in _ids(slaves)}
        )


def _ids(slaves: Iterable[Sequence[SlaveDifference]]) -> list[int]:
    return [rows[0].broker_id for rows in slaves]


def _drift(
    slaves: Sequence[Sequence[SlaveDifference]], settle_s: float, versions: Mapping[int, Version | None]
) -> Finding:
    """The finding about a broker's slaves, each with its rows."""
    every = list(chain.from_iterable(slaves))
    about_topics = [row for row in every if row.topic is not None]
    missing, other, groups = _lacking(every)
    ago_s = every[0].changed_ago_s
    is_on_its_way = ago_s is not None and ago_s <= settle_s
    may_have = any(SLAVE_COPIES_NO_TYPES.range_of(versions[rows[0].broker_id]) for rows in slaves if _lacking(rows)[0])
    fault = SLAVE_COPIES_NO_TYPES if may_have else None
    return finding(
        SLAVE_DRIFT,
        INFO if is_on_its_way else WARNING,
        broker_name=every[0].broker_name,
        subjects=[rows[0].broker_addr or f"{rows[0].broker_name} {rows[0].broker_id}" for rows in slaves],
        evidence=SlaveDrift(
            slave_ids=_ids(slaves),
            missing_topics=missing[:NAMED],
            other_topics=other[:NAMED],
            missing_groups=groups[:NAMED],
            topics=len({*missing, *other}),
            groups=len(groups),
            changed_ago_s=rounded(ago_s, 0),
            known_fault=None if fault is None else f"apache/rocketmq#{fault.issue}",
            differences=msgspec.convert(about_topics[:NAMED], list[Drifted], from_attributes=True),
        ),
        message=" ".join(map(_slave_in_words, slaves))
        + (" The master changed a moment ago: they may be on their way." if is_on_its_way else "")
        + ("" if fault is None else f" A known fault can be the cause: {fault.what} (apache/rocketmq#{fault.issue})."),
    )


def _lacking(rows: Iterable[SlaveDifference]) -> tuple[list[str], list[str], list[str]]:
    """The topics that slaves lack, the topics that differ, and the groups that they lack."""
    rows = list(rows)
    return (
        distinct(row.topic for row in rows if row.read_queue_nums is None),
        distinct(row.topic for row in rows if row.read_queue_nums is not None),
        distinct(row.consumer_group for row in rows),
    )


def _slave_in_words(rows: Sequence[SlaveDifference]) -> str:
    lacks = _lacking(rows)
    names = listed(list(chain.from_iterable(lacks)))
    return f"Slave {rows[0].broker_id} of {rows[0].broker_name} {_drift_in_words(*lacks)} ({names})."


def _drift_in_words(missing: Sequence[str], other: Sequence[str], groups: Sequence[str]) -> str:
    """A sentence about the topics and groups that the slave lacks, and the topics that differ."""
    lacks = [counted(len(names), noun) for names, noun in ((missing, "topic"), (groups, "group")) if names]
    parts = [f"lacks {' and '.join(lacks)} of its master"] if lacks else []
    if other:
        parts.append(f"has {counted(len(other), 'topic')} with other queues than its master")
    return ", and ".join(parts)


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (slave_drift,)
