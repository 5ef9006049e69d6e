"""Before and after as one table."""

import pytest

from rocketmq_capacity.report.limits import TABLE_ROWS
from rocketmq_capacity.report.view.comparison import compare


def lines(before, after):
    return [(c.label, c.before, c.after, c.difference, c.verdict) for c in compare(before, after).changes]


def test_what_differs_is_listed_with_its_difference_and_what_stays_is_counted():
    before = {"queues": 8, "idle": 4, "topic": "pay", "count": {"peak": 1.5, "floor": 1.5}}
    after = {"queues": 12, "idle": 0, "topic": "pay", "count": {"peak": 1.0, "floor": 1.5}}

    found = compare(before, after)

    assert lines(before, after) == [
        ("queues", "8", "12", "+4", ""),
        ("idle", "4 clients", "0 clients", "\u22124", "better"),
        ("count \u203a PEAK", "1.5", "1", "\u22120.5", "better"),
    ]
    assert found.unchanged == 2


def test_entries_of_a_list_are_compared_by_their_names():
    before = {"groups": [{"consumer_group": "g_a_b", "idle": 2}, {"consumer_group": "g_c", "idle": 0}]}
    after = {"groups": [{"consumer_group": "g_c", "idle": 1}, {"consumer_group": "g_a_b", "idle": 0}]}

    assert lines(before, after) == [
        ("groups \u203a g_a_b \u203a idle", "2 clients", "0 clients", "\u22122", "better"),
        ("groups \u203a g_c \u203a idle", "0 clients", "1 client", "+1", "worse"),
    ]


def test_names_of_the_cluster_that_are_keys_stay_as_they_are():
    assert lines({"groups": {"g_msgs_per_s": {"idle": 1}}}, {"groups": {"g_msgs_per_s": {"idle": 2}}}) == [
        ("groups \u203a g_msgs_per_s \u203a idle", "1 client", "2 clients", "+1", "worse")
    ]


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ({"lag": None}, {"lag": 5}, ("lag", "unknown", "5 messages", "changed", "")),
        ({}, {"brokers": 3}, ("brokers", "not stated", "3", "changed", "")),
        ({"strategy": "AVG"}, {"strategy": "POP"}, ("strategy", "AVG", "POP", "changed", "")),
        ({"is_ordered": True}, {"is_ordered": False}, ("is ordered", "yes", "no", "changed", "")),
        ({"idle_ratio": 0.5}, {"idle_ratio": 0.25}, ("idle", "50 %", "25 %", "\u221225 points", "")),
        (
            {"idle_clients": list("abcd")},
            {"idle_clients": []},
            ("idle clients", "4: a, b, c, …", "none", "\u22124", "better"),
        ),
        ({"topics": ["a"]}, {"topics": ["b"]}, ("topics", "a", "b", "changed", "")),
    ],
)
def test_a_difference_is_signed_where_it_is_a_number_and_named_where_it_is_not(before, after, line):
    assert lines(before, after) == [line]


def test_a_long_comparison_is_cut_and_says_so():
    found = compare({f"n{i}": 0 for i in range(100)}, {f"n{i}": 1 for i in range(100)})

    assert (len(found.changes), found.more) == (TABLE_ROWS, 100 - TABLE_ROWS)


def test_gini_and_cv_are_left_to_plan_json():
    compared = compare(
        {"count": {"peak": 2.0, "gini": 0.5, "cv": 0.5}}, {"count": {"peak": 1.5, "gini": 0.1, "cv": 0.1}}
    )

    assert [change.label for change in compared.changes] == ["count \u203a PEAK"]
    assert (compared.more, compared.unchanged) == (0, 0)
