"""The inventory's brokers, made from their answers."""

from collections.abc import Iterable
from typing import Any

from rocketmq_capacity.model.number_text import whole_number
from rocketmq_capacity.snapshot.broker_facts import BrokerFacts, Drift
from rocketmq_capacity.snapshot.describe_clients import utc_of_ms
from rocketmq_capacity.snapshot.identify import without_secrets
from rocketmq_capacity.snapshot.inventory import DriftedTopic, InventoryBroker
from rocketmq_capacity.vocabulary import PERM_BITS


def describe_brokers(brokers: Iterable[BrokerFacts]) -> tuple[InventoryBroker, ...]:
    """One entry a process, by name and id."""
    return tuple(
        InventoryBroker(
            broker_name=facts.broker_name,
            broker_id=facts.broker_id,
            broker_addr=facts.broker_addr,
            broker_perm=broker_perm(facts),
            version=None if facts.runtime is None else facts.runtime.get("brokerVersionDesc"),
            config=None if facts.config is None else without_secrets(facts.config),
            runtime=None if facts.runtime is None else dict(sorted(facts.runtime.items())),
            **_drift(facts.drift),
        )
        for facts in sorted(brokers, key=lambda facts: (facts.broker_name, facts.broker_id))
    )


def _drift(drift: Drift | None) -> dict[str, Any]:
    if drift is None:
        return {}
    return {
        "drifted_topics": tuple(
            DriftedTopic(
                topic=config.topic,
                read_queue_nums=None if other is None else other.read_queue_nums,
                write_queue_nums=None if other is None else other.write_queue_nums,
                master_read_queue_nums=config.read_queue_nums,
                master_write_queue_nums=config.write_queue_nums,
            )
            for other, config in drift.topics
        ),
        "missing_groups": drift.groups,
        "is_copying": drift.is_copying or None,
        "master_changed_at": utc_of_ms(drift.changed_ms or 0),
    }


def broker_perm(facts: BrokerFacts) -> int | None:
    """What the broker lets clients do with all of its topics: 4 read + 2 write; None if it did not say so."""
    perm = whole_number((facts.config or {}).get("brokerPermission"))
    return None if perm is None else perm & PERM_BITS
