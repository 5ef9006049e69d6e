"""The hours and days of groups before a snapshot, as tables."""

from datetime import timedelta
from typing import Any

from msgspec.structs import replace

from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.group_hours import group_days, group_hours
from rocketmq_capacity.snapshot.inventory import (
    HourlyGroup,
    HourlyRates,
    Inventory,
    InventorySubscription,
    InventoryTopic,
    PassRatio,
    PastRate,
)
from rocketmq_capacity.snapshot.resolved import Resolved
from rocketmq_capacity.tables.arrow import table_of_columns
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from tests.fixtures.samples import MIDNIGHT, at
from tests.simulation.clusters import cluster, group

HALF = (PassRatio(topic="pay", pass_ratio=0.5),)


def rated(topic: str, *means: float | None) -> InventoryTopic:
    mosts = tuple(None if mean is None else 2 * mean for mean in means)
    return InventoryTopic(topic=topic, hourly=HourlyRates(first_at=at(0), mean_msgs_per_s=means, most_msgs_per_s=mosts))


def inventory(topics: list[InventoryTopic], **members: Any) -> Inventory:
    own = replace(
        group("g", ()),
        subscriptions=tuple(
            InventorySubscription(topic=one.topic, expression="A" if members else "*") for one in topics
        ),
        **members,
    )
    return replace(cluster(topics, [own]), taken_at=at(26 * 60))


def hours(told: Inventory) -> list[tuple[str, Any, Any, Any, Any]]:
    table = table_of_columns(GroupHour, group_hours(Resolved(told, Policy())))
    return [tuple(row.values())[1:] for row in table.to_pylist()]


def test_an_hour_has_what_comes_through_the_filter_with_lag_and_clients() -> None:
    reading = HourlyGroup(first_at=at(60), most_lag=(7, None), clients=(None, 3))
    told = inventory([rated("pay", 10.0, 20.0)], pass_ratios=HALF, hourly=reading)
    assert hours(told) == [
        (at(0), 5.0, 10.0, None, None),
        (at(60), 10.0, 20.0, 7, None),
        (at(120), None, None, None, 3),
    ]


def test_hours_begin_as_those_of_a_clock() -> None:
    reading = HourlyGroup(first_at=at(30), most_lag=(7,), clients=(3,))
    assert hours(inventory([rated("pay", 10.0)], pass_ratios=HALF, hourly=reading)) == [(at(0), 5.0, 10.0, 7, 3)]


def test_hours_after_the_snapshot_or_before_its_sampled_days_are_left_out() -> None:
    for first_at in ("2030-01-01T00:00:00Z", "1999-01-01T00:00:00Z", at(60, MIDNIGHT - timedelta(days=7))):
        reading = HourlyGroup(first_at=first_at, most_lag=(7,), clients=(3,))
        assert hours(inventory([rated("pay", 10.0)], pass_ratios=HALF, hourly=reading)) == [
            (at(0), 5.0, 10.0, None, None)
        ]


def test_the_rate_of_an_hour_is_unknown_if_that_of_one_topic_is() -> None:
    told = inventory([rated("pay", 10.0, 20.0), rated("ship", 1.0, None)])
    assert hours(told) == [(at(0), 11.0, 22.0, None, None)]
    assert hours(inventory([rated("pay", 10.0), InventoryTopic(topic="ship")])) == []


def test_without_a_stored_day_there_is_no_row() -> None:
    assert hours(inventory([InventoryTopic(topic="pay")])) == []


def test_days_have_the_traffic_of_earlier_snapshots() -> None:
    moments = [MIDNIGHT - timedelta(days=ago) for ago in (3, 1)]
    rates = tuple(PastRate(at=at(0, moment), put_msgs_per_s=40.0) for moment in moments)
    told = inventory([InventoryTopic(topic="pay", rates=rates)], pass_ratios=HALF)
    table = table_of_columns(GroupDay, group_days(Resolved(told, Policy())))
    assert [tuple(row.values()) for row in table.to_pylist()] == [("g", "2026-11-17", 20.0), ("g", "2026-11-19", 20.0)]
