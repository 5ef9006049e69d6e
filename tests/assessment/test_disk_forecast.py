"""BROKER_DISK before a disk is too full: trends of generated days, and disks that never fill."""

from typing import Any

import numpy as np
import pytest
from msgspec.structs import replace

from rocketmq_capacity.assessment.disk_forecast import disk_forecasts, with_forecasts
from rocketmq_capacity.model.theil_sen import trend_of
from rocketmq_capacity.report.brokers import brokers_of
from rocketmq_capacity.report.rows import DiskDays
from rocketmq_capacity.report.view.brokers import brokers_view
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, PastDisk
from rocketmq_capacity.snapshot.past_disks import past_disks, with_past_disks
from tests.assessment.cases import ago
from tests.assessment.judge import Row, judge
from tests.assessment.test_disk import full, of
from tests.fixtures.losses import loads_of
from tests.fixtures.units import units_of

GROWS = [0.40 + 0.01 * day for day in range(20)]
"""By a hundredth a day; 0.59 on the last day."""


def at(days: float, used: float, **runtime: str) -> Inventory:
    broker = full("broker-a", f"{used:.4f}")
    return replace(of(replace(broker, runtime={**(broker.runtime or {}), **runtime})), taken_at=ago(days=days))


def course(used: list[float], **runtime: str) -> list[Inventory]:
    """An inventory a day, the last one is planned."""
    return [at(len(used) - 1 - day, share, **runtime) for day, share in enumerate(used)]


def found(inventories: list[Inventory]) -> list[Row]:
    """The findings of the last one, with the others as its history."""
    *history, now = inventories
    return [one for one in judge(now, history=history).findings if one["rule"] == "BROKER_DISK"]


def test_a_disk_that_grows_evenly_is_foretold_to_the_day() -> None:
    used = [share + 0.05 for share in GROWS]
    (finding,) = found(course(used))

    assert finding["severity"] == "WARNING"
    assert finding["broker_name"] == "broker-a"
    told = finding["evidence"]
    assert (told["known_days"], told["per_day_ratio"], told["likely_days"]) == (20, 0.01, 11.0)
    assert told["earliest_days"] <= told["likely_days"] <= told["latest_days"]


@pytest.mark.parametrize(
    "used",
    [
        GROWS,
        [0.6] * 20,
        [0.70, 0.60] * 10,
        [0.74 - 0.01 * day for day in range(20)],
        [share + 0.05 for share in GROWS[-6:]],
        [0.5] * 19 + [0.7],
    ],
    ids=["too far", "even", "up and down", "falls", "six days", "one jump"],
)
def test_what_does_not_fill_within_two_weeks_for_certain_is_silent(used: list[float]) -> None:
    assert found(course(used)) == []


def test_a_disk_that_was_made_larger_goes_on_from_what_is_used_of_it() -> None:
    assert found(course([*(share + 0.16 for share in GROWS), 0.60])) == []

    (finding,) = found(course([*(share + 0.16 for share in GROWS), 0.65]))
    assert (finding["evidence"]["used_ratio"], finding["evidence"]["likely_days"]) == (0.65, 10.0)


def test_a_disk_with_room_for_a_whole_retention_never_fills() -> None:
    used = [share + 0.05 for share in GROWS]
    gib = 1 << 30
    facts = {
        "commitLogDirCapacity": "Total : 100.0 GiB, Free : 36.0 GiB.",
        "commitLogMinOffset": "0",
        "putTps": "10.0 10.0 10.0",
        "putMessageAverageSize": "1000",
    }
    *history, now = course(used, **facts, commitLogMaxOffset=str(60 * gib))
    kept = replace(now, brokers=tuple(replace(one, config={"fileReservedTime": "72"}) for one in now.brokers))

    assert found([*history, kept]) == []


def test_a_disk_that_is_too_full_today_is_one_finding() -> None:
    (finding,) = found(course([share + 0.2 for share in GROWS]))

    assert "disks" in finding["evidence"]


def test_a_week_before_saturation_there_is_an_alarm_and_never_in_a_stable_series() -> None:
    dice = np.random.default_rng(20261126)
    late, false = [], 0
    for _ in range(60):
        weekly = 0.01 * np.sin(np.arange(60) * 2 * np.pi / 7)
        noise = dice.normal(0, 0.004, 60)
        grows = 0.45 + dice.uniform(0.004, 0.01) * np.arange(60) + weekly + noise
        stable = 0.6 + weekly + noise
        false += sum(is_alarmed(stable[: day + 1], day) for day in range(14, 60))
        saturated = next((day for day in range(60) if grows[day] > 0.75), None)
        if saturated is not None:
            alarms = [day for day in range(14, saturated) if is_alarmed(grows[: day + 1], day)]
            late.append(not alarms or saturated - alarms[0] < 7)

    assert len(late) > 10
    assert not any(late)
    assert false == 0


def is_alarmed(used: Any, day: int) -> bool:
    first = max(0, day - 28)
    trend = trend_of(np.arange(first - day, 1).tolist(), used[first:].tolist())
    return trend is not None and trend.is_rising and trend.days_until(0.75)[1] <= 14


def test_intervals_hold_as_often_as_they_say() -> None:
    dice = np.random.default_rng(7)
    held = []
    for _ in range(400):
        trend = trend_of(range(-27, 1), (0.3 + 0.005 * np.arange(28) + dice.normal(0, 0.01, 28)).tolist())
        if trend is not None:
            held.append(trend.lower <= 0.005 <= trend.upper)

    assert len(held) > 300
    assert sum(held) / len(held) > 0.92


def test_the_slope_is_the_median_of_all_slopes() -> None:
    trend = trend_of([-8, -7, -6, -5, -4, -3, -2, 0], [0, 1, 2, 30, 4, 5, 6, 8])

    assert trend is not None
    assert trend.per_day == 1.0
    assert trend.now == 8.0
    assert trend.days_until(10.0)[1] == 2.0


def test_the_highest_of_each_day_is_kept_for_the_runs_after_it() -> None:
    now, earlier = at(0, 0.5), [at(2.2, 0.3), at(2.1, 0.4), at(1, 0.45)]
    kept = with_past_disks(now, earlier, 28)

    assert [one.used_ratio for one in past_disks(now, earlier, 28)["broker-a"]] == [0.4, 0.45]
    assert past_disks(kept, [], 28) == past_disks(now, earlier, 28)
    assert past_disks(kept, [], 1)["broker-a"] == (PastDisk(at=ago(days=1), used_ratio=0.45),)
    assert with_past_disks(now, [], 28) == now


def test_a_plan_says_when_each_level_is_reached() -> None:
    *history, now = course([share + 0.05 for share in GROWS])
    units = units_of(now, Policy(), history)
    rows = loads_of(units, Policy())[0]
    (broker,) = brokers_of(with_forecasts(rows, disk_forecasts(units.cluster.brokers, rows)))

    assert broker.disk_forecast
    assert [round(one.likely_days, 6) for one in broker.disk_forecast.levels] == [11.0, 21.0, 26.0]
    known = DiskDays("broker-a", 0, [2.0, 1.0], [0.6, 0.61])
    view = brokers_view([broker], [known], "2026-11-20T02:00:00Z")
    assert view is not None
    assert view.disks is not None
    ((name, more, *dates),) = view.disks.rows
    assert (name, more) == ("broker-a", "1 %")
    assert [date[:10] for date in dates] == ["2026-12-01", "2026-12-11", "2026-12-16"]
    assert view.disks.headers[2:] == ("Above 75 % from", "Above 85 % from", "Above 90 % from")
    assert view.lines[0].fills == "75 % in 11 days"
    (even,) = brokers_of(rows)
    assert not even.disk_forecast
    calm = brokers_view([even], [known], "2026-11-20T02:00:00Z")
    assert calm is not None
    assert calm.disks is None


def test_slaves_are_not_foretold() -> None:
    slave = InventoryBroker(broker_name="broker-a", broker_id=1, runtime={"commitLogDiskRatio": "0.9"})
    now = at(0, 0.5)

    assert past_disks(now, [replace(at(1, 0.4), brokers=(slave,))], 28) == {}
