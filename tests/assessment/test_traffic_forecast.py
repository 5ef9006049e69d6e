"""CONSUMER_CAPACITY before clients are too busy: trends of generated days with a weekly season.

Four clients with ten threads own two of eight queues each, and a message takes 10 ms: above 2,800 messages a second the
busiest one is above 70 %.
"""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

import numpy as np
import pytest
from msgspec import UNSET
from msgspec.structs import replace

from rocketmq_capacity.assessment.capacity import TrafficGrowsEvidence
from rocketmq_capacity.model.theil_sen import WEEK, trend_of
from rocketmq_capacity.model.trend import Trend
from rocketmq_capacity.report.traffic_forecast import traffic_forecast_of
from rocketmq_capacity.settings.freeze import utc_text
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory import Inventory, PastRate
from tests.assessment.cases import a_group, a_topic, members, takes
from tests.assessment.judge import Row, judge
from tests.fixtures.plain_plan import plain_plan
from tests.simulation.clusters import cluster, queues

NOW: Final = datetime(2026, 11, 20, 2, tzinfo=UTC)
FULL: Final = 2_800.0
SEASON: Final = (1.0, 1.1, 1.2, 1.1, 1.0, 0.6, 0.5)
"""Times the trend that come on the days of a week."""


def fleet(daily: Sequence[float | None], now: float = 1_000.0, clients: int = 4) -> Inventory:
    """A group whose topic got so many messages a second at noon of the days before, the latest last."""
    rates = tuple(
        PastRate(at=utc_text(NOW - timedelta(days=len(daily) - day, hours=-10)), put_msgs_per_s=rate)
        for day, rate in enumerate(daily)
        if rate is not None
    )
    topic = replace(
        a_topic("t", queues("broker-a", 8), rates={("broker-a", i): now / 8 for i in range(8)}), rates=rates
    )
    every = members(clients, consume_threads=10, consume_batch_size=1, status=takes("t", 10.0))
    return cluster([topic], [a_group("g", every, [topic], lag=0)])


def grows(days: int, first: float, a_day: float) -> list[float]:
    return [(first + a_day * day) * SEASON[day % WEEK] for day in range(days)]


def found(daily: Sequence[float | None], policy: Policy | None = None) -> list[Row]:
    return [one for one in judge(fleet(daily), policy or Policy()).findings if one["rule"] == "CONSUMER_CAPACITY"]


def test_traffic_that_grows_is_told_before_it_is_too_much() -> None:
    (finding,) = found(grows(28, 1_600.0, 20.0))
    told = finding["evidence"]

    assert finding["severity"] == "WARNING"
    assert (told["known_days"], told["full_msgs_per_s"], told["clients"]) == (28, pytest.approx(FULL), 4)
    assert told["per_day_msgs_per_s"] == pytest.approx(20.0, rel=0.2)
    # The busiest day of a week has 1.2 times (1,600 + 20 a day): 2,592 today.
    assert told["traffic_msgs_per_s"] == pytest.approx(2_592.0, rel=0.03)
    assert told["earliest_days"] <= told["likely_days"] <= told["latest_days"]
    # 2,592 + 14 * 20 are 2,872: more than four clients can take, whose next useful number is eight.
    assert told["needed_clients"] == 8


def test_traffic_that_outgrows_the_queues_too_is_answered_by_more_of_them() -> None:
    # Eight clients, one a queue, bear twice what four do: 5,600 messages a second. In two weeks it is 5,900.
    plan = plain_plan(fleet(grows(28, 3_000.0, 50.0), clients=8))
    (group,) = plan.assessments
    (finding,) = [one for one in group.findings if one.rule == "CONSUMER_CAPACITY"]
    told = TrafficGrowsEvidence.read(finding)

    assert told is not None
    assert told.queues_full_msgs_per_s == pytest.approx(2 * FULL)
    assert (told.needed_clients, told.queues_likely_days) == (None, told.likely_days)
    assert told.then_busy_ratio > 0.7
    assert told.needed_queues is not None
    assert told.needed_queues.topic == "t"
    assert told.needed_queues.queues_per_broker > 8
    assert (told.queues_busy_ratio or 1.0) <= 0.7
    forecast = traffic_forecast_of(group.status)
    assert forecast is not UNSET
    assert forecast.queues is not None
    assert forecast.queues.earliest_days <= forecast.queues.likely_days <= (forecast.queues.latest_days or np.inf)
    (advice,) = [one for one in plan.recommendations if one.action == "EXPAND_QUEUES"]
    assert "by the traffic in 14 days" in advice.reason


def test_queues_that_are_enough_for_long_are_foretold_and_need_no_answer() -> None:
    plan = plain_plan(fleet(grows(28, 1_600.0, 20.0)))
    forecast = traffic_forecast_of(plan.assessments[0].status)
    assert forecast is not UNSET
    assert forecast.queues is not None
    assert forecast.queues.full_msgs_per_s == pytest.approx(2 * FULL)
    assert forecast.queues.likely_days > forecast.likely_days
    assert "EXPAND_QUEUES" not in {one.action for one in plan.recommendations}


@pytest.mark.parametrize(("most", "reason"), [(None, "NO_LIMIT"), (8, "UNKNOWN")])
def test_when_queues_are_too_few_is_unknown_with_its_reason(most: int | None, reason: str) -> None:
    status = plain_plan(fleet(grows(28, 600.0, 20.0))).assessments[0].status
    forecast = traffic_forecast_of(replace(status, queues_full_msgs_per_s=None, max_useful_clients=most))
    assert forecast is not UNSET
    assert (forecast.queues, forecast.no_queues) == (None, reason)


@pytest.mark.parametrize(
    "daily",
    [
        grows(28, 600.0, 20.0),
        grows(28, 2_200.0, 0.0),
        grows(28, 2_200.0, -20.0),
        grows(20, 1_800.0, 20.0),
        [*grows(27, 1_500.0, 0.0), 2_700.0],
    ],
    ids=["too far", "only the week", "falls", "too few days", "one jump"],
)
def test_what_does_not_outgrow_the_clients_within_two_weeks_for_certain_is_silent(daily: list[float | None]) -> None:
    assert found(daily) == []


def test_clients_that_are_too_busy_at_the_peak_have_their_own_finding() -> None:
    (finding,) = found(grows(28, 2_400.0, 20.0))

    assert "under_utilisation_ratio" in finding["evidence"]


def test_nobody_may_go_while_traffic_grows_too_fast() -> None:
    policy = Policy.model_validate({"thresholds": {"PROVISION": {"over_utilisation": 0.69, "min_left_clients": 1}}})
    status = judge(fleet(grows(28, 1_600.0, 20.0)), policy).group("g")

    assert "CONSUMER_CAPACITY" in status["scale_down_blocked_by"]
    assert not status["scale_down_allowed"]


def test_a_plan_has_the_trend_also_of_traffic_that_is_far_from_too_much() -> None:
    (group,) = plain_plan(fleet(grows(28, 600.0, 20.0))).assessments
    forecast = traffic_forecast_of(group.status)

    assert forecast is not UNSET
    assert forecast.known_days == 28
    assert forecast.earliest_days <= forecast.likely_days <= (forecast.latest_days or np.inf)
    (stable,) = plain_plan(fleet(grows(28, 600.0, 0.0))).assessments
    assert traffic_forecast_of(stable.status) is UNSET


def a_trend(values: np.ndarray, last: int) -> Trend | None:
    """The trend that a plan of this day has, of the six weeks before it; days are missing by chance."""
    days = [day for day in range(max(0, last - 41), last + 1) if day % 11 != 3]
    return trend_of([float(day - last - 1) for day in days], values[days].tolist(), WEEK)


def test_a_week_before_it_is_too_much_there_is_an_alarm_and_never_in_a_stable_series() -> None:
    dice = np.random.default_rng(20261126)
    late, false = [], 0
    season = np.array([SEASON[day % WEEK] for day in range(60)])
    for _ in range(60):
        noise = dice.normal(1, 0.02, 60)
        growing = (1_000 + dice.uniform(15, 30) * np.arange(60)) * season * noise
        growing[dice.integers(0, 60)] *= 0.3  # an incident
        stable = 2_000 * season * noise
        false += sum(is_alarmed(a_trend(stable, day)) for day in range(21, 60))
        reached = next((day for day in range(60) if growing[day] > FULL * 0.8), None)
        if reached is not None:
            alarms = [day for day in range(21, reached) if is_alarmed(a_trend(growing, day), FULL * 0.8)]
            late.append(not alarms or reached - alarms[0] < WEEK)

    assert len(late) > 10
    assert sum(late) <= len(late) // 20
    assert false == 0


def is_alarmed(trend: Trend | None, full: float = FULL) -> bool:
    return trend is not None and trend.is_rising and trend.days_until(full)[1] <= 14


def test_intervals_hold_as_often_as_they_say_with_a_season() -> None:
    dice = np.random.default_rng(7)
    season = 100 * np.array([SEASON[day % WEEK] for day in range(42)])
    held = []
    for _ in range(400):
        trend = trend_of(range(-42, 0), (500 + 5 * np.arange(42) + season + dice.normal(0, 10, 42)).tolist(), WEEK)
        if trend is not None:
            held.append(trend.lower <= 5 <= trend.upper)

    assert len(held) > 300
    assert sum(held) / len(held) > 0.92
