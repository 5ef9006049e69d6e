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
        ("PEAK of queues", "1.5", "1", "\u22120.5", "better"),
    ]
    assert found.unchanged == 1


def test_entries_of_a_list_are_compared_by_their_names():
    before = {"groups": [{"consumer_group": "g_a_b", "idle": 2}, {"consumer_group": "g_c", "idle": 0}]}
    after = {"groups": [{"consumer_group": "g_c", "idle": 1}, {"consumer_group": "g_a_b", "idle": 0}]}

    assert lines(before, after) == [
        ("g_a_b: idle", "2 clients", "0 clients", "\u22122", "better"),
        ("g_c: idle", "0 clients", "1 client", "+1", "worse"),
    ]


def test_an_object_that_is_unknown_on_a_side_is_compared_by_its_figures():
    assert lines({"idle": 0, "count": None}, {"idle": 0, "count": {"peak": 1.5, "excess": 1.0}}) == [
        ("PEAK of queues", "unknown", "1.5", "changed", ""),
        ("EXCESS of queues", "unknown", "1", "changed", ""),
    ]
    assert lines({"count": {"peak": 1.5}}, {"count": None}) == [("PEAK of queues", "1.5", "unknown", "changed", "")]


def test_names_of_the_cluster_that_are_keys_stay_as_they_are():
    assert lines({"groups": {"g_msgs_per_s": {"idle": 1}}}, {"groups": {"g_msgs_per_s": {"idle": 2}}}) == [
        ("g_msgs_per_s: idle", "1 client", "2 clients", "+1", "worse")
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

    assert (len(found.changes), found.changes.more) == (TABLE_ROWS, 100 - TABLE_ROWS)


def test_gini_cv_and_floor_are_left_to_plan_json():
    compared = compare(
        {"count": {"peak": 2.0, "gini": 0.5, "cv": 0.5, "floor": 1.2}},
        {"count": {"peak": 1.5, "gini": 0.1, "cv": 0.1, "floor": 1.0}},
    )

    assert [change.label for change in compared.changes] == ["PEAK of queues"]
    assert (compared.changes.more, compared.unchanged) == (0, 0)


def test_both_sides_of_a_number_are_bars_on_one_scale_and_those_of_a_ratio_on_that_of_100_percent():
    before = {"idle": 4, "busy_ratio": 0.8, "peak_ratio": 3.0, "strategy": "AVG", "lag": None, "count": {"peak": 3.0}}
    after = {"idle": 1, "busy_ratio": 0.2, "peak_ratio": 0.5, "strategy": "POP", "lag": 3, "count": {"peak": 1.5}}

    bars = {change.label: change.bars for change in compare(before, after).changes}

    assert bars == {
        "idle": (1.0, 0.25),
        "busy": (0.8, 0.2),
        "peak": (1.0, 0.5),
        "strategy": None,
        "lag": None,
        "PEAK of queues": (1.0, 0.5),
    }


def test_a_name_stands_without_the_field_that_holds_it():
    queues = {"queues": [{"broker_name": "broker-a", "read_queue_nums": 2}], "strategies": {"AVG": 1}}
    more = {"queues": [{"broker_name": "broker-a", "read_queue_nums": 3}], "strategies": {"AVG": 2}}

    assert [line[0] for line in lines(queues, more)] == ["broker-a: read queue nums", "strategies: AVG"]
