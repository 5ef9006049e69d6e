"""The form of a what-if: who gets it, what it offers, how changes come and go, and what the one route refuses."""

import json
from html import unescape
from typing import Any, Final

import pytest

from rocketmq_capacity.provider.change_form import change_forms
from tests.report.page_reader import elements, read_page, text_of, with_class

pytestmark = pytest.mark.airflow
PAGE: Final = "/rocketmq-capacity/what-if"
OURS: Final = {"Sec-Fetch-Site": "same-origin"}
SAMPLE: Final = "the recorded sample"
LOST: Final = {"change": "lose_broker", "broker_name": "broker-b"}
MORE: Final = {"change": "add_clients", "consumer_group": "notifier", "count": 2}
LARGEST_BODY: Final = 384 << 10


def shown(client: Any, query: str = "") -> Any:
    answer = client.get(PAGE + query, headers=OURS)
    assert answer.status_code == 200, answer.text
    return read_page(answer.text)


def sent(client: Any, press: str, *changes: dict[str, Any], start: str = SAMPLE, **told: str) -> Any:
    """The form with these changes, after a button was pressed."""
    kept = {"start": start, "once": "a", "changes": json.dumps(changes)}
    return client.post(PAGE, data={**kept, **told, "press": press}, headers=OURS)


def changes_in(tree: Any) -> list[str]:
    """The changes so far, as a person reads them."""
    return [
        text_of(one).removesuffix(f" Remove {text_of(one).partition(' Remove')[0]}")
        for one in elements(tree, "li")
        if "Remove" in text_of(one)
    ]


def problem_in(answer: Any) -> str:
    (alert,) = [text_of(one) for one in read_page(answer.text).iter() if one.get("role") == "alert"]
    return alert


def test_each_change_has_a_form_of_its_own_and_one_is_open_at_a_time(api) -> None:
    tree = shown(api("admin"))

    details = with_class(tree, "change")
    assert [text_of(elements(one, "strong")[0]) for one in details] == [one.title for one in change_forms().values()]
    assert {one.get("name") for one in details} == {"change"}, "a browser closes the others of the same name"
    for shown_form, form in zip(details, change_forms().values(), strict=True):
        named = {one.get("name") for one in shown_form.iter() if one.get("name")} - {"change"}
        assert named == {"start", "once", "changes", "name", "press"} | {field.name for field in form.fields}


def test_every_page_leads_to_the_form(api) -> None:
    for address in ("", "difference"):
        tree = read_page(api("admin").get(f"/rocketmq-capacity/{address}").text)
        assert "./what-if" in [a.get("href") for a in elements(tree, "a") if text_of(a) == "Try a change"]


def test_the_lists_have_all_names_of_the_cluster(api) -> None:
    lists = {one.get("id"): [two.get("value") for two in one] for one in elements(shown(api("admin")), "datalist")}

    assert lists["list-brokers"] == ["broker-a", "broker-b", "room1@broker-c"]
    assert len(lists["list-groups"]) == 22
    assert "click_stream" in lists["list-topics"]
    assert lists["list-nameservers"] == ["127.0.0.1:17613"]


def test_changes_come_one_after_another_and_go(api) -> None:
    admin = api("admin")
    first = sent(admin, "add", change="lose_broker", broker_name="broker-b")
    second = sent(admin, "add", LOST, change="add_clients", consumer_group="notifier", client_ids="", count="2")
    third = sent(admin, "remove-0", LOST, MORE)

    said = ["Lose broker: broker-b", "Add clients: notifier, Number of clients 2"]
    assert [first.status_code, second.status_code, third.status_code] == [200, 200, 200]
    assert changes_in(read_page(first.text)) == said[:1]
    assert changes_in(read_page(second.text)) == said
    assert changes_in(read_page(third.text)) == said[1:]
    assert json.dumps([LOST, MORE], separators=(",", ":")) in unescape(second.text)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        (
            {"change": "lose_broker", "broker_name": "brokr-b"},
            "Change 2, Broker: is 'brokr-b', which is not there; the",
        ),
        ({"change": "lose_broker"}, "Change 2, Broker: is missing"),
        ({"change": "set_queues", "topic": "click_stream", "read_queue_nums": "x"}, "Read queues: is 'x'; expected"),
        ({"change": "lose_broker", "room": "hz"}, "lose_broker.room: is not a field of this change"),
    ],
)
def test_a_change_that_does_not_fit_is_refused_where_it_was_told_and_the_others_stay(api, told, reason) -> None:
    answer = sent(api("admin"), "add", MORE, **told)

    assert answer.status_code == 400
    assert reason in problem_in(answer)
    assert changes_in(read_page(answer.text)) == ["Add clients: notifier, Number of clients 2"]
    opened = [one for one in with_class(read_page(answer.text), "change") if "open" in one.attrib]
    for one in opened:
        held = {field.get("name"): field.get("value") for field in one.iter() if field.get("name")}
        assert {name: held[name] for name in told if name in held and name != "change"} == {
            name: value for name, value in told.items() if name in held and name != "change"
        }


def test_without_a_change_there_is_nothing_to_try(api) -> None:
    answer = sent(api("admin"), "try")

    assert answer.status_code == 400
    assert problem_in(answer) == "There is no change to try yet. Add one first."


def test_inventory_files_are_chosen_from_the_folder(api, inventories) -> None:
    admin = api("admin")
    tree = shown(admin, "?inventory=monday.json")

    (start,) = [one for one in elements(tree, "select") if one.get("name") == "start"]
    assert [text_of(one) for one in start] == [SAMPLE, "inventory file monday.json"]
    assert [text_of(one) for one in start if "selected" in one.attrib] == ["inventory file monday.json"]
    for name, reason in (
        ("missing.json", "is not in the deployment's inventory folder; the folder has monday.json"),
        ("../../etc/passwd", "expected the name of a file in the deployment's inventory folder"),
    ):
        answer = admin.get(PAGE, params={"inventory": name}, headers=OURS)
        assert answer.status_code == 400
        assert reason in text_of(read_page(answer.text))
        answer = sent(admin, "try", LOST, start=f"inventory file {name}")
        assert answer.status_code == 400
        assert "A what-if cannot start from 'inventory file" in text_of(read_page(answer.text))


def test_names_and_values_are_only_text(api) -> None:
    hostile = '"><script>alert(1)</script>{{7*7}}'
    answer = sent(api("admin"), "add", name=hostile, once=hostile, change="lose_broker", broker_name=hostile)
    tree = read_page(answer.text)

    assert elements(tree, "script") == []
    assert "49" not in problem_in(answer)
    assert hostile in {one.get("value") for one in tree.iter()}


@pytest.mark.parametrize(
    ("user", "status"), [("", 401), ("viewer", 403), ("planner", 403), ("dreamer", 403), ("stranger", 403)]
)
def test_who_may_not_start_the_run_gets_no_form_and_sends_none(api, user, status) -> None:
    client = api(user)

    assert "Try a change" not in client.get("/rocketmq-capacity/").text
    assert client.get(PAGE, headers=OURS).status_code == status
    for press in ("add", "try", "junk"):
        assert sent(client, press, LOST).status_code == status
    if user == "viewer":
        assert "It needs the right to trigger the Dag rocketmq_what_if" in sent(client, "try", LOST).text


@pytest.mark.parametrize("site", [None, "", "cross-site", "same-site", "none"])
def test_only_a_page_of_airflows_own_origin_is_listened_to(api, site) -> None:
    headers = {} if site is None else {"Sec-Fetch-Site": site}
    answer = api("admin").post(
        PAGE, data={"start": SAMPLE, "changes": json.dumps([LOST]), "press": "try"}, headers=headers
    )

    assert answer.status_code == 403
    assert "Nothing is tried: the request does not come from a page of this Airflow" in text_of(read_page(answer.text))


def test_a_browser_that_does_not_say_whence_it_asks_is_told_of_the_dag(api) -> None:
    tree = read_page(api("admin").get(PAGE).text)

    assert elements(tree, "form") == []
    assert "Elsewhere, trigger the Dag rocketmq_what_if with a scenario" in text_of(tree)


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (b"x" * (LARGEST_BODY + 1), 413, "Expected at most 393,216 bytes"),
        (b"start=a&start=b", 400, "each once"),
        (b"&".join(b"f%d=" % n for n in range(33)), 400, "Expected at most 32 fields"),
        (b"name=%ed%a0%80", 400, "cannot be read"),
        (b"", 400, "cannot start from ''"),
        (
            b"start=the+recorded+sample&press=add&change=drop_topic",
            400,
            "There is no change 'drop_topic'. Expected one of",
        ),
        (b"start=the+recorded+sample&press=add", 400, "change: is ''; expected one of"),
        (b"start=the+recorded+sample&press=remove-0", 400, "has no such button"),
        (b"start=the+recorded+sample&changes=%5B1%5D", 400, "The changes so far cannot be read"),
        (b"start=the+recorded+sample&changes=%5B%7B%22change%22%3A%22no%22%7D%5D", 400, "The changes so far cannot be"),
        (b"start=the+recorded+sample&changes=" + b"%5B" * 2_000, 400, "The changes so far cannot be read"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_no_such_form_is_refused(api, body, status, reason) -> None:
    answer = api("admin").post(PAGE, content=body, headers=OURS | {"Content-Type": "application/x-www-form-urlencoded"})

    assert answer.status_code == status
    assert reason in text_of(read_page(answer.text))
