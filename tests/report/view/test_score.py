"""The score of a group on the page: what its line says, and how it came about."""

import pytest

from rocketmq_capacity.plan_file.score import GroupScore
from rocketmq_capacity.report.view.score import score_cell, score_facts


def a_score(before: float | None, after: float | None, judged_ratio: float = 1.0) -> GroupScore:
    return GroupScore(
        before=before,
        after=after,
        judged_ratio=judged_ratio,
        broken=("EVEN_LOAD", "NO_IDLE"),
        mended=("NO_IDLE",),
        undecided=("SURVIVES_LOSS",),
    )


@pytest.mark.parametrize(
    ("score", "cell"),
    [
        (a_score(64.0, 92.5), "64 \u2192 92.5"),
        (a_score(64.0, 64.0), "64"),
        (a_score(None, None, 0.3), "\u2013"),
        (None, "\u2013"),
    ],
)
def test_a_line_has_the_score_of_today_and_the_one_after_all_recommendations(
    score: GroupScore | None, cell: str
) -> None:
    assert score_cell(score) == cell


def test_a_section_names_the_goals_that_are_broken_and_those_that_cannot_be_judged() -> None:
    assert dict(score_facts(a_score(64.0, 92.5, 0.9))) == {
        "Score": "64 of 100 today, and 92.5 after all recommendations. 90 % of the goals can be judged.",
        "Broken goals": "Loads are even; Every client has work",
        "Undecided goals": "The loss of any one broker is survived",
    }


def test_a_group_of_which_too_little_is_known_has_no_score() -> None:
    assert dict(score_facts(a_score(None, None, 0.3)))["Score"] == "No score: only 30 % of the goals can be judged."
    assert list(score_facts(None)) == []
