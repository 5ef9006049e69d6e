"""The page in Airflow finds groups of a stored plan, and draws one of them over the days in a process of its own."""

from pathlib import Path

import pytest

from rocketmq_capacity.report.group_days import MOST_NAMES, find_group
from rocketmq_capacity.spark.new_table import add_file
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.tables.arrow import table_of
from rocketmq_capacity.tables.assess.groups import GroupStatus
from rocketmq_capacity.tables.snapshot.groups import GroupHour
from tests.report.from_rows import typed
from tests.report.row_builders import a_group

NAMES = ("G_PAY", "g_pay", "g_pay_2", "g_ship")
HOURS = ("2026-11-20T00:00:00Z", "2026-11-20T01:00:00Z")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run with some groups, of which one has two hours."""
    return run_of(tmp_path_factory.mktemp("lake"), NAMES)


def run_of(lake: Path, names: tuple[str, ...]) -> Run:
    run = Lake(lake).run("C1", "r1")
    groups = typed(GroupStatus, {"group_status": [a_group(name) for name in names]})
    hours = [GroupHour(consumer_group="g_pay", at=at, msgs_per_s=1.0) for at in HOURS]
    for dataset, rows in ((GroupStatus, groups), (GroupHour, hours)):
        run.new_tables(dataset.dataset_name())
        add_file(run, dataset, table_of(dataset, rows))
    run.begin("assess")
    run.commit("assess", ["group_status", "group_hour"])
    return run


def test_groups_are_found_by_a_part_of_their_names_in_any_case(run: Run) -> None:
    found = find_group(run, None, "PAY", "en")
    assert (found.names, found.total, found.group) == (["G_PAY", "g_pay", "g_pay_2"], 3, None)
    assert find_group(run, None, "nothing", "en").names == []


def test_the_group_of_this_name_or_the_only_one_that_fits_is_drawn(run: Run) -> None:
    found = find_group(run, None, "g_pay", "en")
    assert found.group == "g_pay"
    assert "Traffic, lag and clients of g_pay over the days" in (found.days or "")
    assert "g_pay 历史上的流量、积压和客户端数" in (find_group(run, None, "g_pay", "zh-CN").days or "")
    other = find_group(run, None, "ship", "en")
    assert (other.group, other.days) == ("g_ship", None)


def test_of_many_groups_the_first_are_named(tmp_path: Path) -> None:
    names = tuple(f"g_{number:03}" for number in range(MOST_NAMES + 1))
    found = find_group(run_of(tmp_path, names), None, "", "en")
    assert (found.names, found.total) == (list(names[:-1]), MOST_NAMES + 1)


def test_a_run_without_tables_has_no_groups(tmp_path: Path) -> None:
    assert find_group(Lake(tmp_path).run("C1", "r1"), None, "", "en").total == 0
