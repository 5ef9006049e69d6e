"""BROKER_LOSS: what the loss of one broker would do, and brokers that have lost their master already."""

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Annotated, ClassVar, Final, NamedTuple

from rocketmq_capacity.assessment.broker_loads import BrokerLoads, OverBroker
from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.failures import read_again_s
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.lag import duration
from rocketmq_capacity.assessment.replicas import masterless, readable_without_master
from rocketmq_capacity.assessment.topic_failures import TopicLoss
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker, Finding
from rocketmq_capacity.vocabulary import BROKER, CRITICAL, INFO, WARNING, java_order
from rocketmq_capacity.wording import counted, fixed, listed, percent, rounded

MAY_BE_LOST: Final = (
    "Decide whether the cluster may lose one of these brokers: spread their topics to other brokers, and give the"
    " groups that would be too weak more clients, with more queues where each queue has a client of its own already."
)
IS_LOST: Final = "Start the master of {subjects} again: {message}"
IS_LOST_AND_UNREAD: Final = (
    "Start the master of {subjects} again: {message} If it cannot come back soon, slaveReadEnable=true on the slave"
    " lets clients that pull in any order read what is left there."
)
HAS_CRASHED: Final = (
    "Find out whether {subjects} still runs. If it answers at its address, see why it is not registered with the name"
    " servers (namesrvAddr, and the network between them). If it does not, start it again with its name and its own"
    " disk: {message} If it was taken out on purpose, accept this risk. Until then no change is recommended where its"
    " missing queues may be the cause."
)


class CrashEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_LOSS for a broker that left every route, with the figures of when it was last seen."""

    adds_to: ClassVar = {"messages_at_risk": "unread_msgs"}

    broker_addr: Annotated[str | None, means("where its master listened")]
    gone_s: Annotated[float, means("time since the last snapshot that has it")]
    msgs_per_s: Annotated[float, means("messages that were written to it")]
    unread_msgs: Annotated[int | None, means("there that its groups had not read", "message")]
    topics: Annotated[int, means("with queues there", "topic")]
    topic_names: Annotated[Sequence[str], means("these topics")]
    groups: Annotated[int, means("that read there", "group")]
    group_names: Annotated[Sequence[str], means("these groups")]


class MasterlessEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_LOSS for a broker that has no master now."""

    slave_ids: Annotated[Sequence[int], means("ids of its slaves", "")]
    can_pull: Annotated[bool | None, means("whether clients that pull in any order read from a slave")]
    can_pull_in_order: Annotated[bool | None, means("whether clients that pull in order do")]
    can_pop: Annotated[bool | None, means("whether clients that pop do")]
    topics: Annotated[int, means("with queues there", "topic")]
    topic_names: Annotated[Sequence[str], means("the first of these topics")]
    groups: Annotated[int, means("that read there", "group")]
    group_names: Annotated[Sequence[str], means("the first of these groups")]


class BrokerLossEvidence(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_LOSS for a broker that may be lost."""

    msgs_per_s: Annotated[float | None, means("messages that are written to it")]
    traffic_share: Annotated[float | None, means("share of all messages")]
    groups: Annotated[int, means("that read from it", "group")]
    queues: Annotated[int, means("that groups would lose, counted for each", "queue")]
    moved_queues: Annotated[int | None, means("that would change their owner, counted for each group", "queue")]
    groups_under: Annotated[Sequence[str], means("groups that would be too weak")]
    brokers_over: Annotated[Sequence[OverBroker], means("brokers that would have to store more than the policy says")]
    unwritable_topics: Annotated[Sequence[str], means("topics that could not be written")]
    unreadable_topics: Annotated[Sequence[str], means("topics that could not be read")]
    read_again_s: Annotated[float, means("time until every other queue is read again")]


def _advice(_: Finding, evidence: Evidence) -> str:
    if isinstance(evidence, CrashEvidence):
        return HAS_CRASHED
    if isinstance(evidence, MasterlessEvidence):
        return IS_LOST if evidence.can_pull else IS_LOST_AND_UNREAD
    return MAY_BE_LOST


BROKER_LOSS: Final = Rule(
    name="BROKER_LOSS",
    title="Brokers that are lost, or whose loss does harm",
    meaning="If this broker is lost, the remaining brokers get its share of the messages.",
    place=140,
    goal="SURVIVES_LOSS",
    evidence=(CrashEvidence, MasterlessEvidence, BrokerLossEvidence),
    advice=_advice,
    shows=(
        "each broker that is named has a line with #BID 0, its master. Whether groups can do without one, the next plan"
        " says."
    ),
    shown_by="brokers",
    follows_loss_of="brokers",
    about=("broker",),
    severities={
        "CRITICAL": "the broker, or its master, is lost already",
        "WARNING": (
            "groups become too small without the broker, or another broker has to store more than the policy says"
            " it can"
        ),
        "INFO": "only topics suffer: nobody can write or read them meanwhile",
    },
    thresholds=(
        "PROVISION.under_utilisation",
        "STALE_OBJECT.days",
        "TRANSITION",
    ),
    details="""
    It is computed for every broker of a cluster. A broker whose loss does no harm is no finding. The other brokers
    take its messages, spread evenly over the queues that can be written. What a broker can store is told by the
    policy's `brokers`.

    Where the master is lost, nobody can write, and mostly nobody reads. Its slave answers clients that pull in any
    order only with `slaveReadEnable`; with it the finding is a WARNING, unless a group pops there. Its groups have the
    `reading_status` UNREAD, or UNKNOWN if the slave does not tell its settings. Start the master again.

    A broker that crashes without a slave leaves every route, and with it the cluster that a snapshot sees. Only the
    history tells of it: the last snapshot that has its master, with messages coming to business queues that could be
    written and read (`msgs_per_s`). What was unread there (`unread_msgs`) cannot be read until it is back. One that
    was drained before it went is no finding: it was read-only, or nothing was written to it any more. Without a history
    there is none, and none for a broker that was last seen longer ago than the days of STALE_OBJECT. Until it is back,
    no change is recommended for its topics and their groups where the missing queues may be the cause, and no group
    gets fewer clients. That ends if somebody accepts the finding as CRITICAL (`severity` of the policy's `accepted`, or
    the form beside a report), as for a broker that was taken out without a drain.

    - `moved_queues` counts the queues on other brokers that get another owner.
    - `read_again_s` is how long it takes at most until all of these are read again. A name server drops a silent
      broker after 120 s and looks every 5 s (10 s before 5.0). Clients ask for routes and divide again as the
      policy's `TRANSITION` says. At worst brokers refuse a client's pulls for 30 s more
      ([why](how-to/what-if.md#while-a-change-spreads)). A broker that closes its connections is known to be gone at
      once.

    The tables `group_failure`, `topic_failure` and `cluster_failure` have every broker and machine room, and each
    group's busiest client ([if something fails](how-to/read-a-report.md#if-something-fails)).
    """,
)


NAMED: Final = 50
"""The most topics and groups that the evidence names; it counts all."""


class GroupLoss(NamedTuple):
    """The columns of ``group_failure`` that BROKER_LOSS reads."""

    consumer_group: str
    lost: str
    lost_queues: int
    moved_today: int | None
    becomes_under: bool | None


def broker_loss(
    groups: Iterable[GroupLoss], topics: Iterable[TopicLoss], loads: BrokerLoads, cluster: ClusterFacts, policy: Policy
) -> Iterator[Finding]:
    """BROKER_LOSS: without a broker, nobody can read or write some topics, or some groups or brokers are too weak.

    A broker is too weak if it would have to store more than the policy says it can (WARNING).

    A broker whose master is lost already is no forecast; `masterless_brokers` finds it. There is no finding for a
    cluster of one broker, which cannot survive its loss, or for a snapshot that is too incomplete to judge by.

    Args:
        groups: what each loss of a broker does to each group.
        topics: what it does to each topic.
        loads: what it adds to the other brokers.
        cluster: says how complete the snapshot is.
        policy: thresholds.
    """
    if not policy.holds_verdicts(cluster.cluster.completeness_ratio):
        return
    of_topics: dict[str, list[TopicLoss]] = {}
    for topic in topics:
        of_topics.setdefault(topic.lost, []).append(topic)
    of_groups: dict[str, list[GroupLoss]] = {}
    for group in groups:
        of_groups.setdefault(group.lost, []).append(group)
    if len(of_topics) < policy.thresholds.BROKER_LOSS.min_brokers:
        return
    rates = {name: _rate(each) for name, each in of_topics.items()}
    total = sum_of(rates.values())
    for name in sorted(of_topics.keys() - masterless(cluster.brokers).keys()):
        under = sorted(one.consumer_group for one in of_groups.get(name, ()) if one.becomes_under)
        losses = sorted(of_topics[name], key=lambda one: one.topic)
        unwritable = [one.topic for one in losses if one.was_writable and one.writable_queues == 0]
        unreadable = [one.topic for one in losses if one.was_readable and one.readable_queues == 0]
        over = loads.overloaded(name)
        if under or unwritable or unreadable or over:
            harm = under, unwritable, unreadable, over
            yield _loss(name, of_groups.get(name, ()), (rates[name], total), harm, read_again_s(BROKER, policy))


def gone_brokers(cluster: ClusterFacts, _: Disagreements, __: Policy) -> Iterator[Finding]:
    """BROKER_LOSS: a broker crashed without a slave and left every route, so that nobody reads what is left there."""
    for broker in cluster.gone:
        at = "" if broker.broker_addr is None else f" ({broker.broker_addr})"
        topics, groups = broker.topics, broker.consumer_groups
        yield finding(
            BROKER_LOSS,
            CRITICAL,
            broker_name=broker.broker_name,
            subjects=[broker.broker_name],
            evidence=CrashEvidence(
                broker_addr=broker.broker_addr,
                gone_s=rounded(broker.seen_ago_s, 0),
                msgs_per_s=rounded(broker.msgs_per_s),
                unread_msgs=broker.unread_msgs,
                topics=len(topics),
                topic_names=topics,
                groups=len(groups),
                group_names=groups,
            ),
            message=f"{broker.broker_name}{at} is lost: no name server lists it any more. {duration(broker.seen_ago_s)}"
            f" ago {fixed(broker.msgs_per_s, 1)} messages a second came to its queues of"
            f" {counted(len(topics), 'topic')} ({listed(topics)})."
            + (
                f" Nobody can read what is left there; unread then: {counted(broker.unread_msgs, 'message')}."
                if broker.unread_msgs
                else " Nobody can read what is left there."
            )
            + (f" {counted(len(groups), 'group')} read there: {listed(groups)}." if groups else ""),
        )


def masterless_brokers(
    groups: Iterable[GroupLoss], topics: Iterable[TopicLoss], popping: Collection[str], cluster: ClusterFacts
) -> Iterator[Finding]:
    """BROKER_LOSS: a broker has slaves and no master now, so that nobody writes there, and maybe nobody reads.

    It is CRITICAL unless every client that pulls in any order is known to read from a slave, and if a group pops there
    and cannot. FIFO_BROKEN speaks of groups that consume in order.

    Args:
        groups: those that read queues of each broker.
        topics: those that have queues on it.
        popping: the names of groups that pop all of their topics.
        cluster: brokers.
    """
    without = masterless(cluster.brokers)
    if not without:
        return
    readers = [one for one in groups if one.lost in without and one.lost_queues]
    held = [one for one in topics if one.lost in without and one.was_readable]
    for name, slaves in without.items():
        names = sorted((one.topic for one in held if one.lost == name), key=java_order)
        reading = sorted((one.consumer_group for one in readers if one.lost == name), key=java_order)
        if names:
            yield _masterless(name, slaves, names, reading, pops=any(group in popping for group in reading))


def _masterless(
    name: str, slaves: Sequence[Broker], topics: Sequence[str], groups: Sequence[str], *, pops: bool
) -> Finding:
    reading = readable_without_master(slaves)
    is_read = reading.pull and not (pops and reading.pop is False)
    can = "nobody reads" if reading.pull is False else "only clients that pull in any order read"
    if reading.pull is None:
        can = "it is unknown whether anybody reads"
    return finding(
        BROKER_LOSS,
        WARNING if is_read else CRITICAL,
        broker_name=name,
        subjects=[name],
        evidence=MasterlessEvidence(
            slave_ids=[one.broker_id for one in slaves],
            can_pull=reading.pull,
            can_pull_in_order=reading.pull_in_order,
            can_pop=reading.pop,
            topics=len(topics),
            topic_names=topics[:NAMED],
            groups=len(groups),
            group_names=groups[:NAMED],
        ),
        message=f"{name} has no master, only {counted(len(slaves), 'slave')}: nobody can write to its queues of"
        f" {counted(len(topics), 'topic')} ({listed(topics)}), and {can} them"
        + (f". They belong to {counted(len(groups), 'group')}: {listed(groups)}." if groups else "."),
    )


def _rate(topics: Iterable[TopicLoss]) -> float | None:
    return sum_of([0.0, *(one.msgs_per_s for one in topics)])


def _loss(
    name: str,
    groups: Sequence[GroupLoss],
    rates: tuple[float | None, float | None],
    harm: tuple[list[str], list[str], list[str], list[OverBroker]],
    again_s: float,
) -> Finding:
    (rate, total), (under, unwritable, unreadable, over) = rates, harm
    names = [one.broker_name for one in over]
    share = None if rate is None or not total else rate / total
    parts = [
        f"{counted(len(unwritable), 'topic')} could not be written: {listed(unwritable)}" if unwritable else None,
        f"{counted(len(unreadable), 'topic')} could not be read: {listed(unreadable)}" if unreadable else None,
        f"{counted(len(under), 'group')} would be too weak: {listed(under)}" if under else None,
        f"{counted(len(over), 'broker')} would have to store more than the policy says: {listed(names)}"
        if over
        else None,
    ]
    effects = "; ".join(part for part in parts if part is not None)
    return finding(
        BROKER_LOSS,
        WARNING if under or over else INFO,
        broker_name=name,
        subjects=[name],
        evidence=BrokerLossEvidence(
            msgs_per_s=rounded(rate),
            traffic_share=rounded(share),
            groups=len(groups),
            queues=sum(one.lost_queues for one in groups),
            moved_queues=sum_of(one.moved_today for one in groups),
            groups_under=under,
            brokers_over=over,
            unwritable_topics=unwritable,
            unreadable_topics=unreadable,
            read_again_s=again_s,
        ),
        message=f"Without {name}: {effects}."
        + ("" if share is None else f" The other brokers would take its {percent(share)} of the messages."),
    )


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (gone_brokers,)
