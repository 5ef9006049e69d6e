"""The brokers as plan.json gives them."""

from collections.abc import Iterable

import msgspec
from msgspec import structs

from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.report.headroom import steady
from rocketmq_capacity.tables.assess.brokers import BrokerLoad


def brokers_of(rows: Iterable[BrokerLoad]) -> tuple[BrokerPlan, ...]:
    """The brokers by name, with figures that are the same in every run."""
    names = [field.name for field in structs.fields(BrokerPlan)]
    return tuple(
        msgspec.convert({name: _shown(getattr(row, name)) for name in names}, BrokerPlan)
        for row in sorted(rows, key=lambda row: row.broker_name)
    )


def _shown(value: str | float | None) -> str | float | None:
    return steady(value) if isinstance(value, float) else value
