"""Possible savings: one table by clients, in place of a cause for each group."""

from collections.abc import Mapping
from typing import Any

from rocketmq_capacity.report.limits import SAVINGS
from tests.report.from_rows import page_of
from tests.report.page_reader import Element, by_id, cells_of, elements, read_page, text_of, with_class
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation

CAPACITY = "CONSUMER_CAPACITY"


def _spare(
    number: int, severity: str = "INFO", after: int = 2, rooms: Mapping[str, str] | None = None, **changes: Any
) -> dict[str, list[dict[str, Any]]]:
    """A group of which fewer clients are enough."""
    name = f"g_{number:02}"
    figures = {"clients": 4 + number}, {"clients": after, **(rooms or {})}
    return {
        "group_status": [a_group(name)],
        "finding": [a_finding(CAPACITY, severity=severity, consumer_group=name)],
        "recommendation": [
            a_recommendation(
                "SCALE_CONSUMERS", *figures, id=f"s-{number}", rules=[CAPACITY], consumer_group=name, topic=None
            )
            | changes
        ],
    }


def _page(*groups: dict[str, list[dict[str, Any]]]) -> Element:
    rows = {name: [row for group in groups for row in group[name]] for name in groups[0]}
    return read_page(page_of(rows | {"cluster": [a_cluster()]}))


def _lines(tree: Element) -> list[list[str]]:
    (table,) = with_class(tree, "savings")
    return cells_of(table)[1:]


def test_who_saves_most_is_first_and_has_no_cause_of_its_own() -> None:
    tree = _page(_spare(0), _spare(3), _spare(1))

    assert _lines(tree) == [
        ["g_03", "7", "2", "5", "\u2013"],
        ["g_01", "5", "2", "3", "\u2013"],
        ["g_00", "4", "2", "2", "\u2013"],
    ]
    assert "3 groups could run 10 clients fewer in all." in text_of(tree)
    assert with_class(tree, "cause") == []


def test_where_rooms_make_a_difference_it_says_how_many_run_in_each() -> None:
    (line,) = _lines(_page(_spare(3, after=4, rooms={"rooms": "hz 2, sh 2"})))
    assert line == ["g_03", "7", "4 (hz 2, sh 2)", "3", "\u2013"]


def test_a_saving_that_comes_with_danger_keeps_its_cause_and_leads_there() -> None:
    tree = _page(_spare(0, "WARNING"))

    assert len(with_class(tree, "cause")) == 1
    assert [line[:4] for line in _lines(tree)] == [["g_00", "4", "2", "2"]]
    (table,) = with_class(tree, "savings")
    (target,) = [link.get("href") for link in elements(table, "a") if link.get("href").startswith("#cause-")]
    assert by_id(tree, target.removeprefix("#")).get("class") == "body"


def test_more_clients_are_no_saving() -> None:
    tree = _page(_spare(0, after=9))

    assert with_class(tree, "savings") == []
    assert len(with_class(tree, "cause")) == 1


def test_what_the_table_leaves_out_is_counted() -> None:
    tree = _page(*(_spare(number) for number in range(SAVINGS + 5)))

    assert len(_lines(tree)) == SAVINGS
    assert "5 more groups are in plan.json." in text_of(tree)
