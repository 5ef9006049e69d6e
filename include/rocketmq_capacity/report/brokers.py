"""The brokers as plan.json gives them."""

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec import structs

from rocketmq_capacity.model.trend import Trend
from rocketmq_capacity.plan_file.broker import BrokerPlan, DiskForecast, DiskLevel
from rocketmq_capacity.plan_file.client_cost import PoolUse
from rocketmq_capacity.plan_file.client_requests import client_requests, pool_use
from rocketmq_capacity.plan_file.numbers import steady as steady_struct
from rocketmq_capacity.report.headroom import steady
from rocketmq_capacity.tables.assess.brokers import BrokerLoad
from rocketmq_capacity.tables.assess.client_costs import BrokerPool, ClientCost

NOT_OF_THE_LOAD: Final = frozenset({"clients", "counted_reads_per_s", "disk_forecast", "pools"})
LEVELS: Final = (0.75, 0.85, 0.9)
"""RocketMQ's own: above the first it deletes early, above the second at once, above the third it refuses messages.

Source: MessageStoreConfig.diskMaxUsedSpaceRatio and DefaultMessageStore, rocketmq-all-5.3.3.
"""


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
            _with_forecast(msgspec.convert({name: _shown(getattr(row, name)) for name in names}, BrokerPlan), row),
            asked.get(row.broker_name),
            sorted(held.get(row.broker_name, ()), key=lambda one: one.pool),
        )
        for row in sorted(rows, key=lambda row: row.broker_name)
    )


def _with_forecast(broker: BrokerPlan, row: BrokerLoad) -> BrokerPlan:
    figures = row.disk_ratio, row.disk_per_day_ratio, row.disk_least_per_day_ratio, row.disk_most_per_day_ratio
    now, per_day, least, most = figures
    if now is None or per_day is None or least is None or most is None:
        return broker
    trend = Trend(now, per_day, least, most, row.disk_known_days or 0)
    forecast = DiskForecast(
        known_days=trend.points,
        per_day_ratio=per_day,
        least_per_day_ratio=least,
        most_per_day_ratio=most,
        levels=tuple(_level(trend, level) for level in LEVELS),
    )
    return structs.replace(broker, disk_forecast=steady_struct(forecast))


def _level(trend: Trend, used_ratio: float) -> DiskLevel:
    earliest, likely, latest = trend.days_until(used_ratio)
    return DiskLevel(used_ratio=used_ratio, earliest_days=earliest, likely_days=likely, latest_days=latest)


def _with_clients(broker: BrokerPlan, cost: ClientCost | None, pools: Iterable[PoolUse]) -> BrokerPlan:
    """A broker with what clients cost it; a plan of an earlier version does not know."""
    if cost is None:
        return broker
    return structs.replace(
        broker, clients=client_requests(cost), counted_reads_per_s=_shown(cost.counted_reads_per_s), pools=tuple(pools)
    )


def _shown(value: str | float | None) -> str | float | None:
    return steady(value) if isinstance(value, float) else value
