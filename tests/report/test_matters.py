"""The one rule for which differences of figures matter."""

import pytest

from rocketmq_capacity.report.matters import busy_share_matters, matters


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
