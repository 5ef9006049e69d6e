"""What the page says to divide a group's queues today: the clients' strategy, or POP, which has no bars."""

import msgspec
import pytest

from rocketmq_capacity.plan_file.in_use import in_use
from rocketmq_capacity.report.difference import StrategyInPlan, difference
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import HTML, cells_of, elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_load, a_strategy, metrics

CLIENTS = ["10.0.0.1@1", "10.0.0.2@1", "10.0.0.3@1", "10.0.0.4@1"]
UNEVEN = [5, 1, 1, 1]
UNKNOWN = "\u2013"


def rows_of(group, *strategies):
    return {
        "cluster": [a_cluster()],
        "group_status": [group],
        "finding": [a_finding()],
        "strategy_load": [strategy for strategy, _ in strategies],
        "client_load": [
            a_load("g_pay", strategy["strategy"], client, queues)
            for strategy, loads in strategies
            for client, queues in zip(CLIENTS, loads, strict=True)
        ],
    }


def a_popping_group(**changes):
    """Its clients report AVG, which would leave the first of them with most queues; its brokers hand out messages."""
    return rows_of(
        a_group(**{"message_request_mode": "POP", "max_useful_clients": None} | changes),
        (a_strategy(strategy="AVG", count=metrics(UNEVEN, 1.0)), UNEVEN),
        (a_strategy(strategy="POP", count=metrics([8, 8, 8, 8], None)), [8, 8, 8, 8]),
    )


@pytest.mark.parametrize(
    ("mode", "pop_applies", "strategy"),
    [
        ("PULL", True, "AVG"),
        ("POP", True, "POP"),
        ("POP", False, "AVG"),
        ("MIXED", True, None),
        ("MIXED", False, "AVG"),
    ],
)
def test_what_divides_the_queues_is_the_request_modes_matter_first(mode, pop_applies, strategy):
    (group,) = plan_of(a_popping_group(message_request_mode=mode)).groups
    strategies = tuple(
        msgspec.structs.replace(one, applicable=pop_applies) if one.strategy == "POP" else one
        for one in group.strategies
    )

    found = in_use(msgspec.structs.replace(group, strategies=strategies))

    assert (found and found.strategy) == strategy


@pytest.mark.parametrize("mode", ["POP", "MIXED"])
def test_no_bar_counts_a_popped_queue_for_each_of_its_clients(mode):
    tree = read_page(page_of(a_popping_group(message_request_mode=mode)))

    assert elements(tree, "figure") == []


def test_a_group_that_pops_is_shown_under_pop_with_neither_floor_nor_excess():
    tree = read_page(page_of(a_popping_group()))
    (in_table,) = [row for row in elements(tree, "tr") if (row.get("id") or "").startswith("line-")]
    (current,) = with_class(with_class(tree, "matrix")[0], "current")

    assert [text_of(cell) for cell in elements(in_table, "td")][-2:] == ["POP", f"1.00 / {UNKNOWN}"]
    assert text_of(current.find(f"{HTML}th")).startswith("POP")
    metrics_shown = [text_of(cell) for cell in elements(current, "td")][6:]
    assert metrics_shown == ["1.00", UNKNOWN, UNKNOWN]
    assert "POP (its request mode)" in text_of(tree)


def test_pop_is_never_drawn_beside_a_strategy_that_divides():
    rows = a_popping_group(message_request_mode="PULL")

    tree = read_page(page_of(rows))

    text = text_of(tree)
    assert with_class(tree, "diamond") == with_class(tree, "best") == []
    assert "AVG (queues)" in text
    assert "POP (queues)" not in text


@pytest.mark.parametrize(("peak", "is_drawn"), [([3, 1, 2, 2], True), ([1, 1, 1, 1], False)])
def test_the_best_other_strategy_is_never_better_than_the_best_possible(peak, is_drawn):
    # Nine queues: no division has a PEAK below 3 / 2.25. One that gives out four of them, one each, has PEAK 1.
    floor = 3 / 2.25
    today = a_strategy(count=metrics([6, 1, 1, 1], floor), orphan_queues=[a_queue()])
    other = a_strategy(strategy="MACHINE_ROOM", count=metrics(peak, floor), orphan_queues=[a_queue()])
    tree = read_page(page_of(rows_of(a_group(), (today, [6, 1, 1, 1]), (other, peak))))
    overview = next(box for box in elements(tree, "figure") if "more evenly" in text_of(box))

    cells = cells_of(overview)[1]
    assert cells == ["g_pay", "2.67", "1.50" if is_drawn else UNKNOWN, "1.33"]
    assert bool(with_class(tree, "diamond")) == is_drawn


def test_where_no_other_strategy_is_better_the_page_says_that_todays_is_the_best():
    today = a_strategy(count=metrics([6, 1, 1, 1], 1.5))
    other = a_strategy(strategy="AVG_BY_CIRCLE", count=metrics([7, 1, 1, 0], 1.5))
    tree = read_page(page_of(rows_of(a_group(), (today, [6, 1, 1, 1]), (other, [7, 1, 1, 0]))))

    overview = next(box for box in elements(tree, "figure") if "more evenly" in text_of(box))
    assert cells_of(overview)[1] == ["g_pay", "2.67", "today's is the best", "1.50"]
    assert "Today's strategy is the best: no other is as safe and at least 5 % more even." in text_of(tree)


def test_a_strategy_that_is_only_safer_is_no_more_even_one():
    today = a_strategy(count=metrics([3, 2, 2, 2], 1.2), orphan_queues=[a_queue()])
    safer = a_strategy(strategy="AVG_BY_CIRCLE", count=metrics([6, 1, 1, 1], 1.2))
    tree = read_page(page_of(rows_of(a_group(), (today, [3, 2, 2, 2]), (safer, [6, 1, 1, 1]))))

    assert with_class(tree, "diamond") == []
    assert "It is safer, not more even: it leaves fewer queues unread or read twice." in text_of(tree)


def a_queue():
    return {"topic": "pay", "broker_name": "broker-a", "queue_id": 0}


# A strategy that throws for some topics

MOVES = ["\u2013"] * 3  # not known
REASON = "Machine room is null for broker bj-x (throws for old)"


def with_nearby(count):
    nearby = a_strategy(strategy="NEARBY", reason=REASON, count=count, orphan_queues=[a_queue()])
    return rows_of(a_group(), (a_strategy(count=metrics(UNEVEN, 1.0)), UNEVEN), (nearby, [2, 2, 2, 2]))


def row_of(tree, strategy):
    rows = [row for matrix in with_class(tree, "matrix") for row in cells_of(matrix)]
    return next(row for row in rows if row[0].startswith(strategy))


def test_a_strategy_that_throws_for_a_topic_shows_its_reason_and_no_figures():
    tree = read_page(page_of(with_nearby(None)))

    assert row_of(tree, "NEARBY") == ["NEARBY", f"Not known: {REASON}"]
    assert row_of(tree, "AVG")[:8] == ["AVG in use", "0", "0", "0", *MOVES, "2.50"]


def test_one_that_throws_for_a_retry_topic_alone_shows_both():
    tree = read_page(page_of(with_nearby(metrics([2, 2, 2, 2], 1.0))))

    assert row_of(tree, "NEARBY")[:8] == [f"NEARBY {REASON}", "0", "1", "0", *MOVES, "1.00"]


@pytest.mark.parametrize("count", [None, metrics([2, 2, 2, 2], 1.0)])
def test_neither_of_them_is_an_alternative(count):
    rows = with_nearby(count)
    rows["strategy_load"][1]["orphan_queues"] = []

    tree = read_page(page_of(rows))

    assert with_class(tree, "diamond") == with_class(tree, "best") == []


def test_beside_a_strategy_whose_owners_are_not_known_nothing_is_drawn():
    rows = with_nearby(None)
    rows["group_status"][0]["current_strategy"] = "NEARBY"

    tree = read_page(page_of(rows))

    assert elements(tree, "figure") == []
    assert with_class(tree, "best") == []


def test_idle_clients_that_are_not_known_are_no_0_in_a_comparison():
    before, after = plan_of(with_nearby(metrics([2, 2, 2, 2], 1.0))), plan_of(with_nearby(None))

    (nearby,) = [change for change in difference(before, after).loads if change.strategy == "NEARBY"]

    assert nearby.before == StrategyInPlan(idle=0, orphans=1, count_peak=1.0, traffic_peak=None)
    assert nearby.after == StrategyInPlan(idle=None, orphans=None, count_peak=None, traffic_peak=None)
