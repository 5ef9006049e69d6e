"""The one rule for which differences of figures matter."""

from typing import Any

import pytest

from rocketmq_capacity.report.matters import busy_share_matters, figures_matter, matters, move_matters


@pytest.mark.parametrize(
    ("before", "after", "is_worth_it"),
    [
        (1.0, 2.0, True),
        (100.0, 101.0, False),
        (10.0, 11.0, True),
        (5.0, 5.5, False),
        (0.0, 1.0, True),
        (None, 1.0, True),
        (1.0, None, True),
        (None, None, False),
    ],
)
def test_a_figure_changes_by_a_tenth_of_it_and_by_the_floor(
    before: float | None, after: float | None, *, is_worth_it: bool
) -> None:
    assert matters(before, after, 1.0) == is_worth_it


@pytest.mark.parametrize(
    ("before", "after", "is_worth_it"),
    [(0.002, 0.003, False), (0.003, 0.01, False), (0.2, 0.25, True), (0.69, 0.71, True), (0.8, 0.86, False)],
)
def test_a_busy_share_matters_by_the_same_rule_or_if_it_crosses_the_bound(
    before: float, after: float, *, is_worth_it: bool
) -> None:
    assert busy_share_matters(before, after, 0.7) == is_worth_it


@pytest.mark.parametrize(
    ("before", "after", "is_worth_it"),
    [
        ({"lag": 1000}, {"lag": 1099}, False),
        ({"lag": 1000}, {"lag": 1200}, True),
        ({"idle_ratio": 0.01}, {"idle_ratio": 0.05}, False),
        ({"idle_ratio": 0.01}, {"idle_ratio": 0.06}, True),
        ({"peak": 1.5}, {"peak": 1.6}, False),
        ({"peak": 1.5}, {"peak": 1.7}, True),
        ({"client_ids": ["a", "b"]}, {"client_ids": ["a", "c"]}, True),
        ({"client_ids": ["a", "b"]}, {"client_ids": ["a"]}, True),
        ({"queues": [{"queue_id": 0, "lag": 40}]}, {"queues": [{"queue_id": 0, "lag": 42}]}, False),
        ({"queues": [{"queue_id": 0, "lag": 40}]}, {"queues": [{"queue_id": 0, "lag": 60}]}, True),
        ({"ordered": False}, {"ordered": True}, True),
        ({"lag": 1000}, {"lag": None}, True),
        ({"lag": 1000}, {}, True),
    ],
)
def test_figures_matter_by_their_unit_and_names_always(
    before: dict[str, Any], after: dict[str, Any], *, is_worth_it: bool
) -> None:
    assert figures_matter(before, after, "") == figures_matter(after, before, "") == is_worth_it


@pytest.mark.parametrize(
    ("queues", "ratio", "is_worth_it"), [(None, None, False), (0, 0.0, False), (1, 0.09, False), (1, 0.1, True)]
)
def test_queues_that_move_matter_from_a_tenth_on(queues: int | None, ratio: float | None, *, is_worth_it: bool) -> None:
    assert move_matters(queues, ratio) == is_worth_it
