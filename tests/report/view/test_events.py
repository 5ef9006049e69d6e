"""Known events in the plan and on its page."""

import json
from typing import Any

from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import page_of, plan_bytes, plan_of
from tests.report.page_reader import elements, read_page, text_of
from tests.report.row_builders import a_cluster, a_group

EVENTS = Policy.model_validate({
    "events": [
        {"name": "new <b>year", "from": "2099-12-31T00:00:00Z", "to": "2100-01-02", "factor": 2.5},
        {"name": "sale", "from": "2099-11-27", "to": "2099-11-28", "factor": 6, "topics": "^pay"},
        {"name": "over", "from": "2001-11-27", "to": "2001-11-28", "factor": 6},
    ]
})
NEEDS: list[dict[str, Any]] = [
    {"event": "sale", "consumer_group": "g_calm", "status": "ENOUGH", "clients": 4},
    {"event": "sale", "consumer_group": "g_new", "status": "UNDECIDED", "clients": 1},
    {"event": "sale", "consumer_group": "g_most", "status": "TOO_FEW", "clients": 8, "busy_ratio": 2.5}
    | {"busy_lower": 2.5, "busy_upper": 2.5},
    {"event": "sale", "consumer_group": "g_pay", "status": "TOO_FEW", "clients": 4, "needed_clients": 6}
    | {"busy_lower": 0.9, "busy_ratio": 0.91, "busy_upper": 0.92},
]
ROWS: dict[str, Any] = {"cluster": [a_cluster()], "group_status": [a_group()], "event_need": NEEDS}


def test_events_stand_in_the_plan_in_time_with_the_groups_that_lack_clients() -> None:
    stored = json.loads(plan_bytes(plan_of(ROWS, policy=EVENTS)))["events"]

    assert [(one["name"], one["from"], one["to"], one["enough"]) for one in stored] == [
        ("sale", "2099-11-27T00:00:00Z", "2099-11-28T00:00:00Z", 1),
        ("new <b>year", "2099-12-31T00:00:00Z", "2100-01-02T00:00:00Z", 0),
    ]
    assert [one["consumer_group"] for one in stored[0]["groups"]] == ["g_most", "g_pay", "g_new"]
    assert stored[0]["groups"][1] == {
        "consumer_group": "g_pay",
        "status": "TOO_FEW",
        "utilisation": {"lower": 0.9, "estimate": 0.91, "upper": 0.92},
        "clients": 4,
        "needed_clients": 6,
    }


def test_the_page_says_what_is_known_to_come_and_who_lacks_clients_for_it() -> None:
    page = read_page(page_of(ROWS, policy=EVENTS))

    (section,) = (one for one in elements(page, "section") if one.get("aria-labelledby") == "events")
    assert [text_of(one) for one in elements(section, "h3")] == ["sale", "new <b>year"]
    first, *_ = [text_of(one) for one in elements(section, "p")]
    assert "6 \N{MULTIPLICATION SIGN} the messages of the peak on topics that match ^pay." in first
    assert first.endswith("1 group has enough clients for it.")
    cells = [[text_of(cell) for cell in elements(line, "td")] for line in elements(section, "tr")[1:]]
    assert cells == [["250 %", "8", "no number is known to be enough"], ["91 %", "4", "6"], ["unknown", "1", "unknown"]]


def test_without_events_neither_has_them() -> None:
    rows = {"cluster": [a_cluster()], "group_status": [a_group()]}

    assert "events" not in json.loads(plan_bytes(plan_of(rows)))
    assert "What is known to come" not in page_of(rows)
