"""Producers as the inventory has them, out of what the brokers told of their channels."""

from collections.abc import Iterable

from rocketmq_capacity.protocol.body.consumers import Connection
from rocketmq_capacity.protocol.version import version_name
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.inventory import Producer, distinct
from rocketmq_capacity.vocabulary import java_order


def describe_producers(brokers: Iterable[BrokerFacts]) -> tuple[Producer, ...] | None:
    """The running producers by group and client id; None where no broker told any.

    A producer has a channel to each broker. So an id stands as often as it has channels to one and the same broker, by
    the broker that has most.
    """
    told = [facts for facts in brokers if facts.producers is not None]
    if not told:
        return None
    channels: dict[tuple[str, str], dict[str, list[Connection]]] = {}
    for facts in told:
        for group, connections in (facts.producers or {}).items():
            for one in connections:
                of_broker = channels.setdefault((group, one.client_id), {})
                of_broker.setdefault(facts.broker_name, []).append(one)
    return tuple(
        Producer(
            producer_group=group,
            client_id=client_id,
            client_addr=one.client_addr,
            language=one.language,
            version=None if one.version is None else version_name(one.version),
            seen_on=tuple(distinct(of_broker)),
        )
        for group, client_id in sorted(channels, key=lambda key: (java_order(key[0]), java_order(key[1])))
        for of_broker in [channels[group, client_id]]
        for one in _most(of_broker.values())
    )


def _most(of_brokers: Iterable[list[Connection]]) -> list[Connection]:
    """The channels to the broker that has most, by address."""
    by_number = {len(channels): channels for channels in of_brokers}
    return sorted(by_number[max(by_number)], key=lambda one: one.client_addr or "")
