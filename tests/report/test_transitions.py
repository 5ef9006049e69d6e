"""What a recommendation means while it is carried out, over all of its groups."""

from typing import Any

from rocketmq_capacity.report.transitions import transitions_of
from rocketmq_capacity.tables import RecommendedTransition
from tests.report.row_builders import a_recommended_transition


def row(group: str, name: str = "r1", **facts: Any) -> RecommendedTransition:
    return RecommendedTransition(**a_recommended_transition(name, group, **facts))


def test_queues_and_messages_add_up_and_the_longest_times_count() -> None:
    found = transitions_of([
        row("a"),
        row("b", unread_longest_worst_s=60.0, messages_twice_expected=0.2),
        row("c", "r2"),
    ])

    assert found.keys() == {"r1", "r2"}
    both = found["r1"]
    assert (both.moved_queues, both.new_queues, both.most_unread_at_once) == (6, 2, 4)
    assert (both.unread_longest_worst_s, both.unread_longest_expected_s) == (60.0, 25.5)
    assert (both.messages_twice_expected, both.messages_twice_worst) == (0.3, 200.0)


def test_fixed_lists_are_another_way_and_not_summed_up_with_their_recommendation() -> None:
    rows = [row("a"), row("a", is_of_lists=True, moved_queues=7)]

    assert transitions_of(rows)["r1"].moved_queues == 3
    assert transitions_of(rows, of_lists=True)["r1"].moved_queues == 7
    assert transitions_of(rows[:1], of_lists=True) == {}


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    found = transitions_of([row("a"), row("b", messages_twice_worst=None)])

    assert found["r1"].messages_twice_worst is None
    assert found["r1"].messages_twice_expected == 0.2
