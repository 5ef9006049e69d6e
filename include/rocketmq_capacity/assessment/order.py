"""The rule on order: FIFO_BROKEN."""

from collections.abc import Iterator, Sequence
from typing import Annotated, Final

from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import AssessedGroup, GroupRule
from rocketmq_capacity.assessment.replicas import masterless, readable_without_master
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import Place, Reads
from rocketmq_capacity.tables import Finding
from rocketmq_capacity.vocabulary import CRITICAL, FIFO, INFO, MASTERLESS, WARNING, Severity, java_order
from rocketmq_capacity.wording import counted

NO_MASTER: Final = (
    "Bring back the master of {subjects}: consumers that consume in order lock each queue at the master, and read no"
    " queue of a broker without a master. Afterwards consumerProgress names a client for each of its queues."
)
NOT_IN_ORDER: Final = (
    "Find out whether {topic} has to be consumed in order. If so, register a MessageListenerOrderly in all clients;"
    " for gRPC clients set consumeMessageOrderly in the group's configuration. If not, let producers use another"
    " topic, which is not FIFO. Afterwards consumerStatus says PROP_CONSUMEORDERLY true for each client."
)


class UnorderedEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of FIFO_BROKEN for a group that does not consume in order."""

    message_type: Annotated[str, means("type of the topic")]
    orderly: Annotated[bool, means("whether the group consumes in order")]
    clients: Annotated[int, means("that read the topic", "client")]


class UnlockableEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of FIFO_BROKEN for queues that nobody can lock."""

    orderly: Annotated[bool, means("whether the group consumes in order")]
    queues: Annotated[int, means("that cannot be locked", "queue")]
    slave_ids: Annotated[Sequence[int], means("ids of the broker's slaves", "")]
    slave_may_act_as_master: Annotated[bool | None, means("whether a slave may lock queues instead")]


def _advice(_: Finding, evidence: Evidence) -> str:
    return NOT_IN_ORDER if isinstance(evidence, UnorderedEvidence) else NO_MASTER


FIFO_BROKEN: Final = Rule(
    name="FIFO_BROKEN",
    title="Order that is not kept",
    meaning=(
        "Messages of one key should be handled one after the other. Consumers that do not consume in order handle"
        " them in parallel. Consumers that do consume in order read nothing from a broker without a master."
    ),
    place=70,
    goal="ORDER_KEPT",
    evidence=(UnorderedEvidence, UnlockableEvidence),
    advice=_advice,
    looks="order",
    needs=("clients", "broker", "queues"),
    severities={
        "CRITICAL": "messages are out of order, or unread",
        "WARNING": "nothing arrives, or a slave may act as master",
        "INFO": "no client runs",
    },
    details="""
    Two cases:

    - A group that does not consume in order reads a FIFO topic: its clients handle messages of one key at the same
      time.
    - An orderly group reads queues of a broker that has slaves and no master. Its clients lock each queue at the
      master, so nobody reads these queues until the master is back, unless a slave acts as master
      (`enableSlaveActingMaster`) and answers pulls (`slaveReadEnable`).
    """,
)


ACTING: Final = "enableSlaveActingMaster"
"""A broker's setting: while there is no master, the slave with the lowest id may lock queues (BrokerConfig)."""


def unordered_reader(group: AssessedGroup) -> Iterator[Finding]:
    """FIFO_BROKEN: a group that is not orderly reads a FIFO topic; its clients handle messages of one key in parallel.

    It is CRITICAL, as messages are out of order now. It is a WARNING while no message arrives, and INFO for a group
    without clients. If it is unknown whether a group is orderly, there is no finding.
    Source: ConsumeMessageConcurrentlyService; SubscriptionGroupConfig.consumeMessageOrderly for gRPC clients;
    rocketmq-all-5.3.3.
    """
    if group.facts.is_orderly is not False:
        return
    for reads in group.business:
        topic = reads.topic.topic
        if reads.topic.message_type != FIFO:
            continue
        clients = sorted({one.client_id for one in group.facts.consumers if one.reads(topic)}, key=java_order)
        if group.facts.consumers and not clients:
            continue
        yield finding(
            FIFO_BROKEN,
            _unordered_severity(reads) if clients else INFO,
            consumer_group=group.name,
            topic=topic,
            subjects=clients,
            evidence=UnorderedEvidence(message_type=FIFO, orderly=False, clients=len(clients)),
            message="The topic is FIFO, and the group does not consume in order: messages of one key are handled side"
            " by side.",
        )


def _unordered_severity(reads: Reads) -> Severity:
    return WARNING if all(one.put_msgs_per_s == 0 for one in reads.topic.written) and reads.topic.written else CRITICAL


def unlockable_queues(group: AssessedGroup) -> Iterator[Finding]:
    """FIFO_BROKEN: an orderly group reads queues of a broker that has slaves and no master.

    A clustering consumer locks a queue at the master before it reads it in order. Nobody reads a queue that cannot be
    locked. If a slave may act as master, it is only a warning, unless it refuses every pull (``slaveReadEnable``).
    Source: RebalanceImpl.lock, rocketmq-all-5.3.3 (findBrokerAddressInSubscribe with only MASTER_ID).
    """
    if not (group.facts.is_orderly and group.is_clustering):
        return
    for reads in group.business:
        for place in sorted(reads.topic.places, key=lambda place: java_order(place.broker_name)):
            if place.broker_state == MASTERLESS and place.readable:
                yield _unlockable(group, reads, place)


def _unlockable(group: AssessedGroup, reads: Reads, place: Place) -> Finding:
    slaves = masterless(one for one in group.cluster.brokers if one.broker_name == place.broker_name)[place.broker_name]
    answers = {(one.config or {}).get(ACTING) for one in slaves}
    may_act = None if None in answers and "true" not in answers else "true" in answers
    refuses = readable_without_master(slaves).pull is False
    severity: Severity = WARNING if may_act and not refuses else CRITICAL
    return finding(
        FIFO_BROKEN,
        severity if group.facts.consumers else INFO,
        consumer_group=group.name,
        topic=reads.topic.topic,
        broker_name=place.broker_name,
        subjects=[place.broker_name],
        evidence=UnlockableEvidence(
            orderly=True,
            queues=place.readable,
            slave_ids=sorted(one.broker_id for one in slaves),
            slave_may_act_as_master=may_act,
        ),
        message=_unlockable_in_words(place, may_act, refuses=refuses),
    )


def _unlockable_in_words(place: Place, may_act: bool | None, *, refuses: bool) -> str:
    if may_act and refuses:
        return (
            f"{place.broker_name} has no master, so that nobody reads {counted(place.readable, 'queue')} there in"
            " order: a slave may act as master, but it refuses every pull."
        )
    perhaps = "" if may_act is False or refuses else " unless a slave acts as master"
    return (
        f"{place.broker_name} has no master, so that the group cannot lock {counted(place.readable, 'queue')}"
        f" there{': a slave may act as master.' if may_act else f', and nobody reads them{perhaps}.'}"
    )


GROUP_RULES: Final[tuple[GroupRule, ...]] = (unordered_reader, unlockable_queues)
