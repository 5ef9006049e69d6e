"""The brokers on the page: what each stores and can, its disk, and the loss of its neighbour."""

from collections.abc import Sequence
from dataclasses import dataclass

from msgspec import UNSET

from rocketmq_capacity.plan_file.broker import BrokerPlan
from rocketmq_capacity.report.figures import UNKNOWN, factor, figure, number, per_cent
from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.panels import Drawn
from rocketmq_capacity.report.rows import DiskDays
from rocketmq_capacity.report.view.client_costs import ClientCostLine, client_costs_view
from rocketmq_capacity.report.view.disks import disks_of
from rocketmq_capacity.report.view.first import First
from rocketmq_capacity.vocabulary import SEEN


@dataclass(frozen=True, slots=True)
class BrokerLine:
    """A broker."""

    name: str
    topics: str
    stores: str
    of_most: str
    disk: str
    fills: str
    loss: str
    headroom: str


@dataclass(frozen=True, slots=True)
class BrokersView:
    """The brokers that store most."""

    lines: First[BrokerLine]
    client_costs: First[ClientCostLine] | None
    disks: Drawn | None


def brokers_view(brokers: Sequence[BrokerPlan], disk_days: Sequence[DiskDays], taken_at: str) -> BrokersView | None:
    """The table, and the picture of disks; None for a plan of an earlier version, which has no brokers."""
    if not brokers:
        return None
    ordered = sorted(brokers, key=lambda one: (-(one.put_msgs_per_s or 0.0), one.broker_name))
    return BrokersView(
        First(map(_broker_line, ordered[:TABLE_ROWS]), len(ordered)),
        client_costs_view(brokers),
        disks_of(brokers, disk_days, taken_at),
    )


def _broker_line(broker: BrokerPlan) -> BrokerLine:
    return BrokerLine(
        name=broker.broker_name,
        topics=number(broker.topics),
        stores=number(broker.put_msgs_per_s),
        of_most=_of_most(broker),
        disk=_disk(broker),
        fills=_fills(broker),
        loss=_loss(broker),
        headroom=UNKNOWN if broker.headroom_factor is None else factor(broker.headroom_factor),
    )


def _of_most(broker: BrokerPlan) -> str:
    if broker.busy_ratio is None:
        return UNKNOWN
    share = per_cent(broker.busy_ratio)
    return f"{share} of the most that was seen" if broker.most_source == SEEN else f"{share} of the policy"


def _disk(broker: BrokerPlan) -> str:
    if broker.kept_bytes is None or broker.room_bytes is None:
        return UNKNOWN
    held = f"{figure('bytes', broker.kept_bytes)} of {figure('bytes', broker.room_bytes)}"
    return held if broker.disk_days is None else f"{held}: full in {number(broker.disk_days)} days"


def _fills(broker: BrokerPlan) -> str:
    """When the disk reaches the next level, by its trend; empty if it does not."""
    forecast = broker.disk_forecast
    levels = () if forecast is UNSET else forecast.levels
    level = next((level for level in levels if level.likely_days), None)
    if level is None:
        return ""
    used_ratio, earliest = per_cent(level.used_ratio), number(round(level.earliest_days, 1))
    if level.latest_days is None:
        return f"{used_ratio} in {earliest} days or never"
    latest = number(round(level.latest_days, 1))
    return f"{used_ratio} in {earliest} days" if latest == earliest else f"{used_ratio} in {earliest} to {latest} days"


def _loss(broker: BrokerPlan) -> str:
    if broker.worst_loss is None:
        return UNKNOWN
    after = f"{number(broker.loss_msgs_per_s)} without {broker.worst_loss}"
    return after if broker.loss_ratio is None else f"{after} ({per_cent(broker.loss_ratio)})"
