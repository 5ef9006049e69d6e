"""What a recommendation means while it is carried out, over all of its groups."""

from typing import Any

from rocketmq_capacity.contracts import RecommendedTransition
from rocketmq_capacity.report.transitions import transitions_of


def row(group: str, name: str = "r1", **facts: Any) -> RecommendedTransition:
    usual: dict[str, Any] = {
        "moved_queues": 3,
        "new_queues": 1,
        "ownerless_queues": 0,
        "unread_longest_expected_s": 25.5,
        "unread_longest_worst_s": 53.5,
        "twice_longest_worst_s": 52.5,
        "lock_wait_worst_s": 0.0,
        "messages_twice_expected": 0.1,
        "messages_twice_worst": 100.0,
        "messages_skipped_worst": 0.0,
        "most_unread_at_once": 2,
        "most_twice_at_once": 1,
        "timers": "{}",
    }
    return RecommendedTransition(recommendation_id=name, consumer_group=group, **usual | facts)


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


def test_a_sum_with_an_unknown_part_is_unknown() -> None:
    found = transitions_of([row("a"), row("b", messages_twice_worst=None)])

    assert found["r1"].messages_twice_worst is None
    assert found["r1"].messages_twice_expected == 0.2
