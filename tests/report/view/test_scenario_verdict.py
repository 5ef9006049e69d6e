"""The first lines of a what-if: what is still carried, who is too busy, and what waits."""

from typing import Any

import msgspec
import pytest
from msgspec import structs

from rocketmq_capacity.plan_file.before_after import BeforeAfterCount, BeforeAfterRatio
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


def busy(name: str, before: float | None, after: float | None, **rest: Any) -> AffectedGroup:
    return structs.replace(
        affected(name, "UNCHANGED"), peak_utilisation=BeforeAfterRatio(before=before, after=after), **rest
    )


def affected(name: str, verdict: str) -> AffectedGroup:
    both = {"before": None, "after": None}
    zero = dict.fromkeys(("findings_added", "findings_cleared", "findings_undecided", "moved_queues"), 0)
    row = {"consumer_group": name, "verdict": verdict, "utilisation": both, "lag": both, **zero}
    return msgspec.convert(row, AffectedGroup)


def test_all_is_well_in_three_sentences() -> None:
    assert view_of().carried == (
        "Everything that was carried still is.",
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


@pytest.mark.parametrize("number", [0, 5])
def test_messages_that_wait_are_those_that_are_known_of(number: int) -> None:
    known, unknown = (
        structs.replace(affected("g", "UNCHANGED"), waiting_messages=waiting) for waiting in (number, None)
    )
    *_, told = view_of(known, waiting_messages=number).carried
    *_, partly = view_of(known, unknown, waiting_messages=number).carried
    assert not told.endswith("as far as that is known.")
    assert partly == told.removesuffix(".") + ", as far as that is known."


def test_what_cannot_be_judged_is_not_called_carried() -> None:
    first, *_ = view_of(is_carried=None, undecided=["g_a", "g_b"]).carried
    assert first == "Nothing is known to be lost, but 2 groups cannot be judged: g_a, g_b."


def test_the_table_has_the_groups_that_it_concerns_and_the_others_are_folded() -> None:
    rows = [affected("a", "UNCHANGED"), affected("b", "BETTER"), affected("c", "WORSE"), affected("d", "UNDECIDED")]
    view = view_of(*rows)
    assert [line.group for line in view.lines] == ["c", "d", "b"]
    assert [line.group for line in view.unchanged] == ["a"]


def test_who_exceeds_the_bound_is_named_with_both_figures_the_new_ones_first() -> None:
    groups = busy("g_new", 0.6, 0.821), busy("g_old", 3.188, 3.2132)
    _, second, _ = view_of(*groups, over_bound=["g_far", "g_new", "g_old"], newly_over_bound=["g_new"]).carried
    assert second == (
        "The busiest client exceeds 70 % at the peak in 3 groups: g_new (60 % \u2192 82.1 %), g_far, "
        "g_old (318.8 % \u2192 321.3 %), only by these changes g_new."
    )


def test_what_falls_with_its_queues_is_not_called_better() -> None:
    lost = busy("g_a", 0.2, 0.1, queues=BeforeAfterCount(before=12, after=8))
    kept = busy("g_b", 0.2, 0.1, queues=BeforeAfterCount(before=4, after=4))
    assert view_of(lost, kept).carried[-1] == (
        "Gone: 4 queues of 1 group. What falls with them, such as lag, is not better."
    )
    assert len(view_of(kept).carried) == 3


def test_the_picture_has_the_changes_that_matter_and_who_exceeds_the_bound() -> None:
    view = view_of(
        busy("calm", 0.002, 0.003),
        busy("little", 0.6, 0.64),
        busy("crosses", 0.69, 0.71),
        busy("as_before", 3.188, 3.2132),
        busy("more", 0.2, 0.3),
        busy("unknown", None, 0.1),
        busy("lost", 0.1, None),
    )
    assert view.picture is not None
    assert view.picture.rows == (
        ("as_before", "318.8 %", "321.3 %"),
        ("crosses", "69 %", "71 %"),
        ("more", "20 %", "30 %"),
        ("unknown", "unknown", "10 %"),
    )
    assert view_of(busy("calm", 0.003, 0.01)).picture is None
