"""A group over the days, on the page: hours, week and forecast, each with its table."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rocketmq_capacity.plan_file.ledger import LedgerEntry
from rocketmq_capacity.report.view.courses import GroupCourse, course_of
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.snapshot.groups import GroupDay, GroupHour
from rocketmq_capacity.vocabulary import UTILISATION
from tests.report.from_rows import page_of, typed
from tests.report.page_reader import elements, read_page, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group

MONDAY = datetime(2026, 11, 16, tzinfo=UTC)
BUSY = {"peak_msgs_per_s": 100.0, "headroom_factor": 1.4, "headroom_measured_factor": 7.0, "utilisation": 0.1}
GROWS = {
    "traffic_known_days": 21,
    "traffic_msgs_per_s": 90.0,
    "traffic_per_day_msgs_per_s": 2.0,
    "traffic_least_per_day_msgs_per_s": 1.0,
    "traffic_most_per_day_msgs_per_s": 3.0,
    "full_msgs_per_s": 140.0,
}


def status(**members: Any) -> GroupStatus:
    rows: list[GroupStatus] = typed(GroupStatus, {"group_status": [a_group(**members)]})
    return rows[0]


def hour(number: int, **figures: Any) -> GroupHour:
    at = (MONDAY + timedelta(hours=number)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return GroupHour(consumer_group="g_pay", at=at, **figures)


def course(*hours: GroupHour, days: Any = (), done: Any = (), **members: Any) -> GroupCourse:
    found = course_of(status(**members), hours, days, done, "1")
    assert found is not None
    return found


def test_each_day_has_its_busiest_hour_its_most_lag_and_its_clients() -> None:
    first = [hour(1, msgs_per_s=50.0, most_msgs_per_s=60.0, clients=4), hour(2, msgs_per_s=70.0, most_lag=9, clients=5)]
    found = course(*first, hour(25, most_lag=3), headroom_breaks=UTILISATION, **BUSY)
    assert found.days.rows == (
        ("2026-11-16", "02:00", "70", "35 %", "60", "9", "4 to 5"),
        ("2026-11-17", "unknown", "unknown", "unknown", "unknown", "3", "unknown"),
    )


def test_how_busy_clients_were_is_unknown_if_something_else_breaks_first() -> None:
    found = course(hour(1, msgs_per_s=50.0), hour(2, msgs_per_s=70.0), headroom_breaks="MAX_LAG", **BUSY)
    assert found.days.rows[0][3] == "unknown"


def test_many_hours_share_points_which_have_the_highest_and_the_table_has_the_last_days() -> None:
    few, many = (course(*(hour(n, msgs_per_s=1.0 + n % 3, clients=4) for n in range(hours))) for hours in (336, 1_500))
    assert (few.point_hours, many.point_hours) == (1, 5)
    assert len(many.days.picture) < len(few.days.picture)
    assert [len(one.days.rows) for one in (few, many)] == [14, 40]
    assert max(len(one.days.picture) for one in (few, many)) < 16_000  # a page has forty of them
    assert many.days.rows[-1][0] == "2027-01-17"


def test_a_group_without_two_known_hours_has_no_picture() -> None:
    assert course_of(status(), [hour(1, msgs_per_s=1.0)], [], [], "1") is None


def test_the_week_has_each_hour_and_one_that_is_known_twice_is_the_mean() -> None:
    hours = [hour(number, msgs_per_s=float(number)) for number in range(24)]
    week = course(*hours, hour(7 * 24, msgs_per_s=10.0)).week
    assert week is not None
    assert week.rows[0] == ("00:00", "5", *["unknown"] * 6)
    assert week.rows[23][:2] == ("23:00", "23")
    assert course(*hours[:23]).week is None


def test_a_forecast_has_the_trend_and_its_interval() -> None:
    days = (GroupDay(consumer_group="g_pay", day="2026-11-15", msgs_per_s=88.0),)
    found = course(hour(1, msgs_per_s=1.0), hour(2, msgs_per_s=1.0), days=days, **GROWS)
    assert found.forecast is not None
    assert found.forecast.rows == (
        ("0", "90", "90", "90"),
        ("7", "97", "104", "111"),
        ("14", "104", "118", "132"),
        ("28", "118", "146", "174"),
    )
    assert course(hour(1, msgs_per_s=1.0), hour(2, msgs_per_s=1.0)).forecast is None


def test_what_was_carried_out_is_told_with_its_day_and_what_was_not_is_left_out() -> None:
    entries = [
        LedgerEntry(id=state, action="SCALE_CONSUMERS", state=state, since=hour(0).at, at=hour(1).at)
        for state in ("VERIFIED", "GONE")
    ]
    found = course(hour(1, msgs_per_s=1.0), hour(2, msgs_per_s=1.0), done=entries)
    assert found.changes == ("1: SCALE_CONSUMERS, found on 2026-11-16",)


@pytest.mark.parametrize("name", ["g_pay", "g_fine"])
def test_the_page_has_the_days_of_groups_that_need_something(name: str) -> None:
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group("g_pay"), a_group("g_fine")],
        "finding": [a_finding(consumer_group="g_pay")],
        "group_hour": [
            {"consumer_group": group, "at": hour(number).at, "msgs_per_s": 1.0}
            for group in ("g_pay", "g_fine")
            for number in (1, 2)
        ],
    }
    page = read_page(page_of(rows))
    captions = [text_of(caption) for caption in elements(page, "caption")]
    assert (f"Traffic, lag and clients of {name} over the days" in captions) is (name == "g_pay")
