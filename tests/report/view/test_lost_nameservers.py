"""A lost name server on the page: who has which route until when, what goes on, what stops, and what to do."""

from typing import Any

from tests.report.made_scenario import scenario_page
from tests.report.page_reader import table_of, text_of

LISTS = {"topics": 7, "topic_names": list("abcdef"), "queues": 56, "groups": 1, "group_names": ["g_pay"]}


def a_loss(**changes: Any) -> dict[str, Any]:
    span = {"clients": "ASK_IT", "from_s": 0.0, "until_s": 90.0, "route": "AS_BEFORE", "meaning": "It still answers."}
    return {
        "nameserver_addr": "10.0.9.2:9876",
        "loss": "CUT_OFF",
        "nameservers_left": ["10.0.9.1:9876"],
        "lost_brokers": [],
        "expires_first_s": 90.0,
        "expires_last_s": 125.0,
        "back_s": 66.0,
        "routes": [span, span | {"clients": "NEW", "from_s": 125.0, "until_s": None, "route": "NONE"}],
        "goes_on": ["Clients send."],
        "stops": ["Nobody notices changes."],
        "advice": ["Mend it."],
        "partial_lists": LISTS,
        "timers": {"pollNameServerInterval_s": 30.0},
    } | changes


def _rows(loss: dict[str, Any]) -> list[list[str]]:
    return table_of(_page(loss), "Which route")[1:]


def _page(*losses: dict[str, Any]) -> Any:
    return scenario_page(lost_nameservers=list(losses))


def test_the_table_says_who_has_which_route_until_when() -> None:
    assert _rows(a_loss()) == [
        ["ask it", "0 s to 90 s", "as before the loss", "It still answers."],
        ["start after the loss", "125 s until it is back", "none", "It still answers."],
    ]
    assert _rows(a_loss(loss="KILL"))[0][0] == "ask it, and know others"


def test_the_page_says_what_goes_on_what_stops_and_what_to_do() -> None:
    text = " ".join(text_of(_page(a_loss())).split())

    assert "Name server 10.0.9.2:9876 is cut off from the brokers Left: 10.0.9.1:9876." in text
    assert "What goes on: Clients send. What stops: Nobody notices changes. What to do: Mend it." in text
    assert "When it is back, clients that ask it have all routes after at most 66 s." in text


def test_the_page_names_topics_of_which_clients_may_keep_different_lists() -> None:
    text = " ".join(text_of(_page(a_loss())).split())

    assert "any of 56 queues of 7 topics (a, b, c, d, e and 2 more). Groups that read them: g_pay." in text
    none = LISTS | {"topics": 0, "topic_names": [], "queues": 0, "groups": 0, "group_names": []}
    assert "No topic has queues on several brokers" in text_of(_page(a_loss(partial_lists=none)))
    assert "keep different" not in text_of(_page(a_loss(loss="KILL", partial_lists=None)))


def test_the_first_line_says_what_the_verdict_leaves_out() -> None:
    text = " ".join(text_of(_page(a_loss())).split())

    assert "It does not count what clients miss without the lost name server: that is below. Not everything" in text
    assert "what clients miss" not in text_of(scenario_page())


def test_the_page_says_if_no_name_server_is_left() -> None:
    assert "No other name server is left." in text_of(_page(a_loss(loss="SILENT", nameservers_left=[])))
    assert "Name server" not in text_of(_page())
