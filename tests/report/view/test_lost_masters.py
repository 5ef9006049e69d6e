"""A lost master on the page: who is served again when, what waits, what may be lost, and how clients come back."""

from typing import Any

from tests.report.made_scenario import scenario_page
from tests.report.page_reader import table_of, text_of


def served(use: str, is_served: bool | None, killed_s: float | None = None, silent_s: float | None = None) -> Any:
    times = {"killed_s": killed_s, "silent_s": silent_s, "back_s": 36.0}
    return {"use": use, "is_served": is_served, "meaning": f"Meaning of {use}.", **times}


def waits(group: str, messages: int | None, is_served: bool | None, killed_s: float | None = None) -> Any:
    times = {"killed_s": killed_s, "silent_s": None if killed_s is None else 164.0}
    return {
        "consumer_group": group, "use": "PULL", "queues": 4, "messages": messages, "is_served": is_served, **times
    }  # fmt: skip


def risk(lost_with: str, lost_bytes: float | None, lost_messages: float | None) -> Any:
    return {
        "lost_with": lost_with,
        "lost_bytes": lost_bytes,
        "lost_messages": lost_messages,
        "why": f"Why of {lost_with}.",
    }


def a_lost_master(**changes: Any) -> dict[str, Any]:
    return {
        "change": "lose_master",
        "broker_name": "broker-b",
        "replicas": 1,
        "has_new_master": False,
        "readable_queues": 8,
        "writable_queues": 8,
        "is_writable": False,
        "can_read": {"pull": True, "pull_in_order": False, "pop": None},
        "clients": [
            served("WRITE", False),
            served("PULL", True, 36.0, 164.0),
            served("PULL_IN_ORDER", False),
            served("POP", None),
        ],
        "waiting": [waits("g_new", None, True, 36.0), waits("g_any", 1_500, True, 36.0), waits("g_order", 20, False)],
        "at_risk": [risk("PROCESS", 0.0, 0.0), risk("POWER", 36_384.0, 37.0), risk("DISK", None, None)],
        "slave_behind_bytes": None,
        "back": ["It registers when it is up."],
        "timers": {"route_missed_silent_s": 125.0},
    } | changes


def _page(**changes: Any) -> Any:
    return scenario_page(brokers=[a_lost_master(**changes)])


def _table(page: Any, caption: str) -> list[list[str]]:
    return table_of(page, caption)[2:]


def test_each_kind_of_clients_has_its_seconds() -> None:
    never = "not before it is back"
    assert _table(_page(), "Until when clients are not served at its queues") == [
        ["send messages", never, never, "36 s", "Meaning of WRITE."],
        ["pull, and consume in any order", "36 s", "164 s", "36 s", "Meaning of PULL."],
        ["pull, and consume in order", never, never, "36 s", "Meaning of PULL_IN_ORDER."],
        ["pop", "UNDECIDED", "UNDECIDED", "36 s", "Meaning of POP."],
    ]


def test_each_group_has_what_waits_for_it() -> None:
    page = _page()
    never = "not before it is back"
    assert _table(page, "What waits there for each group") == [
        ["g_new", "pull", "4", "UNDECIDED", "36 s", "164 s"],
        ["g_any", "pull", "4", "1,500", "36 s", "164 s"],
        ["g_order", "pull", "4", "20", never, never],
    ]
    assert (
        "On its queues 1,520 messages wait to be read, summed over the groups. 20 of them wait until the master is"
        " back. For 1 group that is UNDECIDED." in text_of(page)
    )


def test_what_may_be_lost_and_how_clients_come_back() -> None:
    page = _page()
    rows = _table(page, "Messages that producers were told are stored")
    assert rows[:1] == [["Its machine fails, its disk survives", "37", "36,384", "Why of POWER."]]
    assert rows[1] == ["Its disk is lost for good", "UNDECIDED", "UNDECIDED", "Why of DISK."]
    assert "When it is back: It registers when it is up." in " ".join(text_of(page).split())


def test_a_plan_of_an_earlier_version_says_who_can_read_in_a_sentence_each() -> None:
    earlier = a_lost_master()
    for name in ("clients", "waiting", "at_risk", "slave_behind_bytes", "back", "timers"):
        del earlier[name]
    text = text_of(scenario_page(brokers=[earlier]))

    assert "broker-b loses its master; 1 slave left" in text
    assert "clients that pull: can read it" in text
    assert "clients that pop: may read it: its slaves do not say" in text


def test_topics_that_the_slave_has_not_copied_stand_beside_their_readers() -> None:
    lacks = waits("g_any", 20, False) | {"missing_topics": ["pay"]}
    page = _page(waiting=[lacks])

    assert text_of(page).count("not before it is back: the slave has not copied pay") == 2
