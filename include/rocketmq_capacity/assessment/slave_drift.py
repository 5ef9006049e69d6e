"""The rule on slaves that should have the same data as their master and do not: SLAVE_DRIFT."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Annotated, Final, NamedTuple

import msgspec
from msgspec import UNSET, Struct, UnsetType

from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.lag import duration
from rocketmq_capacity.assessment.topology import NAMED, distinct
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.broker_figures import LOG_END, MIB, put_bytes_per_s
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.protocol.version import Version, version_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker, Finding, SlaveDifference
from rocketmq_capacity.vocabulary import INFO, WARNING, java_order
from rocketmq_capacity.wording import counted, fixed, listed, rounded


class Drifted(Struct, frozen=True, kw_only=True):
    """A topic on a slave and on its master."""

    topic: Annotated[str, means("the topic")]
    read_queue_nums: Annotated[int | None, means("on the slave", "queue")]
    write_queue_nums: Annotated[int | None, means("on the slave", "queue")]
    master_read_queue_nums: Annotated[int | None, means("on the master", "queue")]
    master_write_queue_nums: Annotated[int | None, means("on the master", "queue")]


class SlaveDriftEvidence(Evidence, frozen=True, kw_only=True):
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
    uncopied_bytes: Annotated[
        int | UnsetType, means("of the master's commit log that a slave has not copied, the most of them", "B")
    ] = UNSET
    uncopied_s: Annotated[
        float | UnsetType | None, means("time in which the master writes so much; unknown if it writes nothing")
    ] = UNSET


LOOK: Final = (
    "Find out why this slave ({subjects}) does not copy its master, before the master is switched: its log, and whether"
    " it reaches the master's address. Afterwards brokerStatus of the slave shows that it runs, and a new snapshot"
    " finds nothing."
)


class SlaveFault(NamedTuple):
    """A fault of RocketMQ in how slaves copy their masters.

    Attributes:
        issue: number of the issue of apache/rocketmq.
        first: the first version that has it.
        last: the last version that has it.
        what: what goes wrong, in words.
        advice: what to do, in sentences.
    """

    issue: int
    first: Version
    last: Version
    what: str
    advice: str

    @property
    def name(self) -> str:
        """The issue, as GitHub writes it."""
        return f"apache/rocketmq#{self.issue}"

    def can_be_in(self, version: Version | None) -> bool:
        """Whether the version has the fault."""
        return version is not None and self.first <= version <= self.last


COPIES_NO_TYPES: Final = SlaveFault(
    9403,
    (5, 3, 2),
    (5, 3, 3),
    "a slave of this version stops copying topics at the first one that has a message type",
    f"{LOOK} Upgrade it to 5.5.0 or later: with the known fault it stops copying again.",
)
REPLACES_EVERYTHING: Final = SlaveFault(
    9984,
    (5, 3, 2),
    (5, 4, 0),
    "a slave of this version takes away every topic and group, one after the other, before it copies its master's",
    'Switch the master of this slave ({subjects}) only while it has its topics: from the line "Update slave topic'
    ' config from master" in its log until the next "delete topic config OK". The fewer topics and groups a broker has,'
    " the sooner its slave has copied them. Upgrade it to 5.5.0 or later, which does not have the known fault.",
)
FAULTS: Final = (COPIES_NO_TYPES, REPLACES_EVERYTHING)


def _advice(_: Finding, evidence: Evidence) -> str:
    known = evidence.known_fault if isinstance(evidence, SlaveDriftEvidence) else None
    return next((fault.advice for fault in FAULTS if fault.name == known), LOOK)


SLAVE_DRIFT: Final = Rule(
    name="SLAVE_DRIFT",
    title="Slaves that lack what their masters have",
    meaning=(
        "If a slave replaces its master, the broker has only what the slave has. The topics, groups and messages that"
        " it lacks are lost."
    ),
    place=170,
    goal="SURVIVES_LOSS",
    evidence=SlaveDriftEvidence,
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

    Or its commit log ends before that of its master (`commitLogMaxOffset` of both), by 1 MiB or more, and by more than
    the master writes in `uncopied_s` at its highest rate (`putTps`, `putMessageAverageSize`).

    Slaves of RocketMQ 5.3.2 and 5.3.3 stop copying topics at the first one that has a message type
    ([#9403](https://github.com/apache/rocketmq/issues/9403)). The finding then names this as `known_fault`. Upgrade
    the slave to 5.5.0 or later: 5.4.0 mends this, and still has the next fault.

    Slaves of RocketMQ 5.3.2 to 5.4.0 take away every topic and group, one after the other, before they copy those of
    the master ([#9984](https://github.com/apache/rocketmq/issues/9984)), once a minute. With 300 topics that takes
    half a second, with 3,000 it takes 30 s, and in between clients cannot read these topics there. The snapshot waits
    up to 60 s until the slave has copied them. The rule speaks, and names this as `known_fault`, if that takes longer.
    A scenario with `lose_master` takes such topics as copied.
    """,
)


def slave_drift(cluster: ClusterFacts, disagreements: Disagreements, policy: Policy) -> Iterator[Finding]:
    """SLAVE_DRIFT: a slave lacks topics, queues or groups of its master; if it becomes the master, they are lost.

    So are messages that it has not copied. The slaves of one broker are one finding. It is INFO if the master's tables
    changed so lately that they may not have asked for them yet.
    Source: SlaveSynchronize, BrokerController.handleSlaveSynchronize (every 60 s), rocketmq-all-5.3.3.
    """
    bounds = policy.thresholds.SLAVE_DRIFT
    rows = sorted(disagreements.slaves, key=lambda row: (java_order(row.broker_name), row.broker_id))
    drifted = {
        name: [list(of_slave) for _, of_slave in groupby(of_broker, key=lambda row: row.broker_id)]
        for name, of_broker in groupby(rows, key=lambda row: row.broker_name)
    }
    uncopied = _uncopied(cluster.brokers, bounds.uncopied_s)
    versions = {(one.broker_name, one.broker_id): version_of(one.version) for one in cluster.brokers} if rows else {}
    for name in sorted({*drifted, *uncopied}, key=java_order):
        slaves = drifted.get(name, [])
        known = {of_slave[0].broker_id: versions.get((name, of_slave[0].broker_id)) for of_slave in slaves}
        yield _drift(name, slaves, uncopied.get(name, []), bounds.settle_s, known)


class Uncopied(NamedTuple):
    """The end of a master's commit log that a slave has not copied.

    Attributes:
        broker_id: of the slave.
        broker_addr: of the slave.
        log_bytes: how much it is.
        over_s: the seconds in which the master writes so much; None if it writes nothing now.
    """

    broker_id: int
    broker_addr: str | None
    log_bytes: int
    over_s: float | None


def _uncopied(brokers: Iterable[Broker], bound_s: float) -> dict[str, list[Uncopied]]:
    """By broker name: the slaves that are behind by more than the master writes in so many seconds, by id.

    Master and slave are asked one after the other, so that a difference of less than 1 MiB says nothing.
    """
    masters = {one.broker_name: one for one in brokers if one.broker_id == 0}
    behind: dict[str, list[Uncopied]] = {}
    for slave in sorted((one for one in brokers if one.broker_id > 0), key=lambda one: one.broker_id):
        master = masters.get(slave.broker_name)
        if master is None:
            continue
        written, copied, rate = _log_end(master), _log_end(slave), put_bytes_per_s(master.runtime)
        if written is None or copied is None or rate is None:
            continue
        lacks = written - copied
        if lacks >= MIB and lacks > rate * bound_s:
            over_s = lacks / rate if rate else None
            behind.setdefault(slave.broker_name, []).append(Uncopied(slave.broker_id, slave.broker_addr, lacks, over_s))
    return behind


def _log_end(broker: Broker) -> int | None:
    return whole_number((broker.runtime or {}).get(LOG_END))


def _drift(
    name: str,
    slaves: Sequence[Sequence[SlaveDifference]],
    uncopied: Sequence[Uncopied],
    settle_s: float,
    versions: Mapping[int, Version | None],
) -> Finding:
    """The finding about a broker's slaves: those that differ, each with its rows, and those that are behind."""
    every = list(chain.from_iterable(slaves))
    addresses = {row.broker_id: row.broker_addr for row in every}
    addresses |= {one.broker_id: one.broker_addr for one in uncopied}
    most = max(uncopied, key=lambda one: one.log_bytes, default=None)
    words = [*map(_slave_in_words, slaves), *(_uncopied_in_words(name, one) for one in uncopied)]
    about_topics = [row for row in every if row.topic is not None]
    missing, other, groups = _lacking(every)
    ago_s = every[0].changed_ago_s if every else None
    is_on_its_way = ago_s is not None and ago_s <= settle_s
    fault = next(filter(None, (_fault(versions, rows) for rows in slaves)), None)
    return finding(
        SLAVE_DRIFT,
        INFO if is_on_its_way and not uncopied else WARNING,
        broker_name=name,
        subjects=[addresses[broker_id] or f"{name} {broker_id}" for broker_id in sorted(addresses)],
        evidence=SlaveDriftEvidence(
            slave_ids=sorted(addresses),
            missing_topics=missing[:NAMED],
            other_topics=other[:NAMED],
            missing_groups=groups[:NAMED],
            topics=len({*missing, *other}),
            groups=len(groups),
            changed_ago_s=rounded(ago_s, 0),
            known_fault=None if fault is None else fault.name,
            differences=msgspec.convert(about_topics[:NAMED], list[Drifted], from_attributes=True),
            uncopied_bytes=UNSET if most is None else most.log_bytes,
            uncopied_s=UNSET if most is None else rounded(most.over_s, 0),
        ),
        message=" ".join(words)
        + (" The master changed a moment ago: they may be on their way." if is_on_its_way else "")
        + ("" if fault is None else f" A known fault can be the cause: {fault.what} (apache/rocketmq#{fault.issue})."),
    )


def _fault(versions: Mapping[int, Version | None], rows: Sequence[SlaveDifference]) -> SlaveFault | None:
    """The fault that can be why this slave differs."""
    version = versions[rows[0].broker_id]
    if rows[0].is_copying:
        return REPLACES_EVERYTHING if REPLACES_EVERYTHING.can_be_in(version) else None
    lacks_topics = any(row.topic is not None and row.read_queue_nums is None for row in rows)
    return COPIES_NO_TYPES if lacks_topics and COPIES_NO_TYPES.can_be_in(version) else None


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
    words = f"Slave {rows[0].broker_id} of {rows[0].broker_name} {_drift_in_words(*lacks)} ({names})."
    return f"{words} It was copying its master as long as it was watched." if rows[0].is_copying else words


def _uncopied_in_words(name: str, slave: Uncopied) -> str:
    how = "although it writes nothing" if slave.over_s is None else f"as much as it writes in {duration(slave.over_s)}"
    return (
        f"Slave {slave.broker_id} of {name} has not copied the last {fixed(slave.log_bytes / MIB, 1)} MiB of its"
        f" master's messages, {how}."
    )


def _drift_in_words(missing: Sequence[str], other: Sequence[str], groups: Sequence[str]) -> str:
    """A sentence about the topics and groups that the slave lacks, and the topics that differ."""
    lacks = [counted(len(names), noun) for names, noun in ((missing, "topic"), (groups, "group")) if names]
    parts = [f"lacks {' and '.join(lacks)} of its master"] if lacks else []
    if other:
        parts.append(f"has {counted(len(other), 'topic')} with other queues than its master")
    return ", and ".join(parts)


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (slave_drift,)
