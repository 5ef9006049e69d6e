"""When disks of brokers fill, and BROKER_DISK before they do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from msgspec import structs

from rocketmq_capacity.assessment.disk import BROKER_DISK, DiskFillsEvidence, broker_disk
from rocketmq_capacity.assessment.finding import finding
from rocketmq_capacity.model.broker_figures import deletes_early_above, used_ratio
from rocketmq_capacity.model.facts import ClusterFacts, Disagreements
from rocketmq_capacity.model.theil_sen import trend_of
from rocketmq_capacity.model.trend import Trend
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.settings.thresholds import BrokerDisk
from rocketmq_capacity.tables import Broker, BrokerLoad, Finding
from rocketmq_capacity.vocabulary import WARNING
from rocketmq_capacity.wording import counted, percent, rounded


@dataclass(frozen=True, slots=True)
class Filling:
    """A master whose disk fills.

    Attributes:
        broker: it.
        used: the used share of its fuller disk.
        trend: of this share.
    """

    broker: Broker
    used: float
    trend: Trend


def disk_forecasts(brokers: Sequence[Broker], loads: Sequence[BrokerLoad]) -> list[Filling]:
    """The masters whose disks fill for certain.

    One that has room for a whole retention never fills, however its disk grows until then.
    """
    endless = {one.broker_name for one in loads if _has_room(one)}
    fillings = []
    for broker in brokers:
        if broker.broker_id != 0 or broker.broker_name in endless:
            continue
        used = used_ratio(broker)
        trend = None if used is None else _trend(broker, used)
        if used is not None and trend is not None and trend.is_rising:
            fillings.append(Filling(broker, used, trend))
    return fillings


def _has_room(load: BrokerLoad) -> bool:
    return load.kept_bytes is not None and load.room_bytes is not None and load.kept_bytes <= load.room_bytes


def _trend(broker: Broker, used: float) -> Trend | None:
    """The trend of its used share; it goes on from what is used today, if that is less, as on a larger disk."""
    trend = trend_of([*(-days for days in broker.disk_days_ago), 0.0], [*broker.disk_used_ratios, used])
    return None if trend is None else replace(trend, now=min(trend.now, used))


def with_forecasts(loads: Sequence[BrokerLoad], forecasts: Sequence[Filling]) -> list[BrokerLoad]:
    """The rows, those of masters whose disks fill with the trend."""
    trends = {one.broker.broker_name: one.trend for one in forecasts}
    return [_with_trend(one, trends.get(one.broker_name)) for one in loads]


def _with_trend(load: BrokerLoad, trend: Trend | None) -> BrokerLoad:
    if trend is None:
        return load
    return structs.replace(
        load,
        disk_known_days=trend.points,
        disk_ratio=trend.now,
        disk_per_day_ratio=trend.per_day,
        disk_least_per_day_ratio=trend.lower,
        disk_most_per_day_ratio=trend.upper,
    )


def disk_fills(forecasts: Sequence[Filling], cluster: ClusterFacts, policy: Policy) -> Iterator[Finding]:
    """BROKER_DISK: a disk will be too full within the policy's days; one that is today has its finding already."""
    bounds = policy.thresholds.BROKER_DISK
    full = {one.broker_name for one in broker_disk(cluster, Disagreements(), policy)}
    for forecast in forecasts:
        if forecast.broker.broker_name not in full:
            yield from _fills(forecast, bounds)


def _fills(filling: Filling, bounds: BrokerDisk) -> Iterator[Finding]:
    broker, trend = filling.broker, filling.trend
    above = min(deletes_early_above(broker, bounds.warning_ratio), bounds.critical_ratio)
    earliest, likely, latest = trend.days_until(above)
    if likely > bounds.forecast_days:
        return
    longest = "and perhaps never" if latest is None else f"and at most {rounded(latest, 1)}"
    yield finding(
        BROKER_DISK,
        WARNING,
        broker_name=broker.broker_name,
        subjects=[broker.broker_addr or broker.broker_name],
        evidence=DiskFillsEvidence(
            broker_addr=broker.broker_addr,
            used_ratio=rounded(filling.used),
            per_day_ratio=rounded(trend.per_day),
            least_per_day_ratio=rounded(trend.lower),
            most_per_day_ratio=rounded(trend.upper),
            known_days=trend.points,
            deletes_early_above_ratio=rounded(above),
            earliest_days=rounded(earliest, 1),
            likely_days=rounded(likely, 1),
            latest_days=None if latest is None else rounded(latest, 1),
        ),
        message=f"{percent(filling.used)} of its disk are used, and each day {percent(trend.per_day)} of the disk more"
        f" over {counted(trend.points, 'day')}. Above {percent(above)} it deletes messages before their time: in about"
        f" {rounded(likely, 1)} days, at least {rounded(earliest, 1)} {longest}.",
    )
