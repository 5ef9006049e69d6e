"""The first lines of a what-if: what is still carried, who is too busy, and what waits."""

from typing import Any

import msgspec

from rocketmq_capacity.plan_file.scenario import AffectedGroup, Carried, ScenarioResult, ScenarioTotals
from rocketmq_capacity.report.view.scenario_verdict import VerdictView, verdict_view

NOTHING: dict[str, Any] = {
    "is_carried": True,
    "bound": 0.7,
    "over_bound": [],
    "newly_over_bound": [],
    "falling_behind": [],
    "without_clients": [],
    "unreadable_topics": [],
    "unwritable_topics": [],
    "unread_queues": 0,
    "waiting_messages": 0,
    "undecided": [],
}


def view_of(*groups: AffectedGroup, **found: Any) -> VerdictView:
    both = {"before": None, "after": None}
    totals = dict.fromkeys(("findings_added", "findings_cleared", "findings_undecided", "findings_still"), 0)
    view = verdict_view(
        ScenarioResult(
            name="what if",
            changes=(),
            verdict="UNCHANGED",
            carried=msgspec.convert(NOTHING | found, Carried),
            totals=msgspec.convert({**totals, "moved_queues": 3, "utilisation": both, "lag": both}, ScenarioTotals),
            affected_groups=groups,
            groups=(),
            findings_added=(),
            findings_cleared=(),
        )
    )
    assert view is not None
    return view


def affected(name: str, verdict: str) -> AffectedGroup:
    both = {"before": None, "after": None}
    zero = dict.fromkeys(("findings_added", "findings_cleared", "findings_undecided", "moved_queues"), 0)
    row = {"consumer_group": name, "verdict": verdict, "utilisation": both, "lag": both, **zero}
    return msgspec.convert(row, AffectedGroup)


def test_all_is_well_in_three_sentences() -> None:
    assert view_of().carried == (
        "Everything is still carried.",
        "No group's busiest client exceeds 70 % at the peak, as far as that is known.",
        "No message waits on queues that are gone or lose all readers.",
    )


def test_what_is_lost_is_named_with_who_loses_it() -> None:
    first, second, third = view_of(
        is_carried=False,
        unreadable_topics=["log", "pay"],
        unwritable_topics=["cart", "pay"],
        without_clients=["g_a"],
        falling_behind=["g_b"],
        unread_queues=2,
        over_bound=["g_b", "g_was"],
        waiting_messages=1,
    ).carried
    assert first == (
        "Not everything is still carried: nobody can read or write pay; nobody can read log; nobody can write cart; "
        "no client is left of g_a; clients are busy all of their time in g_b; 2 more queues have no reader."
    )
    assert second == "The busiest client exceeds 70 % at the peak in 2 groups: g_b, g_was, all of them as before."
    assert third == "1 message waits on queues that are gone or lose all readers."


def test_what_cannot_be_judged_is_not_called_carried() -> None:
    first, *_ = view_of(is_carried=None, undecided=["g_a", "g_b"]).carried
    assert first == "Nothing is known to be lost, but 2 groups cannot be judged: g_a, g_b."


def test_the_table_has_the_groups_that_it_concerns_and_the_others_are_folded() -> None:
    rows = [affected("a", "UNCHANGED"), affected("b", "BETTER"), affected("c", "WORSE"), affected("d", "UNDECIDED")]
    view = view_of(*rows)
    assert [line.group for line in view.lines] == ["c", "d", "b"]
    assert [line.group for line in view.unchanged] == ["a"]
