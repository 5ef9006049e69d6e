"""What failures would do to clients, on the page: one table for all groups, and one for each group in detail."""

from typing import Any

import pytest

from tests.report.from_rows import beside_of, page_of
from tests.report.page_reader import read_page, table_of, text_of
from tests.report.row_builders import a_cluster, a_finding, a_group, a_group_failure, a_strategy


def _rows(*groups: dict[str, Any]) -> Any:
    names = sorted({row["consumer_group"] for row in groups} | {"g_pay"})
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group(name) for name in names],
        "finding": [a_finding(consumer_group=name) for name in names],
        "group_failure": list(groups),
    }


def _lines(rows: Any, caption: str) -> list[list[str]]:
    return table_of(read_page(page_of(rows)), caption)[1:]


def test_what_each_group_loses_for_itself_is_one_line() -> None:
    rows = _rows(
        a_group_failure("g_pay", "BUSIEST_CLIENT", "c1", verdict="WORSE", busy_today=0.4),
        a_group_failure("g_log", "BUSIEST_CLIENT", "c9", moved_today=None, busy_today=0.2),
        a_group_failure("g_pay", "ONE_MORE", None, busy_today=0.6),
        a_group_failure("g_pay", "ONE_FEWER", "c1", busy_ratio=None, verdict="UNDECIDED"),
    )

    assert _lines(rows, "If clients come or go") == [
        ["The busiest client of each group is lost", "3 (1 unknown)", "g_log 20 % \u2192 50 %", "1: g_pay", "180 s"],
        ["Each group loses its last client by id", "3", "unknown", "none (1 unknown)", "180 s"],
        ["Each group gets one more client", "3", "no busier", "none", "180 s"],
    ]


def test_a_group_in_detail_has_its_own_table() -> None:
    rows = _rows(
        a_group_failure("g_pay", "ONE_MORE", None, moved_today=1, read_again_s=20.0),
        a_group_failure("g_pay", "BROKER", "broker-a", busy_lower=0.4, busy_upper=0.6),
        a_group_failure("g_pay", "BROKER", "broker-b", verdict="WORSE", reasons=["CAPACITY", "LOSS"]),
        a_group_failure("g_pay", "BROKER", "broker-c", verdict=None),
    )

    assert _lines(rows, "What failures would do to g_pay") == [
        ["Broker lost broker-a", "4", "3", "40 % to 60 %", "Unchanged", "180 s"],
        ["Broker lost broker-b", "4", "3", "50 %", "Worse: too busy, messages wait", "180 s"],
        ["Broker lost broker-c", "4", "3", "50 %", "unknown", "180 s"],
        ["One more client", "\u2013", "1", "50 %", "Unchanged", "20 s"],
    ]


def test_a_run_without_the_tables_has_neither() -> None:
    rows = _rows()

    assert not beside_of(rows).losses
    assert "If something fails" not in text_of(read_page(page_of(rows)))


@pytest.mark.parametrize(("moved", "shown"), [((1, None, 5), ["1", "\u2013", "5"]), ((None,) * 3, ["\u2013"] * 3)])
def test_a_strategy_shows_the_queues_that_move_and_leaves_whether_it_is_pareto_best_to_plan_json(
    moved: Any, shown: list[str]
) -> None:
    fewer, more, lost = moved
    churn = {"moved_one_fewer": fewer, "moved_one_more": more, "moved_broker_lost": lost, "is_pareto_best": True}
    rows = _rows() | {"strategy_load": [a_strategy(**churn)]}

    (telling,) = _lines(rows, "What the strategies that matter mean for g_pay")
    matrix = _lines(rows, "What each strategy would mean for g_pay")

    assert telling[0] == "AVG in use"
    assert telling[4:7] == matrix[-1][4:7] == shown
