"""The brokers as plan.json gives them."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import structs

from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.plan_file.client_cost import PoolUse
from rocketmq_capacity.plan_file.client_requests import client_requests, pool_use
from rocketmq_capacity.report.headroom import steady
from rocketmq_capacity.tables.assess.brokers import BrokerLoad
from rocketmq_capacity.tables.assess.client_costs import BrokerPool, ClientCost

NOT_OF_THE_LOAD: Final = frozenset({"clients", "counted_reads_per_s", "pools"})


def brokers_of(
    rows: Iterable[BrokerLoad], costs: Iterable[ClientCost] = (), pools: Iterable[BrokerPool] = ()
) -> tuple[BrokerPlan, ...]:
    """The brokers by name, with figures that are the same in every run."""
    names = [field.name for field in structs.fields(BrokerPlan) if field.name not in NOT_OF_THE_LOAD]
    asked = {row.broker_name: row for row in costs}
    held: dict[str, list[PoolUse]] = {}
    for row in pools:
        held.setdefault(row.broker_name, []).append(pool_use(row))
    return tuple(
        _with_clients(
            msgspec.convert({name: _shown(getattr(row, name)) for name in names}, BrokerPlan),
            asked.get(row.broker_name),
            sorted(held.get(row.broker_name, ()), key=lambda one: one.pool),
        )
        for row in sorted(rows, key=lambda row: row.broker_name)
    )


def _with_clients(broker: BrokerPlan, cost: ClientCost | None, pools: Iterable[PoolUse]) -> BrokerPlan:
    """A broker with what clients cost it; a plan of an earlier version does not know."""
    if cost is None:
        return broker
    return structs.replace(
        broker, clients=client_requests(cost), counted_reads_per_s=_shown(cost.counted_reads_per_s), pools=tuple(pools)
    )


def _shown(value: str | float | None) -> str | float | None:
    return steady(value) if isinstance(value, float) else value
