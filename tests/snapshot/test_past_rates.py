"""How fast topics were written in the stored days, and a group's busy hour."""

from datetime import UTC, datetime, timedelta
from math import ceil

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from rocketmq_capacity.model.facts import PastTraffic
from rocketmq_capacity.settings.events import Event
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.thresholds import ProvisionPolicy
from rocketmq_capacity.snapshot.dated import dated
from rocketmq_capacity.snapshot.inventory import (
    Inventory,
    InventoryFailure,
    InventoryTopic,
    InventoryTopicOffset,
    PastRate,
)
from rocketmq_capacity.snapshot.past_rates import PastHours, past_rates, with_past_rates
from tests.simulation.clusters import after, broker, cluster, group, queues, topic

NOW = datetime(2026, 11, 20, 2, tzinfo=UTC)
BOUNDS = ProvisionPolicy()


def taken(hours_ago: float, **offsets: tuple[int | None, float | None]) -> Inventory:
    """An inventory of topics of one queue: how far each is written, and its rate."""
    topics = [
        InventoryTopic(
            topic=name,
            queues=(queues("broker-a", 1),),
            offsets=(InventoryTopicOffset(broker_name="broker-a", queue_id=0, max_offset=end, put_msgs_per_s=rate),),
        )
        for name, (end, rate) in offsets.items()
    ]
    return replace(cluster(topics), taken_at=utc_text(NOW - timedelta(hours=hours_ago)))


def test_each_earlier_inventory_gives_its_rate_and_the_mean_until_the_next_one() -> None:
    history = [taken(48, pay=(0, 5.0)), taken(24, pay=(86_400, 7.0))]
    found = past_rates(taken(0, pay=(86_400 * 4, 1.0)), history, BOUNDS)

    assert found == {
        "pay": (
            PastRate(at="2026-11-18T02:00:00Z", put_msgs_per_s=5.0, mean_msgs_per_s=1.0),
            PastRate(at="2026-11-19T02:00:00Z", put_msgs_per_s=7.0, mean_msgs_per_s=3.0),
        )
    }


@pytest.mark.parametrize("end", [None, 10])
def test_there_is_no_mean_where_an_offset_is_unknown_or_went_back(end: int | None) -> None:
    found = past_rates(taken(0, pay=(end, 1.0)), [taken(24, pay=(500, 5.0))], BOUNDS)

    assert [rate.mean_msgs_per_s for rate in found["pay"]] == [None]


@pytest.mark.parametrize(("silent", "rates"), [("broker-b", [7.0]), ("broker-c", [5.0, 7.0])])
def test_what_only_some_brokers_answered_is_no_rate_of_the_topic(silent: str, rates: list[float]) -> None:
    """A day on which a broker with half of the messages was silent would look like a quiet one."""
    now, yesterday, before = (taken(hours, pay=(None, rate)) for hours, rate in ((0, 1.0), (24, 7.0), (48, 5.0)))
    on_both = replace(before.topics[0], queues=(queues("broker-a", 1), queues("broker-b", 1)))
    brokers = tuple(broker(name) for name in ("broker-a", "broker-b", "broker-c"))
    failed = InventoryFailure(broker_addr=f"{silent}:10911", request="GET_TOPIC_STATS_INFO", error="timed out")
    incomplete = replace(before, topics=(on_both,), brokers=brokers, failures=(failed,))

    found = past_rates(now, [incomplete, yesterday], BOUNDS)

    assert [rate.put_msgs_per_s for rate in found["pay"]] == rates


@pytest.mark.parametrize("has_topics", [True, False])
def test_two_days_on_which_the_same_broker_was_silent_tell_no_mean(has_topics: bool) -> None:
    def incomplete(hours_ago: float, end: int) -> Inventory:
        group_of_pay = group("g", topics=[topic("pay", queues("broker-a", 1))])
        (offset,) = group_of_pay.offsets or ()
        group_of_pay = replace(group_of_pay, offsets=(replace(offset, broker_offset=end),))
        (pay,) = taken(hours_ago, pay=(end, None)).topics
        pay = replace(pay, queues=(queues("broker-a", 1), queues("broker-b", 1)))
        failed = InventoryFailure(broker_addr="broker-b:10911", request="GET_TOPIC_STATS_INFO", error="timed out")
        whole = cluster([pay] if has_topics else [], [group_of_pay], [broker("broker-a"), broker("broker-b")], [failed])
        return replace(whole, taken_at=utc_text(NOW - timedelta(hours=hours_ago)))

    assert past_rates(taken(0), [incomplete(48, 0), incomplete(24, 86_400)], BOUNDS) == {}


def test_offsets_of_groups_tell_the_mean_where_the_topics_are_unknown() -> None:
    told = cluster([], [group("g", topics=[topic("pay", queues("broker-a", 1))])])
    earlier = replace(told, taken_at="2026-11-19T02:00:00Z")
    later = taken(0, pay=(5_000 + 86_400 * 2, 1.0))

    assert [rate.mean_msgs_per_s for rate in past_rates(later, [earlier], BOUNDS)["pay"]] == [2.0]


def test_the_rates_of_an_inventory_are_kept_beside_those_of_its_history_and_only_the_last_days() -> None:
    inventory = taken(0, pay=(None, 1.0))
    for hours in range(24 * 60, 0, -24):
        inventory = with_past_rates(inventory, [taken(hours, pay=(None, float(hours)))], BOUNDS)
    (pay,) = inventory.topics

    assert [rate.put_msgs_per_s for rate in pay.rates or ()] == [24.0 * day for day in range(BOUNDS.trend_days, 0, -1)]
    # A run that is tried again adds nothing.
    assert with_past_rates(inventory, [taken(24, pay=(None, 24.0))], BOUNDS) == inventory


def test_a_what_if_scales_them_and_another_date_moves_them() -> None:
    inventory = with_past_rates(taken(0, pay=(None, 1.0)), [taken(24, pay=(None, 5.0))], BOUNDS)
    scaled = after(inventory, {"change": "scale_traffic", "factor": 3.0})
    moved = dated(inventory, NOW + timedelta(days=3))

    assert scaled.topics[0].rates == (PastRate(at="2026-11-19T02:00:00Z", put_msgs_per_s=15.0),)
    assert moved.topics[0].rates == (PastRate(at="2026-11-22T02:00:00Z", put_msgs_per_s=5.0),)


def _hours(days: int = 366, **rates: list[float | None]) -> PastHours:
    """The rates of topics at the same hour of successive days; the last is the day before the snapshot."""
    return PastHours(
        {
            topic: [
                PastRate(at=utc_text(NOW - timedelta(days=len(each) - day)), put_msgs_per_s=rate)
                for day, rate in enumerate(each)
            ]
            for topic, each in rates.items()
        },
        NOW,
        ProvisionPolicy(peak_days=days),
    )


def test_a_busy_hour_is_that_of_all_topics_together_as_far_as_filters_let_them_through() -> None:
    hours = _hours(pay=[100.0, 10.0, None], refund=[0.0, 80.0, 5.0])

    busy = hours.of_group({"pay": 0.5, "refund": 1.0})
    assert busy is not None
    assert (busy.msgs_per_s, busy.days, busy.hours) == ({"pay": 10.0, "refund": 80.0}, 2, 3)
    assert hours.of_group({"pay": None, "refund": 1.0}) is None
    assert hours.of_group({"other": 1.0}) is None


@pytest.mark.parametrize(
    ("begins", "ends", "topics", "peak"),
    [
        (26, 23, "^pay$", 10.0),  # hours before the snapshot: the rate of the day before it is within
        (26, 23, None, 10.0),
        (26, 23, "^refund$", 60.0),
        (23, 22, None, 60.0),  # it begins when the hour is over
        (30, 24, None, 60.0),  # it ends when the hour begins
        (24.01, 23.99, None, 10.0),
        (26, 0, None, 10.0),
        (26, -1, None, 60.0),  # it is still on
    ],
)
def test_an_hour_of_an_event_that_is_over_is_no_peak(
    begins: float, ends: float, topics: str | None, peak: float
) -> None:
    event = {"name": "sale", "from": NOW - timedelta(hours=begins), "to": NOW - timedelta(hours=ends), "factor": 6.0}
    rates = [
        PastRate(at=utc_text(NOW - timedelta(hours=hours)), put_msgs_per_s=rate)
        for hours, rate in ((48, 10.0), (24, 60.0))
    ]

    hours = PastHours({"pay": rates}, NOW, ProvisionPolicy(), events=[Event.model_validate(event | {"topics": topics})])

    busy = hours.of_group({"pay": 1.0})
    assert busy is not None
    assert (busy.msgs_per_s, busy.days) == ({"pay": peak}, 2)


@settings(max_examples=100, deadline=None)
@given(rates=st.lists(st.floats(0, 1e6), min_size=1, max_size=60))
def test_it_is_the_p95_of_the_hours_by_nearest_rank(rates: list[float]) -> None:
    busy = _hours(pay=list(rates)).of_group({"pay": 1.0})

    assert busy is not None
    assert busy.msgs_per_s == {"pay": sorted(rates)[ceil(95 * len(rates) / 100) - 1]}
    assert busy.days == len(rates)


def test_several_rates_of_an_hour_count_once_with_the_highest() -> None:
    rates = [
        PastRate(at="2026-11-19T02:05:00Z", put_msgs_per_s=5.0, mean_msgs_per_s=9.0),
        PastRate(at="2026-11-19T02:55:00Z", put_msgs_per_s=7.0),
    ]

    assert PastHours({"pay": rates}, NOW, ProvisionPolicy()).of_group({"pay": 1.0}) == PastTraffic(
        days=1,
        hours=1,
        hour_s=datetime(2026, 11, 19, 2, tzinfo=UTC).timestamp(),
        msgs_per_s={"pay": 9.0},
        days_ago=(1,),
        daily_msgs_per_s=(9.0,),
    )


def test_of_days_before_the_last_ones_the_busy_hour_is_kept() -> None:
    history = [taken(24 * 20 - hours, pay=(None, rate)) for hours, rate in ((0, 5.0), (1, 9.0), (2, 7.0))] + [
        taken(24 * day, pay=(None, 1.0)) for day in range(14, 0, -1)
    ]
    found = past_rates(taken(0, pay=(None, 1.0)), history, BOUNDS)["pay"]

    assert [rate.put_msgs_per_s for rate in found] == [9.0] + [1.0] * 14


def test_the_peak_is_looked_for_in_the_last_days_and_the_trend_in_all() -> None:
    busy = _hours(3, pay=[50.0, 40.0, 1.0, 2.0, 3.0], refund=[1.0, None, 1.0, 1.0, 1.0]).of_group({
        "pay": 0.5,
        "refund": 1.0,
    })

    assert busy is not None
    assert (busy.msgs_per_s, busy.days, busy.hours) == ({"pay": 3.0, "refund": 1.0}, 3, 3)
    assert (busy.days_ago, busy.daily_msgs_per_s) == ((5, 3, 2, 1), (26.0, 1.5, 2.0, 2.5))


def test_a_day_is_as_busy_as_its_busy_hour_and_today_is_not_over() -> None:
    rates = [
        PastRate(at=utc_text(NOW - timedelta(hours=hours)), put_msgs_per_s=float(hours)) for hours in range(26, 0, -1)
    ]
    busy = PastHours({"pay": rates}, NOW, ProvisionPolicy()).of_group({"pay": 1.0})

    assert busy is not None
    assert (busy.days_ago, busy.daily_msgs_per_s) == ((1,), (25.0,))
