"""Brokers as the inventory has them, out of what they answered."""

from collections.abc import Iterable

from rocketmq_capacity.snapshot.broker_facts import BrokerFacts
from rocketmq_capacity.snapshot.identify import without_secrets
from rocketmq_capacity.snapshot.inventory import Broker
from rocketmq_capacity.vocabulary import PERM_BITS


def describe_brokers(brokers: Iterable[BrokerFacts]) -> tuple[Broker, ...]:
    """One entry a process, by name and id."""
    return tuple(
        Broker(
            broker_name=facts.broker_name,
            broker_id=facts.broker_id,
            broker_addr=facts.broker_addr,
            broker_perm=_perm(facts),
            version=None if facts.runtime is None else facts.runtime.get("brokerVersionDesc"),
            config=None if facts.config is None else without_secrets(facts.config),
            runtime=None if facts.runtime is None else dict(sorted(facts.runtime.items())),
        )
        for facts in sorted(brokers, key=lambda facts: (facts.broker_name, facts.broker_id))
    )


def _perm(facts: BrokerFacts) -> int | None:
    perm = (facts.config or {}).get("brokerPermission", "")
    return int(perm) & PERM_BITS if perm.isascii() and perm.isdigit() else None
