"""A rolling restart on the page: what it means in all, its steps, other ways and advice."""

from typing import Any

from tests.report.made_scenario import a_restart, a_rolling_restart, scenario_page
from tests.report.page_reader import table_of, text_of


def _page(*restarts: dict[str, Any]) -> Any:
    return scenario_page(rolling_restarts=list(restarts))


def _table(page: Any, caption: str) -> list[list[str]]:
    return table_of(page, caption)[1:]


def test_the_page_says_what_the_restart_means_and_what_makes_it_gentler() -> None:
    text = text_of(_page(a_rolling_restart()))

    assert "3 steps, 6 rebalances: queues change their owner 66 times in all." in text
    assert "1.5 s on average, and 321 s at worst. 12 messages come twice on average, 480 at worst." in text
    assert "It takes about 240 s, if the clients of a step are down for 60 s" in text
    assert "Clients come back with new ids" in text
    assert "Pause for 107 s or more." in text
    assert "are computed" not in text


def test_each_step_has_its_row() -> None:
    assert _table(_page(a_rolling_restart()), "Its steps") == [
        ["1", "10.0.0.1@1#1, 10.0.0.2@1#1", "12", "11", "1 s, 107 s", "61 s", "4, unknown"]
    ]


def test_the_restart_that_is_asked_for_comes_before_the_other_ways() -> None:
    asked, other = _table(_page(a_rolling_restart()), "The restart of the scenario")

    figures = ["2, 30 s", "SHUTDOWN, new", "3"]
    rest = ["1.5 s, 321 s", "61 s", "12, 480", "45 %", "240 s"]
    assert asked == ["AVG asked for", *figures, "66", *rest]
    assert other == ["CONSISTENT_HASH", *figures, "32", *rest]


def test_an_estimate_says_so_and_what_is_not_computed_says_why() -> None:
    some = a_restart(steps=2_000, computed_steps=50, unread_longest_worst_s=None)
    text = text_of(_page(a_rolling_restart(asked=some), a_rolling_restart(asked=None, undecided="they differ")))

    assert "Only 50 steps of them are computed, evenly spread; sums are estimated." in text
    assert "and unknown at worst" in text
    assert "Not computed: they differ." in text


def test_a_scenario_without_a_rolling_restart_has_no_such_part() -> None:
    assert "Rolling restart" not in text_of(scenario_page())
