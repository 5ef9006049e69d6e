"""What a what-if says about lost name servers: who has which route until when, what goes on, what stops."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from rocketmq_capacity.assessment.master_loss import NOT_ACTIVE_S
from rocketmq_capacity.assessment.replicas import registered_only_with
from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.plan_file.lost_nameserver import Asking, HeldRoute, Loss, LostNameserver, PartialLists, RouteSpan
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.simulation import nameserver_words as words
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import RunSide, Sides
from rocketmq_capacity.simulation.timing import Timing
from rocketmq_capacity.tables import Broker, ConsumerGroup, Subscription, TopicQueue
from rocketmq_capacity.vocabulary import BROKER_EXPIRED_S, BUSINESS, NAMESERVER_SCAN_S, REQUEST_S, java_order
from rocketmq_capacity.wording import fixed, listed

REGISTERS_S: Final = 30.0
"""BrokerConfig.registerNameServerPeriod; a broker takes 10 to 60 s of it."""
HEARTBEAT_S: Final = 1.0
"""BrokerConfig.brokerHeartbeatInterval of such a broker."""
NAMED: Final = 20
"""The most topics and groups that an entry names; it counts all."""


def lost_nameservers(sides: Sides) -> tuple[LostNameserver, ...]:
    """An entry for each lost name server, in the order of the changes."""
    if not any(change.lost_nameserver for change in sides.scenario.changes):
        return ()
    timing = Timing.of(sides.before.cluster, sides.policy, sides.scenario.failed_polls)
    left = tuple(sides.after.cluster.cluster.nameservers)
    entries = entries_of(sides.scenario, sides.before.cluster.brokers, left, timing, partial_lists(*_read(sides.after)))
    return tuple(map(steady, entries))


@dataclass(frozen=True, slots=True)
class Registering:
    """How brokers register with name servers, in seconds.

    Attributes:
        period_s: the longest time between two registrations of a broker.
        first_s: when a name server that is cut off expires the first broker, at the earliest.
        last_s: when it has expired every broker, at the latest.
    """

    period_s: float
    first_s: float
    last_s: float

    @classmethod
    def of(cls, brokers: Iterable[Broker]) -> "Registering":
        """Those of some brokers; with RocketMQ's defaults where a broker does not tell its own."""
        timings = [_registers(one) for one in brokers] or [(REGISTERS_S, REGISTERS_S, BROKER_EXPIRED_S)]
        return cls(
            period_s=max(registers_s for registers_s, _, _ in timings),
            first_s=min(silent_s - heard_s for _, heard_s, silent_s in timings),
            last_s=max(silent_s for _, _, silent_s in timings) + NAMESERVER_SCAN_S,
        )


def _registers(broker: Broker) -> tuple[float, float, float]:
    """How often a broker registers, how often a name server hears of it, and how long it may be silent.

    Source: BrokerController.start and doRegisterBrokerAll, rocketmq-all-5.3.3.
    """
    config = broker.config or {}
    registers_s = min(max(_seconds(config.get("registerNameServerPeriod"), REGISTERS_S), 10.0), 60.0)
    if config.get("enableSlaveActingMaster", "").strip().lower() != "true":
        return registers_s, registers_s, BROKER_EXPIRED_S
    silent_s = _seconds(config.get("brokerNotActiveTimeoutMillis"), NOT_ACTIVE_S)
    return registers_s, min(_seconds(config.get("brokerHeartbeatInterval"), HEARTBEAT_S), silent_s), silent_s


def _seconds(milliseconds: str | None, usual_s: float) -> float:
    known = None if milliseconds is None else whole_number(milliseconds)
    return usual_s if known is None else known / 1000


def entries_of(
    scenario: Scenario, brokers: Sequence[Broker], left: tuple[str, ...], timing: Timing, partial: PartialLists
) -> Iterator[LostNameserver]:
    """An entry for each lost name server.

    Args:
        scenario: the changes.
        brokers: all brokers before the changes.
        left: the name servers after the changes.
        timing: the timers of the clients.
        partial: the topics of which clients may keep lists that lack brokers.
    """
    registering = Registering.of(brokers)
    losses = [change.lost_nameserver for change in scenario.changes if change.lost_nameserver is not None]
    masters = {one.broker_name: one for one in sorted(brokers, key=lambda one: (one.broker_name, -one.broker_id))}
    lost_brokers = registered_only_with({address for address, _ in losses}, masters) if left else ()
    for address, loss in losses:
        is_cut = loss == "CUT_OFF"
        lost = _LostNameserver(loss, bool(left), len(losses) < len(scenario.changes), timing, registering, lost_brokers)
        yield LostNameserver(
            nameserver_addr=address,
            loss=loss,
            nameservers_left=left,
            lost_brokers=lost_brokers,
            expires_first_s=registering.first_s if is_cut else None,
            expires_last_s=registering.last_s if is_cut else None,
            back_s=registering.period_s + REQUEST_S + lost.poll_s,
            routes=tuple(lost.cut_off() if is_cut else lost.dead()),
            goes_on=tuple(lost.goes_on()),
            stops=tuple(lost.stops()),
            advice=tuple(lost.advice()),
            partial_lists=partial if is_cut else None,
            timers={
                "pollNameServerInterval_s": timing.route_s,
                "mqClientApiTimeout_s": REQUEST_S,
                "registerNameServerPeriod_s": registering.period_s,
                "scanNotActiveBrokerInterval_s": NAMESERVER_SCAN_S,
            },
        )


@dataclass(frozen=True, slots=True)
class _LostNameserver:
    """A lost name server.

    Attributes:
        loss: how it is lost.
        has_others: whether another name server is left.
        has_other_changes: whether the scenario changes something else.
        timing: the timers of the clients.
        registering: those of the brokers.
        brokers: the brokers that register only with lost name servers; None if unknown.
    """

    loss: Loss
    has_others: bool
    has_other_changes: bool
    timing: Timing
    registering: Registering
    brokers: tuple[str, ...] | None

    @property
    def poll_s(self) -> float:
        """The most seconds until a client asks for its routes again."""
        return self.timing.route_s + REQUEST_S

    def dead(self) -> Iterator[RouteSpan]:
        """Who has which route if it is dead."""
        if not self.has_others:
            yield _span("KNOW_IT_ALONE", 0.0, None, "AS_BEFORE", words.KEEP)
            yield _span("NEW", 0.0, None, "NONE", words.CANNOT_START)
            return
        asked_s = self.timing.asked_s
        meaning = words.TIMED_OUT if self.loss == "SILENT" else words.CLOSED
        yield _span("ASK_ANOTHER", 0.0, None, "CURRENT", words.NOTHING_CHANGES)
        yield _span("ASK_IT", 0.0, asked_s, "AS_BEFORE", meaning)
        yield _span("ASK_IT", asked_s, None, "CURRENT", words.ASKS_ANOTHER)
        yield _span("KNOW_IT_ALONE", 0.0, None, "AS_BEFORE", words.KEEP)
        yield _span("NEW", 0.0, None, "CURRENT", words.STARTS_BY_CHANCE)

    def cut_off(self) -> Iterator[RouteSpan]:
        """Who has which route if brokers do not reach it."""
        first_s, last_s = self.registering.first_s, self.registering.last_s
        if self.has_others:
            yield _span("ASK_ANOTHER", 0.0, None, "CURRENT", words.NOTHING_CHANGES)
        yield _span("ASK_IT", 0.0, first_s, "AS_BEFORE", words.STILL_ANSWERS)
        yield _span("ASK_IT", first_s, last_s, "SHRINKING", words.IS_EXPIRING)
        yield _span("ASK_IT", last_s, None, "LAST", words.KEEPS_LAST)
        yield _span("NEW", 0.0, last_s, "SHRINKING", words.STARTS_AS_IT_SAYS)
        yield _span("NEW", last_s, None, "NONE", words.STARTS_WITH_NOTHING)

    def goes_on(self) -> Iterator[str]:
        """What goes on."""
        yield words.RUNNING
        yield words.REBALANCES
        if self.has_others:
            yield words.OTHERS

    def stops(self) -> Iterator[str]:
        """What stops."""
        is_cut = self.loss == "CUT_OFF"
        if is_cut:
            yield from (words.UNNOTICED_CUT, words.NEW_CLIENTS_CUT, words.DEAD_BROKER, words.MEMBERS)
        elif not self.has_others:
            yield from (words.UNNOTICED, words.NEW_CLIENTS, words.NEW_TOPICS, words.DEAD_BROKER, words.NO_ADMIN)
        else:
            yield words.UNNOTICED_THERE
            if self.loss == "SILENT":
                yield words.SLOW_ADMIN
        if self.has_others and self.brokers:
            yield words.registers_alone(listed(self.brokers))
        elif self.has_others and self.brokers is None:
            yield words.UNKNOWN_BROKERS
        if self.has_other_changes and (is_cut or not self.has_others):
            yield words.AS_IF

    def advice(self) -> Iterator[str]:
        """What to do. A name server that is the last one is never to be stopped: new clients would not start."""
        if self.loss == "CUT_OFF":
            yield words.mend(fixed(self.registering.first_s, 0))
            if self.has_others:
                yield words.STOP_IT
        else:
            yield words.START_IT
            yield words.WAIT_FOR_SERVICE
        if not self.has_others:
            yield words.START_NOTHING
        yield words.LIST_ALL if self.has_others else words.SECOND


def _span(clients: Asking, from_s: float, until_s: float | None, route: HeldRoute, meaning: str) -> RouteSpan:
    return RouteSpan(clients=clients, from_s=from_s, until_s=until_s, route=route, meaning=meaning)


class SubscriptionRow(NamedTuple):
    """Some columns of ``subscription``."""

    consumer_group: str
    topic: str


def partial_lists(
    places: Iterable[TopicQueue], reads: Iterable[SubscriptionRow], groups: Iterable[str]
) -> PartialLists:
    """The topics with readable queues on several brokers, and the groups that read them.

    Args:
        places: where business topics have queues.
        reads: which group reads which topic.
        groups: the business groups.
    """
    readable: dict[str, list[int]] = {}
    for place in places:
        if place.readable:
            readable.setdefault(place.topic, []).append(place.readable)
    several = {topic: sum(each) for topic, each in readable.items() if len(each) > 1}
    known = set(groups)
    names = sorted({one.consumer_group for one in reads if one.topic in several} & known, key=java_order)
    topics = sorted(several, key=java_order)
    return PartialLists(
        topics=len(topics),
        topic_names=tuple(topics[:NAMED]),
        queues=sum(several.values()),
        groups=len(names),
        group_names=tuple(names[:NAMED]),
    )


def _read(side: RunSide) -> tuple[list[TopicQueue], list[SubscriptionRow], list[str]]:
    """What the lists of queues depend on."""
    is_business = pc.field("kind").cast(pa.string()) == BUSINESS
    places = side.rows_where(TopicQueue, is_business)
    reads = list(side.records(Subscription, SubscriptionRow, is_business))
    return places, reads, [one.consumer_group for one in side.records(ConsumerGroup, _Name, is_business)]


class _Name(NamedTuple):
    consumer_group: str
