"""The inventory's producers, made from the channels that brokers report."""

from collections.abc import Iterable

from rocketmq_capacity.protocol.body.consumers import ConsumerChannel
from rocketmq_capacity.protocol.version import version_name
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.inventory import InventoryProducer
from rocketmq_capacity.vocabulary import distinct, java_order


def describe_producers(brokers: Iterable[BrokerFacts]) -> tuple[InventoryProducer, ...] | None:
    """The running producers by group and client id; None if no broker answered.

    A producer has one channel to each broker. So an id has as many entries as it has channels to one broker, by the
    broker with most of them.
    """
    answering = [facts for facts in brokers if facts.producers is not None]
    if not answering:
        return None
    channels: dict[tuple[str, str], dict[str, list[ConsumerChannel]]] = {}
    for facts in answering:
        for group, connections in (facts.producers or {}).items():
            for connection in connections:
                of_broker = channels.setdefault((group, connection.client_id), {})
                of_broker.setdefault(facts.broker_name, []).append(connection)
    return tuple(
        InventoryProducer(
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


def _most(of_brokers: Iterable[list[ConsumerChannel]]) -> list[ConsumerChannel]:
    """The channels to the broker with most of them, sorted by address."""
    by_number = {len(channels): channels for channels in of_brokers}
    return sorted(by_number[max(by_number)], key=lambda one: one.client_addr or "")
