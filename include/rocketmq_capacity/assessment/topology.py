"""Rules on servers that should have the same data and do not: NAMESERVER_DISAGREEMENT, SLAVE_DRIFT."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, groupby
from typing import Annotated, Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.assessment.cluster import ClusterRule
from rocketmq_capacity.assessment.divided_lists import (
    Certainty,
    DividedGroup,
    DividedQueue,
    ReadersOfTopics,
    differing_topics,
    divided,
    server_lists,
)
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.versions import SLAVE_COPIES_NO_TYPES, Version, version_of
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Finding, NameserverDifference, SlaveDifference
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, INFO, WARNING, java_order
from rocketmq_capacity.wording import counted, listed, queue_label, rounded


class RouteThere(Struct, frozen=True, kw_only=True):
    """Queues of a topic as one name server gives them."""

    topic: Annotated[str, means("the topic")]
    broker_name: Annotated[str | None, means("the broker")]
    read_queue_nums: Annotated[int | None, means("that can be read", "queue")]
    write_queue_nums: Annotated[int | None, means("that can be written", "queue")]
    perm: Annotated[int | None, means("permission: 4 to read, 2 to write", "")]


class NameserverView(Struct, frozen=True, kw_only=True):
    """What a name server says differently."""

    nameserver_addr: Annotated[str, means("the name server")]
    missing_brokers: Annotated[Sequence[str], means("brokers that only others list")]
    other_brokers: Annotated[Sequence[str], means("brokers that only it lists")]
    topics: Annotated[int, means("with another route there", "topic")]
    routes: Annotated[Sequence[RouteThere], means("the first of these routes")]


class GroupHit(Struct, frozen=True, kw_only=True):
    """What the different lists mean for a group."""

    consumer_group: Annotated[str, means("the group")]
    unread_queues: Annotated[int | None, means("that nobody reads", "queue")]
    unread_queues_at_most: Annotated[int | None, means("that nobody may read", "queue")]
    twice_queues: Annotated[int | None, means("that several clients read", "queue")]
    twice_queues_at_most: Annotated[int | None, means("that several clients may read", "queue")]
    clients: Annotated[int, means("of the group", "client")]
    placed_clients: Annotated[int | None, means("whose queues tell which list they have", "client")]
    undecided: Annotated[str | None, means("why nothing is computed")]


class TakenBy(Struct, frozen=True, kw_only=True):
    """The clients that take a queue if they have a list."""

    nameservers: Annotated[Sequence[str], means("name servers that give the list")]
    client_ids: Annotated[Sequence[str], means("the clients")]


class QueueHit(Struct, frozen=True, kw_only=True):
    """A queue that does not have exactly one reader for certain."""

    consumer_group: Annotated[str, means("the group")]
    queue: Annotated[Queue, means("the queue")]
    unread: Annotated[Certainty, means("whether nobody reads it")]
    read_twice: Annotated[Certainty, means("whether several clients do")]
    takers: Annotated[Sequence[TakenBy], means("who takes it by each list")]


class Nameservers(Evidence, frozen=True, kw_only=True):
    """The evidence of NAMESERVER_DISAGREEMENT."""

    topics: Annotated[int, means("with different routes", "topic")]
    brokers: Annotated[int, means("that not all list", "broker")]
    topic_names: Annotated[Sequence[str], means("the first of these topics")]
    broker_names: Annotated[Sequence[str], means("the first of these brokers")]
    nameservers: Annotated[Sequence[NameserverView], means("name servers that differ")]
    divided_groups: Annotated[Sequence[GroupHit], means("groups that divide different lists")]
    divided_queues: Annotated[Sequence[QueueHit], means("the first queues without exactly one reader for certain")]
    groups_left_out: Annotated[int, means("of these topics that are not computed", "group")]


NAMESERVER_DISAGREEMENT: Final = Rule(
    name="NAMESERVER_DISAGREEMENT",
    title="Name servers that disagree on where topics are",
    meaning=("A client uses one name server of its list. Consumers that use different ones divide different queues."),
    place=160,
    evidence=Nameservers,
    advice=(
        "Find out which brokers have lost {subjects}: each broker registers every 30 s with every name server of its"
        " namesrvAddr. Compare that setting and the network of these brokers. Afterwards topicRoute gives the same"
        " from each name server."
    ),
    looks="name servers",
    about=("cluster",),
    severities={
        "CRITICAL": (
            "the readable queues differ: consumers divide different lists, and some queues are read twice, others"
            " by nobody"
        ),
        "WARNING": "name servers only know different brokers",
    },
    details="""
    The name servers list different brokers, or give different routes of a topic. A client keeps to one name server,
    chosen at random. The evidence says for each name server which brokers it lacks, and which routes differ from
    `topics` of the inventory. Usually a broker has lost its connection to one name server. A name server that does
    not answer at all is a failure of the snapshot, not a disagreement.

    The finding names the queues. For each group it divides every list among all clients, as they would if all had it:

    - `divided_queues` has each queue that does not have exactly one reader for certain: whether nobody reads it
      (`unread`), whether several clients do (`read_twice`), and for each list its name servers and the clients that
      take the queue (`takers`).
    - `divided_groups` has the numbers of each group: certain ones, and the most that are possible (`…_at_most`).
    - No cluster tells which name server a client asks. If the queues that a client reports to own fit one list alone,
      it has that list (`placed_clients`). Otherwise it may have any of them: its queues are MAYBE, and the numbers are
      bounds.
    - If a name server has no route of a topic, its clients keep the list that they had (taken to be that of the
      inventory), and clients that have started since have none.
    - Not computed: popped topics (brokers divide them), groups with gRPC clients (a Proxy does), strategies that the
      plan cannot compute, and groups after the first 50 by name (`groups_left_out`).
    """,
    is_of_snapshot=True,
)


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


SLAVE_DRIFT: Final = Rule(
    name="SLAVE_DRIFT",
    title="Slaves that lack what their masters have",
    meaning=(
        "If a slave replaces its master, the broker has only the slave's topics and groups. What it lacks is lost."
    ),
    place=170,
    goal="SURVIVES_LOSS",
    evidence=SlaveDrift,
    advice=(
        "Find out why this slave does not copy its master, before the master is switched: its log, and whether it"
        " reaches the master's address ({subjects}). Afterwards brokerStatus of the slave shows that it runs, and a"
        " new snapshot finds nothing."
    ),
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


NAMED: Final = 50
"""The most topics, groups, brokers and queues that the evidence names; it counts all."""
ORDER: Final = {"YES": 0, "MAYBE": 1, "NO": 2}
"""Certain harm first."""


def nameserver_disagreement(
    cluster: ClusterFacts, differences: Sequence[NameserverDifference], readers: ReadersOfTopics
) -> Iterator[Finding]:
    """NAMESERVER_DISAGREEMENT: name servers list other brokers, or give other routes of a topic.

    Clients that ask one of them see other queues than clients that ask another one. If the readable queues differ,
    consumers of one group divide different lists: some queues are read twice, others by nobody.
    Source: MQClientAPIImpl and NettyRemotingClient.getAndCreateNameserverChannel, rocketmq-all-5.3.3: a client uses one
    name server of its list, chosen at random.
    """
    rows = sorted(differences, key=lambda row: java_order(row.nameserver_addr))
    if not rows:
        return
    views = [_view(address, list(each)) for address, each in groupby(rows, key=lambda row: row.nameserver_addr)]
    addresses = [view.nameserver_addr for view in views]
    topics = _distinct(row.topic for row in rows)
    brokers = _distinct(row.broker_name for row in rows)
    is_divided = bool(differing_topics(rows))
    lists = server_lists(rows, cluster.cluster.nameservers)
    groups = [divided_group for group in readers.groups if (divided_group := divided(group, lists)) is not None]
    yield finding(
        NAMESERVER_DISAGREEMENT,
        CRITICAL if is_divided else WARNING,
        subjects=addresses,
        evidence=Nameservers(
            topics=len(topics),
            brokers=len(brokers),
            topic_names=topics[:NAMED],
            broker_names=brokers[:NAMED],
            nameservers=views,
            divided_groups=[_divided_group(one) for one in groups],
            divided_queues=[_divided_queue(one, each) for one in groups for each in one.queues][:NAMED],
            groups_left_out=readers.left_out,
        ),
        message=f"{listed(addresses)} {'differs' if len(addresses) == 1 else 'differ'} from the other name servers in"
        f" {_both(len(topics), len(brokers))}"
        f" ({listed([*topics, *brokers])})."
        + (" Consumers of one group then divide different lists of queues." if is_divided else "")
        + _harm(groups, readers.left_out),
    )


def _divided_group(group: DividedGroup) -> GroupHit:
    """What the lists mean for a group."""
    is_known = group.undecided is None
    return GroupHit(
        consumer_group=group.consumer_group,
        unread_queues=group.unread("YES") if is_known else None,
        unread_queues_at_most=group.unread("YES", "MAYBE") if is_known else None,
        twice_queues=group.twice("YES") if is_known else None,
        twice_queues_at_most=group.twice("YES", "MAYBE") if is_known else None,
        clients=group.clients,
        placed_clients=group.placed if is_known else None,
        undecided=group.undecided,
    )


def _divided_queue(group: DividedGroup, queue: DividedQueue) -> QueueHit:
    """A queue that does not have exactly one reader for certain, and who takes it by which list."""
    return QueueHit(
        consumer_group=group.consumer_group,
        queue=queue.queue,
        unread=queue.unread,
        read_twice=queue.twice,
        takers=[TakenBy(nameservers=names, client_ids=ids) for names, ids in queue.takers],
    )


def _harm(groups: Sequence[DividedGroup], left_out: int) -> str:
    """Sentences about the group that is hit worst, with a queue as an example; empty if none is hit."""
    hit = [one for one in groups if one.queues]
    if not hit:
        return ""
    worst = max(hit, key=lambda one: (one.unread("YES"), one.twice("YES"), len(one.queues)))
    hits = [
        text
        for text in (
            _hits("read by nobody", worst.unread("YES"), worst.unread("YES", "MAYBE")),
            _hits("read twice", worst.twice("YES"), worst.twice("YES", "MAYBE")),
        )
        if text
    ]
    example = min(worst.queues, key=lambda one: (ORDER[one.unread], ORDER[one.twice]))
    takers = "; ".join(
        f"{listed(ids) if ids else 'nobody'} with the list of {listed(names) if names else 'the others'}"
        for names, ids in example.takers
    )
    unknown, more = worst.clients - worst.placed, len(hit) - 1
    is_left_out = f" {counted(left_out, 'group')} of these topics {'is' if left_out == 1 else 'are'} not computed."
    return (
        f" Of {worst.consumer_group}, {' and '.join(hits)}. Queue {queue_label(example.queue)} of"
        f" {example.queue.topic} is taken by {takers}."
        + (f" It is unknown which list {counted(unknown, 'client')} of it has." if unknown else "")
        + (f" {counted(more, 'more group')} {'is' if more == 1 else 'are'} hit." if more else "")
        + (is_left_out if left_out else "")
    )


def _hits(what: str, least: int, most: int) -> str:
    """``2 queues are read by nobody``, with a bound if it is not certain; empty if there are none."""
    if not most:
        return ""
    bound = f"{least:,} to " if least else "up to "
    return f"{'' if least == most else bound}{counted(most, 'queue')} {'is' if most == 1 else 'are'} {what}"


def _both(topics: int, brokers: int) -> str:
    """How many topics and brokers differ, without those of which none does."""
    return " and ".join(counted(number, noun) for number, noun in ((topics, "topic"), (brokers, "broker")) if number)


def _view(nameserver_addr: str, rows: Sequence[NameserverDifference]) -> NameserverView:
    """The differences of one name server."""
    about_brokers = [row for row in rows if row.topic is None]
    return NameserverView(
        nameserver_addr=nameserver_addr,
        missing_brokers=_distinct(row.broker_name for row in about_brokers if not row.is_listed)[:NAMED],
        other_brokers=_distinct(row.broker_name for row in about_brokers if row.is_listed)[:NAMED],
        topics=len({row.topic for row in rows if row.topic is not None}),
        routes=[msgspec.convert(row, RouteThere, from_attributes=True) for row in rows if row.topic is not None][
            :NAMED
        ],
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
            differences=[msgspec.convert(row, Drifted, from_attributes=True) for row in every if row.topic is not None][
                :NAMED
            ],
        ),
        message=" ".join(map(_slave_in_words, slaves))
        + (" The master changed a moment ago: they may be on their way." if is_on_its_way else "")
        + ("" if fault is None else f" A known fault can be the cause: {fault.what} (apache/rocketmq#{fault.issue})."),
    )


def _lacking(rows: Iterable[SlaveDifference]) -> tuple[list[str], list[str], list[str]]:
    """The topics that slaves lack, the topics that differ, and the groups that they lack."""
    rows = list(rows)
    return (
        _distinct(row.topic for row in rows if row.read_queue_nums is None),
        _distinct(row.topic for row in rows if row.read_queue_nums is not None),
        _distinct(row.consumer_group for row in rows),
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


def _distinct(names: Iterator[str | None]) -> list[str]:
    return sorted({name for name in names if name is not None}, key=java_order)


CLUSTER_RULES: Final[tuple[ClusterRule, ...]] = (slave_drift,)
