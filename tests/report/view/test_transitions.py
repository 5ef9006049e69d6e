"""What happens while changes spread, on the page: a picture and a table of a what-if, a sentence of an answer."""

from typing import Any

from tests.report.made_scenario import a_transition, scenario_page
from tests.report.page_reader import table_of, text_of


def _page(*transitions: dict[str, Any]) -> Any:
    return scenario_page(transitions=list(transitions))


def test_the_group_that_waits_longest_comes_first_with_all_its_figures() -> None:
    page = _page(a_transition("a", unread_longest_worst_s=23.0), a_transition("b"))
    _, *found = table_of(page, "while the changes spread")

    assert [row[0] for row in found] == ["b", "a"]
    assert found[0][1:] == ["6", "0", "0", "12.5 s, 153.5 s", "23 s", "60 s", "100, unknown", "0", "4", "2"]


def test_the_picture_says_the_same_and_names_the_timers() -> None:
    text = text_of(_page(a_transition("g_pay")))

    assert "unread 12.5 s, at most 153.5 s" in text
    assert "read twice at most 23 s" in text
    assert "waits for a lock at most 60 s" in text
    assert "Computed from these timers" in text
    assert "20 s" in text


def test_where_nothing_changes_hands_there_is_neither() -> None:
    assert "While the changes spread" not in text_of(_page())
