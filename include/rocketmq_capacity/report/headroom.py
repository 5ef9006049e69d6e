"""The headroom of groups as plan.json gives it, and the lowest of all."""

from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from rocketmq_capacity.plan_file.headroom import Headroom, PlanHeadroom
from rocketmq_capacity.tables.assess.brokers import BrokerLoad, TopicHeadroom
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.vocabulary import HeadroomKind

LOWEST: Final = 10
"""How many the plan lists: what a reader looks at before the next peak."""
SIGNIFICANT_DIGITS: Final = 6


def headroom_of(row: GroupStatus) -> PlanHeadroom | None:
    """The headroom of a group; None if it is unknown, or if no message comes."""
    factor, measured, breaks = row.headroom_factor, row.headroom_measured_factor, row.headroom_breaks
    if factor is None or breaks is None:
        return None
    of_measured = None if measured is None else steady(measured)
    return PlanHeadroom(factor=steady(factor), measured_factor=of_measured, breaks=breaks)


def lowest_headroom(rows: Iterable[GroupStatus], others: Iterable[Headroom] = ()) -> tuple[Headroom, ...]:
    """The lowest headroom of groups and of others, the lowest first."""
    groups = (
        Headroom(kind="GROUP", name=row.consumer_group, factor=headroom.factor, breaks=headroom.breaks)
        for row in rows
        if (headroom := headroom_of(row)) is not None
    )
    return tuple(sorted([*groups, *others], key=lambda one: (one.factor, one.kind, one.name))[:LOWEST])


def other_headroom(brokers: Iterable[BrokerLoad], topics: Iterable[TopicHeadroom]) -> Iterator[Headroom]:
    """The headroom of brokers and of topics, as far as it is known."""
    for broker in brokers:
        if broker.headroom_factor is not None and broker.headroom_breaks is not None:
            yield _headroom("BROKER", broker.broker_name, broker.headroom_factor, broker.headroom_breaks)
    for topic in topics:
        yield _headroom("TOPIC", topic.topic, topic.factor, topic.breaks)


def _headroom(kind: HeadroomKind, name: str, factor: float, breaks: str) -> Headroom:
    return msgspec.convert({"kind": kind, "name": name, "factor": steady(factor), "breaks": breaks}, Headroom)


def steady(factor: float) -> float:
    """The factor with as many digits as are the same in every run."""
    return float(f"{factor:.{SIGNIFICANT_DIGITS}g}")
