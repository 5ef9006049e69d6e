"""Who owns which queue of a group, as a picture and a table."""

from typing import Any

import pytest

from rocketmq_capacity.report.limits import HEAT_QUEUES
from tests.report.from_rows import page_of
from tests.report.page_reader import Element, read_page, table_of, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_load, a_strategy

CAPTION = "Who owns which queue of g_pay"


def _rows(owners: dict[int, tuple[str, ...]], lags: dict[int, int | None], queues: int = 2) -> Any:
    place = {"topic": "pay", "broker_name": "broker-a"}
    return {
        "cluster": [a_cluster()],
        "group_status": [a_group("g_pay")],
        "finding": [a_finding(consumer_group="g_pay")],
        "strategy_load": [a_strategy()],
        "client_load": [a_load("g_pay", "AVG", client, queues) for client in ("c1", "c2")],
        "allocation": [
            {**place, "strategy": "AVG", "consumer_group": "g_pay", "queue_id": queue, "client_id": client}
            for queue, clients in owners.items()
            for client in clients
        ],
        "group_offset": [
            {**place, "consumer_group": "g_pay", "kind": "BUSINESS", "queue_id": queue, "lag": lag}
            for queue, lag in lags.items()
        ],
    }


def _cells(tree: Element, kind: str) -> list[tuple[int, int, float]]:
    """Column, line and shade of each cell."""
    (picture,) = with_class(tree, "heat")
    return [
        ((int(one.get("x")) - 211) // 14, (int(one.get("y")) - 19) // 14, float(one.get("fill-opacity")))
        for one in picture.iter()
        if one.get("class") == kind
    ]


def test_each_queue_is_in_its_column_beside_its_owner_and_stronger_the_more_waits() -> None:
    tree = read_page(page_of(_rows({0: ("c1",), 1: ("c1",), 2: ("c2",)}, {0: 0, 1: 100, 2: 25})))

    assert _cells(tree, "cell") == [(0, 0, 0.25), (1, 0, 1.0), (2, 1, 0.62)]
    assert table_of(tree, CAPTION)[1:] == [
        ["c1", "2", "100", "pay broker-a:0,1"],
        ["c2", "1", "25", "pay broker-a:2"],
    ]
    assert "Topics: 1 pay" in text_of(tree)


def test_what_a_reader_would_not_see_in_the_name_of_a_topic_is_shown() -> None:
    rows = _rows({0: ("c1",)}, {0: 1})
    for row in (*rows["allocation"], *rows["group_offset"]):
        row["topic"] = "pay\u202e"
    rows["group_status"] = [a_group("g_pay", topics=["pay\u202e"])]
    page = page_of(rows)

    assert "Topics: 1 pay[U+202E]" in text_of(read_page(page))
    assert "\u202e" not in page


def test_a_queue_without_an_owner_is_in_a_line_of_its_own_and_an_idle_client_has_an_empty_one() -> None:
    tree = read_page(page_of(_rows({0: ("c1",)}, {0: None, 1: 7})))

    assert _cells(tree, "unread") == [(1, 2, 1.0)]
    assert table_of(tree, CAPTION)[1:] == [
        ["c1", "1", "unknown", "pay broker-a:0"],
        ["c2", "0", "0", "none"],
        ["no client", "1", "7", "pay broker-a:1"],
    ]


def test_a_queue_that_nobody_has_ever_read_has_no_offset_and_is_there_too() -> None:
    never = {"topic": "pay", "broker_name": "broker-b", "queue_id": 0}
    rows = _rows({0: ("c1",)}, {0: 1}) | {"strategy_load": [a_strategy(orphan_queues=[never])]}
    tree = read_page(page_of(rows))

    assert [cell[:2] for cell in _cells(tree, "unread")] == [(1, 2)]
    assert table_of(tree, CAPTION)[-1] == ["no client", "1", "unknown", "pay broker-b:0"]


def test_a_queue_that_two_clients_read_has_a_cell_beside_each() -> None:
    tree = read_page(page_of(_rows({0: ("c1", "c2")}, {0: 1})))

    assert [cell[:2] for cell in _cells(tree, "cell")] == [(0, 0), (0, 1)]


@pytest.mark.parametrize(
    "rows",
    [
        _rows({}, {0: 1}),
        _rows(dict.fromkeys(range(HEAT_QUEUES + 1), ("c1",)), {}, queues=HEAT_QUEUES),
        _rows({0: ("c1",)}, {0: 1}) | {"strategy_load": [a_strategy("POP")]},
    ],
    ids=["no owner is known", "too many queues", "clients pop"],
)
def test_there_is_no_picture_where_it_would_say_nothing_or_be_too_large(rows: Any) -> None:
    assert with_class(read_page(page_of(rows)), "heat") == []
