"""The rule on producers: PERMANENT_DISPLACEMENT."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Final

from msgspec import Struct

from rocketmq_capacity.assessment.balancing_faults import RENAMED_QUEUE
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.protocol.version import Version, version_of
from rocketmq_capacity.tables import Finding, Producer
from rocketmq_capacity.vocabulary import INFO, JAVA, java_order
from rocketmq_capacity.wording import counted, listed


class Displacing(Struct, frozen=True, kw_only=True):
    """Producers of a group with such a version."""

    producer_group: Annotated[str, means("the group")]
    version: Annotated[str, means("the version")]
    clients: Annotated[int, means("of this version", "client")]


class DisplacementEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of PERMANENT_DISPLACEMENT."""

    clients: Annotated[int, means("with such a version", "client")]
    producers: Annotated[Sequence[Displacing], means("these, by group and version")]
    issue: Annotated[str, means("the fault, as an issue of apache/rocketmq")]
    fixed_in: Annotated[Sequence[str], means("first versions without it")]


PERMANENT_DISPLACEMENT: Final = Rule(
    name="PERMANENT_DISPLACEMENT",
    title="Producers that may send to a wrong broker for ever",
    meaning=(
        "After all brokers of a topic were slow at once, a producer of these versions can give a queue another"
        " broker's name. It keeps that name until the producer restarts."
    ),
    place=330,
    evidence=DisplacementEvidence,
    advice=(
        "Upgrade the client of these producers to 4.9.8 or 5.1.4, or restart them after a broker was slow: {subjects}."
    ),
    about=("cluster",),
    severities={
        "INFO": "it may happen",
    },
    details="""
    Java producers up to 4.9.7, and from 5.0.0 to 5.1.3, can send to a wrong broker until they restart
    (apache/rocketmq#7779). It happens if their latency fault tolerance (`sendLatencyFaultEnable`) is on and every
    broker of a topic was slow at the same time. Whether it is on cannot be seen from outside, so the finding is for
    information. The finding needs `producers` in the inventory; brokers report them from 4.9.4 on.
    """,
)


def permanent_displacement(producers: Iterable[Producer]) -> Iterator[Finding]:
    """PERMANENT_DISPLACEMENT: Java producers of versions that can send to a wrong broker for ever (#7779).

    It happens if ``sendLatencyFaultEnable`` is on and all brokers of a topic are avoided at once. Nobody outside the
    producer can see whether it is on, so the finding is INFO.
    Source: MQFaultStrategy.selectOneMessageQueue, rocketmq-all-4.9.7 and rocketmq-all-5.1.3.
    """
    displacing: Counter[tuple[str, str]] = Counter()
    ids: set[str] = set()
    fixed: set[Version] = set()
    for producer in producers:
        faulty = RENAMED_QUEUE.range_of(version_of(producer.version)) if producer.language == JAVA else None
        if faulty is not None:
            displacing[producer.producer_group, producer.version or ""] += 1
            ids.add(producer.client_id)
            fixed.add(faulty.fixed)
    if not displacing:
        return
    groups = sorted({group for group, _ in displacing}, key=java_order)
    yield finding(
        PERMANENT_DISPLACEMENT,
        INFO,
        subjects=sorted(ids, key=java_order),
        evidence=DisplacementEvidence(
            clients=displacing.total(),
            producers=[
                Displacing(producer_group=group, version=version, clients=displacing[group, version])
                for group, version in sorted(displacing)
            ],
            issue=f"#{RENAMED_QUEUE.issue}",
            fixed_in=[".".join(map(str, version)) for version in sorted(fixed)],
        ),
        message=f"{counted(displacing.total(), 'producer')} of {listed(groups)} can send to a wrong broker until they"
        " restart, if their latency fault tolerance is on and every broker of a topic was slow at once.",
    )
