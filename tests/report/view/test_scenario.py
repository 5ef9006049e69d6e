"""What the page of a what-if shows of groups and strategies."""

from typing import Any

import pytest

from rocketmq_capacity.report.view.scenario import ScenarioView, scenario_of
from tests.report.from_rows import plan_of
from tests.report.made_scenario import a_scenario
from tests.report.varied_cluster import varied_rows

SAME: dict[str, Any] = {"idle": 0, "count": None, "traffic": None}


def view_of(**changes: Any) -> ScenarioView:
    """The view of a what-if where each group and strategy changes so, and those of the builder are as they were."""
    told = a_scenario()
    told["groups"] = [
        {**group, "before": SAME, "after": SAME, "moved_queues": 1, "moved_ratio": 0.05, **changes}
        for group in told["groups"]
    ]
    plan = plan_of(varied_rows(5), scenario=told)
    assert plan.scenario
    return scenario_of(plan.scenario, {"g_pay_gateway": "AVG"})


@pytest.mark.parametrize(
    ("changes", "shown"),
    [
        ({}, 0),
        ({"moved_queues": 2, "moved_ratio": 0.1}, 2),
        ({"after": {**SAME, "idle": 1}}, 2),
        ({"after": {**SAME, "idle": None}}, 2),
        ({"before": {**SAME, "idle": 40}, "after": {**SAME, "idle": 42}}, 0),
    ],
)
def test_a_group_under_a_strategy_has_a_line_if_its_change_matters_and_is_counted_otherwise(
    changes: dict[str, Any], shown: int
) -> None:
    view = view_of(**changes)

    assert (len(view.lines), view.lines.more, view.same_lines) == (shown, 0, 2 - shown)


def test_the_strategy_in_use_comes_first() -> None:
    assert [line.strategy for line in view_of(moved_ratio=0.5).lines] == ["AVG", "CONSISTENT_HASH"]
