"""What a what-if says about slow brokers and lost masters: who can read and write there, and who avoids them."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict
from math import ceil

import pyarrow.compute as pc

from rocketmq_capacity.assessment.replicas import readable_without_master
from rocketmq_capacity.model.sums import sum_of
from rocketmq_capacity.plan_file.numbers import steady
from rocketmq_capacity.plan_file.troubled_broker import CanRead, LostMasterOutlook, SlowBrokerOutlook, SlowProducers
from rocketmq_capacity.producers import GENERATIONS, Generation
from rocketmq_capacity.settings.producers import Sending
from rocketmq_capacity.simulation.changes.lose_master import LoseMaster
from rocketmq_capacity.simulation.changes.slow_broker import SlowBroker
from rocketmq_capacity.simulation.lost_masters import with_course
from rocketmq_capacity.simulation.producers_meanwhile import seen_groups
from rocketmq_capacity.simulation.scenario import Scenario
from rocketmq_capacity.simulation.sides import Sides
from rocketmq_capacity.tables import Broker, TopicQueue
from rocketmq_capacity.tables.rows import is_one_of
from rocketmq_capacity.vocabulary import BUSINESS, MASTER

Outlook = LostMasterOutlook | SlowBrokerOutlook
EVERYBODY = CanRead(pull=True, pull_in_order=True, pop=True)


def named_brokers(scenario: Scenario) -> list[str]:
    """The brokers of the scenario that lose their master or are slow."""
    return [one.broker_name for one in scenario.changes if isinstance(one, LoseMaster | SlowBroker)]


def outlook_of(sides: Sides) -> tuple[Outlook, ...]:
    """The entries of the brokers that lose their master or are slow."""
    names = named_brokers(sides.scenario)
    if not names:
        return ()
    is_named = is_one_of("broker_name", names)
    queues = sides.before.rows_where(TopicQueue, is_named & (pc.field("kind") == BUSINESS))
    sendings = sides.policy.sendings(seen_groups(sides.before))
    entries = outlook(sides.scenario, queues, sides.after.rows(Broker), sendings)
    lost = [one for one in entries if isinstance(one, LostMasterOutlook)]
    with_more = iter(with_course(sides, lost, queues) if lost else ())
    return tuple(steady(next(with_more)) if isinstance(one, LostMasterOutlook) else one for one in entries)


def outlook(
    scenario: Scenario,
    queues: Iterable[TopicQueue],
    brokers: Iterable[Broker],
    sendings: Collection[Sending] = (Sending(),),
) -> tuple[Outlook, ...]:
    """An entry for each lost master and each slow broker, in the order of the changes.

    Args:
        scenario: the changes.
        queues: business queues on the named brokers before the changes.
        brokers: all brokers after the changes.
        sendings: how producers send, by the policy.
    """
    on: dict[str, list[TopicQueue]] = {}
    for place in queues:
        on.setdefault(place.broker_name, []).append(place)
    replicas: dict[str, list[Broker]] = {}
    for broker in sorted(brokers, key=lambda one: one.broker_id):
        replicas.setdefault(broker.broker_name, []).append(broker)
    entries: list[Outlook] = []
    for change in scenario.changes:
        if isinstance(change, LoseMaster):
            name = change.broker_name
            entries.append(_lost_master(name, on.get(name, ()), replicas.get(name, ())))
        elif isinstance(change, SlowBroker):
            entries.append(_slow(change, on.get(change.broker_name, ()), sendings))
    return tuple(entries)


def _lost_master(name: str, on: Sequence[TopicQueue], replicas: Sequence[Broker]) -> LostMasterOutlook:
    """Who can read and write the queues of a broker that lost its master."""
    is_elected = any(broker.broker_id == 0 for broker in replicas)
    slaves = [broker for broker in replicas if broker.broker_id != 0]
    return LostMasterOutlook(
        broker_name=name,
        replicas=len(replicas),
        has_new_master=is_elected,
        readable_queues=_readable(on),
        writable_queues=_writable(on),
        is_writable=is_elected,
        can_read=EVERYBODY if is_elected else CanRead(**asdict(readable_without_master(slaves))),
    )


def _slow(change: SlowBroker, on: Sequence[TopicQueue], sendings: Collection[Sending]) -> SlowBrokerOutlook:
    """What producers of each generation do about a slow broker. Fault tolerance is off unless a client turns it on."""
    return SlowBrokerOutlook(
        broker_name=change.broker_name,
        latency_ms=change.latency_ms,
        for_s=change.for_s,
        readable_queues=_readable(on),
        writable_queues=_writable(on),
        fails=any(sending.is_late(change.latency_ms) for sending in sendings),
        producers=tuple(_producers(each, change, sendings) for each in GENERATIONS),
    )


def _producers(generation: Generation, change: SlowBroker, sendings: Collection[Sending]) -> SlowProducers:
    """What a generation does if its latency fault tolerance is on; the worst of all ways to send.

    A one-way message takes no time, so its producer avoids nothing.
    """
    waits = [(sending, min(change.latency_ms, sending.timeout_ms)) for sending in sendings if sending.timeout_ms]
    back_offs = [
        (taken, generation.back_off_ms(taken, has_failed=sending.is_late(change.latency_ms)))
        for sending, taken in waits
    ]
    avoiding = [(taken, back_off) for taken, back_off in back_offs if back_off]
    # A message that begins just before the broker is fast again takes its time, and is followed by a back-off.
    avoided_ms = [taken + back_off for taken, back_off in avoiding]
    return SlowProducers(
        versions=generation.name,
        back_off_ms=max((back_off for _, back_off in avoiding), default=0),
        most_sends_per_thread=ceil(change.for_s * 1000 / min(avoided_ms)) if avoided_ms else None,
        avoided_for_s_afterwards=max(avoided_ms, default=0.0) / 1000,
    )


def _readable(places: Iterable[TopicQueue]) -> int:
    """Readable queues before the change."""
    return sum(place.readable for place in places)


def _writable(places: Iterable[TopicQueue]) -> int | None:
    """Writable queues before the change; None if one of their numbers is unknown."""
    return sum_of(place.writable for place in places if place.broker_state == MASTER)
