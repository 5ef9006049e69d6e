"""The rule on name servers that should have the same data and do not: NAMESERVER_DISAGREEMENT."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Annotated, Final

import msgspec
from msgspec import Struct

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
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.facts import ClusterFacts
from rocketmq_capacity.tables import Finding, NameserverDifference
from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import CRITICAL, WARNING, java_order
from rocketmq_capacity.wording import counted, listed, queue_label


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


class NameserverEvidence(Evidence, frozen=True, kw_only=True):
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
    evidence=NameserverEvidence,
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
    topics = distinct(row.topic for row in rows)
    brokers = distinct(row.broker_name for row in rows)
    is_divided = bool(differing_topics(rows))
    lists = server_lists(rows, cluster.cluster.nameservers)
    groups = [divided_group for group in readers.groups if (divided_group := divided(group, lists)) is not None]
    yield finding(
        NAMESERVER_DISAGREEMENT,
        CRITICAL if is_divided else WARNING,
        subjects=addresses,
        evidence=NameserverEvidence(
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
    about_topics = [row for row in rows if row.topic is not None]
    return NameserverView(
        nameserver_addr=nameserver_addr,
        missing_brokers=distinct(row.broker_name for row in about_brokers if not row.is_listed)[:NAMED],
        other_brokers=distinct(row.broker_name for row in about_brokers if row.is_listed)[:NAMED],
        topics=len({row.topic for row in about_topics}),
        routes=msgspec.convert(about_topics[:NAMED], list[RouteThere], from_attributes=True),
    )


def distinct(names: Iterator[str | None]) -> list[str]:
    """The names, each once, in Java's order."""
    return sorted({name for name in names if name is not None}, key=java_order)
