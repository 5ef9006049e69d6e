"""Two runs open what a rule that flaps finds, and two close it: rows of runs, worked by hand."""

import pytest

from rocketmq_capacity.assessment.finding_states import seen_of, states_of, stored_states
from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.tables.assess.findings import FindingSince, FoundPlace

FLAPS, STANDS = "TRAFFIC_SKEW", "IDLE_CONSUMERS"
States = dict[FoundPlace, FindingSince]
State = tuple[str, str | None, str | None]
"""The state, since when the finding exists, and since when it is open."""


def replayed(found: str, rule: str, *, has_first_run: bool = True) -> list[State | None]:
    """After each run: the finding's state, since when, and when it opened; None where the run has no state of it.

    Each character is a run, its place in the row is its moment: ``-`` does not find it, ``W`` and ``C`` find it as
    WARNING and CRITICAL. ``i`` and ``u`` do not find it by incomplete snapshots: 97 % and 50 %. A run before them, the
    first of the cluster, has found nothing.
    """
    place: FoundPlace = (rule, "g_pay", None, None)
    before: States = stored_states({}, [], "first") if has_first_run else {}
    states: list[State | None] = []
    for number, one in enumerate(found):
        severities = {place: {"W": "WARNING", "C": "CRITICAL"}[one]} if one in "WC" else {}
        seen = seen_of({"i": 0.97, "u": 0.5}.get(one, 1.0), Policy())
        is_first = not has_first_run and number == 0
        stored = [] if is_first else states_of(severities, before, str(number), seen)
        before = stored_states(severities, stored, str(number))
        state = before.get(place)
        states.append(None if state is None else (state.state or "", state.since, state.open_since))
    return states


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("W-W-", [("PENDING", "0", None), None, ("PENDING", "2", None), None]),
        ("WWW", [("PENDING", "0", None), ("OPEN", "0", "1"), ("OPEN", "0", "1")]),
        ("WW-W", [("PENDING", "0", None), ("OPEN", "0", "1"), ("CLOSING", "0", "1"), ("OPEN", "0", "1")]),
        (
            "WW--W",
            [("PENDING", "0", None), ("OPEN", "0", "1"), ("CLOSING", "0", "1"), None, ("PENDING", "4", None)],
        ),
        (
            "WW-W--",
            [
                ("PENDING", "0", None),
                ("OPEN", "0", "1"),
                ("CLOSING", "0", "1"),
                ("OPEN", "0", "1"),
                ("CLOSING", "0", "1"),
                None,
            ],
        ),
        ("C-", [("OPEN", "0", "0"), ("CLOSING", "0", "0")]),
        ("WC", [("PENDING", "0", None), ("OPEN", "0", "1")]),
    ],
)
def test_what_a_rule_that_flaps_finds_takes_two_runs_to_open_and_two_to_close(
    found: str, expected: list[State | None]
) -> None:
    assert replayed(found, FLAPS) == expected


def test_what_another_rule_finds_opens_and_closes_at_once() -> None:
    assert replayed("W-WW", STANDS) == [("OPEN", "0", "0"), None, ("OPEN", "2", "2"), ("OPEN", "2", "2")]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        ("WuW", [("OPEN", "0", "0"), ("CLOSING", "0", "0"), ("OPEN", "0", "0")]),
        ("Wuu-", [("OPEN", "0", "0"), ("CLOSING", "0", "0"), ("CLOSING", "0", "0"), None]),
        ("Wii", [("OPEN", "0", "0"), ("CLOSING", "0", "0"), None]),
        ("Wi-", [("OPEN", "0", "0"), ("CLOSING", "0", "0"), None]),
    ],
)
@pytest.mark.parametrize("rule", [STANDS, "LAG_STATE"])
def test_what_an_incomplete_snapshot_does_not_show_is_not_gone_yet(
    found: str, expected: list[State | None], rule: str
) -> None:
    assert replayed(found, rule) == expected


def test_what_is_found_of_a_snapshot_is_gone_with_it() -> None:
    assert replayed("Wu", "SUSPECT_SNAPSHOT") == [("OPEN", "0", "0"), None]


def test_all_that_the_first_run_of_a_cluster_finds_is_open() -> None:
    assert replayed("WW-", FLAPS, has_first_run=False) == [
        ("OPEN", "0", "0"),
        ("OPEN", "0", "0"),
        ("CLOSING", "0", "0"),
    ]


def test_states_of_an_earlier_version_are_open_since_the_finding_exists() -> None:
    place: FoundPlace = (FLAPS, "g_pay", None, None)
    old = FindingSince(rule=FLAPS, consumer_group="g_pay", since="0", least_severity="INFO")
    before = stored_states({place: "WARNING"}, [old], "5")

    assert (before[place].state, before[place].open_since, before[place].least_severity) == ("OPEN", "0", "INFO")
    (closing,) = states_of({}, before, "6")
    assert (closing.state, closing.since, closing.least_severity) == ("CLOSING", "0", "INFO")


def test_rules_that_flap_are_those_of_one_measurement() -> None:
    assert {rule.name for rule in rules().values() if rule.flaps} == {
        "ALLOCATION_SKEW",
        "CROSS_TOPIC_SKEW",
        "TRAFFIC_SKEW",
        "LAG_SKEW",
        "HOT_QUEUE",
        "CLIENT_OUTLIER",
        "RETRY_PRESSURE",
        "MEMBERSHIP_DISAGREEMENT",
    }
    assert not any(rule.flaps and rule.names_example for rule in rules().values())  # its state would change its place
