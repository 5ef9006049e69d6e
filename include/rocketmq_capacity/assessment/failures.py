"""What a failure would do, always computed: the loss of each broker, of each room, and of a group's busiest client."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Annotated, Final, NamedTuple

import numpy as np

from rocketmq_capacity.assessment.broker_loads import BrokerLoads, OverBroker
from rocketmq_capacity.assessment.broker_losses import BrokerLosses
from rocketmq_capacity.assessment.burden import Case, burdens
from rocketmq_capacity.assessment.change import Change, compare
from rocketmq_capacity.assessment.effect import Crossed
from rocketmq_capacity.assessment.failure_effects import Readers, Taken, effect_on, taken, twice_after, unread_after
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.assessment.group import Group
from rocketmq_capacity.assessment.interval import Interval
from rocketmq_capacity.assessment.owners_by_strategy import divide
from rocketmq_capacity.assessment.replicas import masterless, readable_without_master
from rocketmq_capacity.assessment.topic import Topic
from rocketmq_capacity.assessment.without_brokers import Without, added_at_peak
from rocketmq_capacity.catalogue.evidence import Evidence, means
from rocketmq_capacity.catalogue.rule import Rule
from rocketmq_capacity.model.division import Integers, Members
from rocketmq_capacity.model.facts import ClusterFacts, Consumer, Place
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables import Broker, Finding, GroupFailure, TopicFailure
from rocketmq_capacity.vocabulary import (
    BROKER,
    BROKER_FORGOTTEN_S,
    BUSIEST_CLIENT,
    CLIENT_FORGOTTEN_S,
    CRITICAL,
    FIRST_PULL_S,
    INFO,
    LOGICAL_BROKER_PREFIX,
    ONE_FEWER,
    ONE_MORE,
    REQUEST_S,
    ROOM,
    UNDER,
    WARNING,
    java_order,
)
from rocketmq_capacity.wording import counted, listed, percent, rounded

MAY_BE_LOST: Final = (
    "Decide whether the cluster may lose one of these brokers: spread their topics to other brokers, and give the"
    " groups that would be too weak more clients."
)
IS_LOST: Final = (
    "Start the master of {subjects} again: {message} If it cannot come back soon, slaveReadEnable=true on the slave"
    " lets clients that pull in any order read what is left there."
)


class Masterless(Evidence, frozen=True, kw_only=True):
    """The evidence of BROKER_LOSS for a broker that has no master now."""

    slave_ids: Annotated[Sequence[int], means("ids of its slaves", "")]
    can_pull: Annotated[bool | None, means("whether clients that pull in any order read from a slave")]
    can_pull_in_order: Annotated[bool | None, means("whether clients that pull in order do")]
    can_pop: Annotated[bool | None, means("whether clients that pop do")]
    topics: Annotated[int, means("with queues there", "topic")]
    topic_names: Annotated[Sequence[str], means("the first of these topics")]
    groups: Annotated[int, means("that read there", "group")]
    group_names: Annotated[Sequence[str], means("the first of these groups")]


class Loss(Evidence, frozen=True, kw_only=True):
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
    return IS_LOST if isinstance(evidence, Masterless) else MAY_BE_LOST


BROKER_LOSS: Final = Rule(
    name="BROKER_LOSS",
    title="What the loss of one broker would do",
    meaning="If this broker is lost, the remaining brokers get its share of the messages.",
    place=140,
    evidence=(Masterless, Loss),
    advice=_advice,
    follows_loss_of="brokers",
    about=("broker",),
    severities={
        "CRITICAL": "the master is lost already",
        "WARNING": (
            "groups become too small without the broker, or another broker has to store more than the policy says"
            " it can"
        ),
        "INFO": "only topics suffer: nobody can write or read them meanwhile",
    },
    thresholds=(
        "PROVISION.under_utilisation",
        "TRANSITION",
    ),
    details="""
    It is computed for every broker of a cluster. A broker whose loss does no harm is no finding. The other brokers
    take its messages, spread evenly over the queues that can be written. What a broker can store is told by the
    policy's `brokers`.

    Where the master is lost, nobody can write, and mostly nobody reads. Its slave answers clients that pull in any
    order only with `slaveReadEnable`; with it the finding is a WARNING. Its groups have the `reading_status`
    UNREAD, or UNKNOWN if the slave does not tell its settings. Start the master again.

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


def read_again_s(failure: str, policy: Policy) -> float:
    """The most seconds until every queue that stays is read again; `transition` has the same figure for this change.

    The figure is for something that falls silent. If a connection is closed, brokers and name servers know at once.
    Clients rebalance, and at worst brokers refuse their pulls until the next heartbeat. A broker's lock on a queue that
    is consumed in order (60 s) has expired by then.
    """
    clients = policy.thresholds.TRANSITION
    noticed_s = clients.rebalance_s + REQUEST_S + FIRST_PULL_S + clients.heartbeat_s
    if failure == ONE_MORE:
        return noticed_s
    if failure in (BUSIEST_CLIENT, ONE_FEWER):
        return CLIENT_FORGOTTEN_S + noticed_s
    route_s = BROKER_FORGOTTEN_S + clients.poll_nameserver_s
    return noticed_s + (max(route_s, CLIENT_FORGOTTEN_S) if failure == ROOM else route_s)


@dataclass(frozen=True, slots=True)
class _Failure:
    """A failure, and what is left of a group after it.

    Attributes:
        group: the group before the failure.
        failure: the kind of failure.
        lost: the name of what is lost.
        change: what is left.
        losses: the lost brokers, whose division this is; None if no broker is lost.
    """

    group: Group
    failure: str
    lost: str | None
    change: Change
    losses: BrokerLosses | None = None

    def moved(self) -> Mapping[str, int | None]:
        """How many queues get another owner, by strategy."""
        churn = self.group.churn
        if self.failure in (BUSIEST_CLIENT, ROOM):
            return churn.moved(self.change)
        return {name: each.fewer if self.failure == ONE_FEWER else each.more for name, each in churn.moves.items()}


def group_failures(groups: Sequence[Group]) -> list[list[GroupFailure]]:
    """For each group a row for each failure that changes what it reads; none for a group without clients or queues."""
    failures = [list(_failures(group)) if _is_shared_out(group) else [] for group in groups]
    every = [failure for each in failures for failure in each]
    _divide_together(every)
    use = iter(_busy_after(every))
    return [
        [*_without_brokers(group), *(_failed_row(failure, next(use)) for failure in each)]
        if each
        else list(_of_broadcasting(group))
        for group, each in zip(groups, failures, strict=True)
    ]


def _is_shared_out(group: Group) -> bool:
    return group.is_clustering and len(group.client_ids) > 0 and len(group.weights.queue) > 0


def _of_broadcasting(group: Group) -> Iterator[GroupFailure]:
    """A row for each broker and room that a broadcasting group reads from: its clients read the other queues on."""
    if not group.facts.is_broadcasting or not group.client_ids or not len(group.weights.queue):
        return
    division = group.division
    brokers = BrokerLosses.of_each(division)
    for index, (name, loss) in enumerate(zip(brokers.losses, _taken_from_each(group, brokers), strict=True)):
        use = _busy_without(group, brokers, index, group.client_ids)
        yield _row(group, BROKER, name, brokers.lost_queues[index], {}, use, loss)
    for room in _rooms(group):
        gone = {place.broker_name for place in division.queues.places if place.room == room}
        left = division.members.only(partial(_is_elsewhere, room))
        losses = BrokerLosses.of(division, {room: gone}, left)
        (loss,) = _taken_from_each(group, losses)
        use = _busy_without(group, losses, 0, left.client_ids) if left.client_ids else None
        yield _row(group, ROOM, room, losses.lost_queues[0], {}, use, loss)


def _taken_from_each(group: Group, losses: BrokerLosses) -> list[Taken]:
    """What losses take from a broadcasting group; how much its clients have not read they alone know."""
    each = taken(group, losses, [Readers()] * len(losses.losses))
    return [replace(loss, waiting=None) for loss in each]


def _busy_without(group: Group, losses: BrokerLosses, index: int, left: Sequence[str]) -> Interval | None:
    """The busy share of the busiest client that is left: it handles what it handled, but for topics nobody writes."""
    if group.work is None:
        return None
    unwritable = losses.base_topic[losses.is_unwritable & (losses.loss == index)]
    incoming = group.work.incoming_msgs_per_s.copy()
    incoming[:, unwritable] = 0.0
    incoming[~np.isin(group.client_ids, left)] = 0.0
    found = replace(group.work, incoming_msgs_per_s=incoming).busiest()
    return None if found is None else found[0].times(group.peak.scale)


def _failures(group: Group) -> Iterator[_Failure]:
    """What is left if clients come or go, or if a machine room is lost."""
    churn, division = group.churn, group.division
    if churn.fewer is not None:
        yield _Failure(group, ONE_FEWER, churn.last_client, churn.fewer)
    yield _Failure(group, ONE_MORE, None, churn.more)
    busiest = group.provision.busiest_client
    if busiest is not None and len(group.client_ids) > 1:
        left = division.members.only(lambda one: one.client_id != busiest)
        yield _Failure(group, BUSIEST_CLIENT, busiest, Change.of_members(churn.before, left, _left_of(group, left)))
    for room in _rooms(group):
        gone = {place.broker_name for place in division.queues.places if place.room == room}
        left = division.members.only(partial(_is_elsewhere, room))
        losses = BrokerLosses.of(division, {room: gone}, left)
        change = Change.of(churn.before, losses.division, losses.base_queue, _left_of(group, left))
        yield _Failure(group, ROOM, room, change, losses)


def _is_elsewhere(room: str, consumer: Consumer) -> bool:
    return consumer.room != room


def _left_of(group: Group, left: Members) -> Integers:
    """The indexes of the client ids that are left."""
    stays = set(left.client_ids)
    return np.flatnonzero([client_id in stays for client_id in group.client_ids])


def _divide_together(failures: Sequence[_Failure]) -> None:
    """Compute the owners after failures, and which queues they move, as far as that is not done yet."""
    asked = [
        (one.change, strategy)
        for one in failures
        if one.failure in (BUSIEST_CLIENT, ROOM) and not one.change.is_empty
        for strategy in one.group.loads
        if strategy == _current(one.group) or not one.group.churn.leaves_the_rest(strategy)
    ]
    divide((change.owners, strategy) for change, strategy in asked)
    compare(asked)


def _without_brokers(group: Group) -> Iterator[GroupFailure]:
    """A row for each broker."""
    without, moves, losses = Without.of(group), group.churn.moves, group.churn.losses
    nothing_known = [None] * len(losses.losses)
    each = taken(group, losses, nothing_known if without is None else without.readers)
    for index, (name, loss) in enumerate(zip(losses.losses, each, strict=True)):
        moved = {strategy: each.brokers[name] for strategy, each in moves.items()}
        use = None if without is None else without.busy(index)
        yield _row(group, BROKER, name, losses.lost_queues[index], moved, use, loss)


def _failed_row(one: _Failure, use: Interval | None) -> GroupFailure:
    lost_queues = 0 if one.losses is None else one.losses.lost_queues[0]
    return _row(one.group, one.failure, one.lost, lost_queues, one.moved(), use, _taken(one))


def _taken(one: _Failure) -> Taken:
    """What a failure takes from its group."""
    readers = _readers(one)
    if one.losses is not None:
        return taken(one.group, one.losses, [readers])[0]
    return Taken.of(readers)


def _readers(one: _Failure) -> Readers | None:
    """Who reads the queues that stay after a failure; None if an owner is unknown."""
    group, change = one.group, one.change
    strategy = group.one_strategy
    if change.is_empty:
        return Readers()  # no client is left, or no queue
    if strategy is None:
        return None
    owners = change.owners[strategy]
    if owners.unknown:
        return None
    unread = unread_after(group, owners, change.base_queue)
    twice = twice_after(group, owners, change.division.members, change.base_queue)
    return Readers(*(Crossed(*(int(np.count_nonzero(flags)) for flags in both)) for both in (unread, twice)))


def _current(group: Group) -> str | None:
    """The strategy that a group runs, by the name under which it is computed."""
    return None if group.current is None else group.policy.computed(group.current.strategy)


def _rooms(group: Group) -> list[str]:
    """The machine rooms of its brokers and clients."""
    of_brokers = {place.room for place in group.division.queues.places}
    of_clients = {one.room for one in group.division.members.consumers}
    return sorted(room for room in of_brokers | of_clients if room is not None)


def _row(
    group: Group,
    failure: str,
    lost: str | None,
    lost_queues: int,
    moved: Mapping[str, int | None],
    use: Interval | None,
    loss: Taken,
) -> GroupFailure:
    current = _current(group)
    effect = effect_on(group, loss, use, is_loss=failure in (BROKER, ROOM), is_more=failure == ONE_MORE)
    under = use is not None and use.lower > group.policy.thresholds.PROVISION.under_utilisation
    return GroupFailure(
        consumer_group=group.name,
        failure=failure,
        lost=lost,
        lost_queues=lost_queues,
        moved={strategy: float(number) for strategy, number in moved.items() if number is not None},
        moved_today=0 if group.facts.is_broadcasting else moved.get(current or ""),
        busy_lower=use and use.lower,
        busy_ratio=use and use.estimate,
        busy_upper=use and use.upper,
        becomes_under=None if use is None else under and group.provision.status != UNDER,
        read_again_s=0.0 if group.facts.is_broadcasting else read_again_s(failure, group.policy),
        verdict=effect.verdict,
        reasons=effect.reasons,
        unread_queues=None if loss.unread is None else loss.unread.worse,
        waiting_messages=loss.waiting,
        unreadable_topics=loss.unreadable,
        unwritable_topics=loss.unwritable,
    )


def _busy_after(failures: Sequence[_Failure]) -> list[Interval | None]:
    """The busy share of the busiest client at the peak after each failure; a new client is like the last."""
    each = [_case(one) for one in failures]
    each_burden = iter(burdens([case for case in each if case is not None]))
    found = (None if case is None else next(each_burden).busiest for case in each)
    return [use and use.times(one.group.peak.scale) for one, use in zip(failures, found, strict=True)]


def _case(one: _Failure) -> Case | None:
    """The group after a failure; None if the owners after it are unknown."""
    group, change, losses = one.group, one.change, one.losses
    strategy = group.one_strategy
    if strategy is None or (losses is not None and change.is_empty):
        return None
    owners = change.owners[strategy]
    if owners.unknown:
        return None
    rows = np.minimum(change.base_client, len(group.client_ids) - 1)
    msgs_per_s = group.planned_msgs_per_s
    if losses is None:
        return Case(group.division, group.response_times, change.division, owners, rows, None, msgs_per_s)
    changed = msgs_per_s[losses.base_queue] + added_at_peak(group, losses)
    return Case(group.division, group.response_times, change.division, owners, rows, losses.base_topic, changed)


def topic_failures(topic: Topic) -> Iterator[TopicFailure]:
    """A row for each broker and each machine room of a business topic."""
    if not topic.is_business:
        return
    facts = topic.unit.facts
    written: dict[str, float | None] = {}
    for one in facts.written:
        rate = written.get(one.broker_name, 0.0)
        written[one.broker_name] = None if rate is None or one.put_msgs_per_s is None else rate + one.put_msgs_per_s
    places = [place for place in facts.places if not place.broker_name.startswith(LOGICAL_BROKER_PREFIX)]
    of_broker: dict[str, list[Place]] = {}
    of_room: dict[str, list[Place]] = {}
    for place in places:
        of_broker.setdefault(place.broker_name, []).append(place)
        if place.room is not None:
            of_room.setdefault(place.room, []).append(place)
    whole = _Seen.of(places)
    for name in sorted(of_broker):
        yield _topic_row(topic.name, BROKER, name, whole, of_broker[name], written)
    for room in sorted(of_room):
        yield _topic_row(topic.name, ROOM, room, whole, of_room[room], written)


@dataclass(frozen=True, slots=True)
class _Seen:
    """How many queues of some brokers clients see.

    Attributes:
        readable: the queues that consumers see.
        writable: the queues that producers see, where their number is known.
        unknown: on how many brokers it is unknown.
    """

    readable: int
    writable: int
    unknown: int

    @classmethod
    def of(cls, places: Iterable[Place]) -> "_Seen":
        """The queues of a topic on these brokers."""
        counts = [(place.readable, place.writable) for place in places]
        return cls(
            sum(readable for readable, _ in counts),
            sum(writable or 0 for _, writable in counts),
            sum(writable is None for _, writable in counts),
        )


def _topic_row(
    topic: str, failure: str, lost: str, whole: _Seen, gone: Sequence[Place], written: Mapping[str, float | None]
) -> TopicFailure:
    rates = [written.get(name, 0.0) for name in sorted({place.broker_name for place in gone})]
    there = _Seen.of(gone)
    return TopicFailure(
        topic=topic,
        failure=failure,
        lost=lost,
        msgs_per_s=None if None in rates else sum(rate or 0.0 for rate in rates),
        readable_queues=whole.readable - there.readable,
        writable_queues=whole.writable - there.writable if whole.unknown == there.unknown else None,
        was_readable=there.readable > 0,
        was_writable=None if there.unknown else there.writable > 0,
    )


class GroupLoss(NamedTuple):
    """The columns of ``group_failure`` that BROKER_LOSS reads."""

    consumer_group: str
    lost: str
    lost_queues: int
    moved_today: int | None
    becomes_under: bool | None


class TopicLoss(NamedTuple):
    """The columns of ``topic_failure`` that BROKER_LOSS reads."""

    topic: str
    lost: str
    msgs_per_s: float | None
    readable_queues: int
    writable_queues: int | None
    was_readable: bool
    was_writable: bool | None


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
    if cluster.cluster.completeness_ratio < policy.thresholds.PROVISION.min_completeness:
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
    total = None if None in rates.values() else sum(rate or 0.0 for rate in rates.values())
    for name in sorted(of_topics.keys() - masterless(cluster.brokers).keys()):
        under = sorted(one.consumer_group for one in of_groups.get(name, ()) if one.becomes_under)
        each = sorted(of_topics[name], key=lambda one: one.topic)
        unwritable = [one.topic for one in each if one.was_writable and one.writable_queues == 0]
        unreadable = [one.topic for one in each if one.was_readable and one.readable_queues == 0]
        over = loads.overloaded(name)
        if under or unwritable or unreadable or over:
            harm = under, unwritable, unreadable, over
            yield _loss(name, of_groups.get(name, ()), (rates[name], total), harm, read_again_s(BROKER, policy))


def masterless_brokers(
    groups: Iterable[GroupLoss], topics: Iterable[TopicLoss], cluster: ClusterFacts
) -> Iterator[Finding]:
    """BROKER_LOSS: a broker has slaves and no master now, so that nobody writes there, and maybe nobody reads.

    It is CRITICAL unless every client that pulls in any order is known to read from a slave.

    Args:
        groups: those that read queues of each broker.
        topics: those that have queues on it.
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
            yield _masterless(name, slaves, names, reading)


def _masterless(name: str, slaves: Sequence[Broker], topics: Sequence[str], groups: Sequence[str]) -> Finding:
    reading = readable_without_master(slaves)
    can = "nobody reads" if reading.pull is False else "only clients that pull in any order read"
    if reading.pull is None:
        can = "it is unknown whether anybody reads"
    return finding(
        BROKER_LOSS,
        WARNING if reading.pull else CRITICAL,
        broker_name=name,
        subjects=[name],
        evidence=Masterless(
            slave_ids=[one.broker_id for one in slaves],
            can_pull=reading.pull,
            can_pull_in_order=reading.pull_in_order,
            can_pop=reading.pop,
            topics=len(topics),
            topic_names=topics[:NAMED],
            groups=len(groups),
            group_names=groups[:NAMED],
        ),
        message=f"It has no master, only {counted(len(slaves), 'slave')}: nobody can write to its queues of"
        f" {counted(len(topics), 'topic')} ({listed(topics)}), and {can} them"
        + (f". They belong to {counted(len(groups), 'group')}: {listed(groups)}." if groups else "."),
    )


def _rate(topics: Iterable[TopicLoss]) -> float | None:
    rates = [one.msgs_per_s for one in topics]
    return None if None in rates else float(sum(rate or 0.0 for rate in rates))


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
    moved = [one.moved_today for one in groups]
    parts = [
        f"{counted(len(unwritable), 'topic')} could not be written: {listed(unwritable)}" if unwritable else None,
        f"{counted(len(unreadable), 'topic')} could not be read: {listed(unreadable)}" if unreadable else None,
        f"{counted(len(under), 'group')} would be too weak: {listed(under)}" if under else None,
        f"{counted(len(over), 'broker')} would have to store more than the policy says: {listed(names)}"
        if over
        else None,
    ]
    told = "; ".join(part for part in parts if part is not None)
    return finding(
        BROKER_LOSS,
        WARNING if under or over else INFO,
        broker_name=name,
        subjects=[name],
        evidence=Loss(
            msgs_per_s=rounded(rate),
            traffic_share=rounded(share),
            groups=len(groups),
            queues=sum(one.lost_queues for one in groups),
            moved_queues=None if None in moved else sum(number or 0 for number in moved),
            groups_under=under,
            brokers_over=over,
            unwritable_topics=unwritable,
            unreadable_topics=unreadable,
            read_again_s=again_s,
        ),
        message=f"Without it {told}."
        + ("" if share is None else f" The other brokers would take its {percent(share)} of the messages."),
    )
