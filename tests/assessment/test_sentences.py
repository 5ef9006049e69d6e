"""The parts of a finding's sentence, and its figures."""

import pytest

from rocketmq_capacity.assessment.finding import harm, times
from rocketmq_capacity.wording import counted, listed, percent, rounded


def test_one_is_written_as_one() -> None:
    assert [counted(n, "queue") for n in (0, 1, 1_234_567)] == ["0 queues", "1 queue", "1,234,567 queues"]


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "100.0 %"), (0.99999, "99.9 %"), (0.57, "57.0 %"), (0.1 + 0.2, "30.0 %"), (0.0, "0.0 %"), (1.3, "130.0 %")],
)
def test_less_than_all_never_reads_a_hundred_percent(ratio: float, text: str) -> None:
    assert percent(ratio) == text


def test_a_share_reads_as_the_figure_of_the_plan_beside_it() -> None:
    """0.45796 is 0.458 in plan.json and 45.8 % in the page's tables."""
    assert percent(0.45796) == percent(rounded(0.45796)) == "45.8 %"
    assert percent(0.45794) == percent(rounded(0.45794)) == "45.7 %"


def test_a_factor_has_two_places() -> None:
    assert [times(x) for x in (4.0, 1.75, 3.0769)] == ["4.0", "1.75", "3.08"]


def test_figures_are_rounded_half_up_by_their_decimal_digits() -> None:
    assert [rounded(x) for x in (0.00005, 0.03125, 1.00005, 2.0, None)] == [0.0001, 0.0313, 1.0001, 2.0, None]


def test_figures_of_any_size_are_rounded() -> None:
    assert [rounded(x) for x in (1e23, 1e24, 1.7e308, 5e-324)] == [1e23, 1e24, 1.7e308, 0.0]


@pytest.mark.parametrize(
    ("names", "sentence"), [("a", "a"), ("abcde", "a, b, c, d, e"), ("abcdefg", "a, b, c, d, e and 2 more")]
)
def test_a_long_list_ends_with_how_many_more(names: str, sentence: str) -> None:
    assert listed(list(names)) == sentence


def test_harm_is_named_where_there_is_some() -> None:
    assert [harm(*known) for known in ((2, 0), (0, 1), (3, 2), (0, 0), (None, None))] == [
        " Now nobody reads 2 queues.",
        " Now 1 queue is read twice.",
        " Now nobody reads 3 queues, and 2 queues are read twice.",
        "",
        "",
    ]
