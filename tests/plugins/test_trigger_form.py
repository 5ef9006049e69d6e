"""What starts a run of our Dags at Airflow's own API: behind the login, within bounds, and of fields that are known."""

import json
from http import HTTPStatus
from typing import Any

import pytest

from rocketmq_capacity.provider.request_check import LARGEST_BODY
from rocketmq_capacity.provider.trigger_form import FIELDS

pytestmark = pytest.mark.airflow


WHAT_IFS = "/api/v2/dags/rocketmq_what_if/dagRuns"
LOST: dict[str, Any] = {"scenario": "name: x\nchanges: [{change: lose_broker, broker_name: broker-b}]"}
"""A broker that the sample has: without clusters of its own the deployment plans that."""


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        (None, "the form: scenario: is missing; expected a name and a list of changes"),
        ({"scenario": "# nothing"}, "the form: scenario: is missing; expected a name and a list of changes"),
        ({"change": "lose_broker"}, "change: is not a known field"),
    ],
)
def test_fields_without_a_scenario_are_refused_with_the_reason(api, conf, reason) -> None:
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": conf})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert reason in answer.json()["detail"]


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        (
            {"scenario": "name: x\nchanges: [{change: lose_broker, broker_name: brokr-b}]"},
            "changes[0].broker_name: is 'brokr-b', which is not there; the nearest broker is 'broker-b'",
        ),
        (
            {"scenario": "name: x\nchanges: [{change: add_clients, consumer_group: notifer, count: 1}]"},
            "changes[0].consumer_group: is 'notifer', which is not there; the nearest consumer group is 'notifier'",
        ),
        (
            {"scenario": "name: x\nchanges: [{change: scale_traffic, topic: clik_stream, factor: 2}]"},
            "changes[0].topic: is 'clik_stream', which is not there; the nearest topic is 'click_stream'",
        ),
    ],
    ids=["broker", "group", "topic"],
)
def test_a_misspelt_name_is_refused_with_the_nearest_name_of_its_kind(api, conf, reason) -> None:
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": conf})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert reason in answer.json()["detail"]
    assert "looked up in the snapshot of 2026-" in answer.json()["detail"]


@pytest.mark.parametrize("dag_id", ["rocketmq_what_if", "rocketmq_capacity_plan"])
@pytest.mark.parametrize(
    ("inventory", "reason"),
    [
        (
            "missing.json",
            "which is not in the deployment's inventory folder; the folder has monday.json",
        ),
        ("../../etc/passwd", "is '../../etc/passwd'; expected the name of a file in the deployment's inventory folder"),
        ("/etc/passwd", "is '/etc/passwd'; expected the name of a file"),
        ("monday.json/../monday.json", "expected the name of a file"),
        ("monday.json\n", "expected the name of a file"),
    ],
)
def test_an_inventory_file_that_is_not_there_or_elsewhere_is_refused_before_a_run_is_made(
    api, inventories, dag_id, inventory, reason
) -> None:
    conf = {"inventory": inventory} | (LOST if dag_id == "rocketmq_what_if" else {})
    answer = api("admin").post(f"/api/v2/dags/{dag_id}/dagRuns", json={"logical_date": None, "conf": conf})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    detail = answer.json()["detail"]
    assert detail.startswith("Invalid input for param inventory: ")
    assert reason in detail
    assert str(inventories) not in detail, "no path of the machine"


def test_an_inventory_file_that_is_there_reaches_airflow(api, inventories) -> None:
    conf = {"inventory": "monday.json", **LOST}
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": conf})

    # A database in which no test has stored the Dags has none of that name.
    assert answer.status_code in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}, answer.text


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        ({"why": "a rollout", "until": "2030-01-01"}, "expected one of consumer_group, topic, broker_name"),
        ({"topic": "pay", "until": "2030-01-01"}, "why: is missing"),
        ({"topic": "pay", "why": "a rollout"}, "until: is missing"),
        ({"topic": "pay", "why": "a rollout", "until": "2020-02-29"}, "until: is over; it is 2020-02-29"),
        ({"topic": "pay", "why": "a", "until": "2030-01-01", "by": "somebody else"}, "by: is not a known field"),
    ],
)
def test_a_risk_without_place_reason_or_day_or_in_another_name_is_refused_before_a_run_is_made(
    api, conf, reason
) -> None:
    told = {"rule": "IDLE_CONSUMERS", **conf}
    accept = "/api/v2/dags/rocketmq_capacity_accept/dagRuns"
    answer = api("admin").post(accept, json={"logical_date": None, "conf": told})

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert reason in answer.json()["detail"]
    assert api("viewer").post(accept, json={"logical_date": None, "conf": told}).status_code == HTTPStatus.FORBIDDEN


def test_a_scenario_reaches_airflow_with_everything_that_was_sent(api) -> None:
    answer = api("admin").post(WHAT_IFS, json={"logical_date": None, "conf": LOST, "dag_run_idd": "unknown to Airflow"})

    # Airflow read the body, and named what it does not know in it.
    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["detail"][0]["loc"] == ["body", "dag_run_idd"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b'{"conf": 1}'])
def test_what_is_no_request_is_refused_by_airflow(api, body) -> None:
    answer = api("admin").post(WHAT_IFS, content=body, headers={"Content-Type": "application/json"})

    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY


def test_other_dags_and_those_who_only_read_pass_as_they_are(api) -> None:
    admin = api("admin")

    assert admin.post("/api/v2/dags/another/dagRuns", json={"logical_date": None}).status_code == HTTPStatus.NOT_FOUND
    assert admin.get(WHAT_IFS).status_code in {HTTPStatus.OK, HTTPStatus.NOT_FOUND}
    assert api().post(WHAT_IFS, json={"logical_date": None, "conf": LOST}).status_code == HTTPStatus.UNAUTHORIZED


REFUSED: dict[str, Any] = {"logical_date": None, "conf": {}}
"""What is refused by its fields once it is read."""
AS_JSON = {"Content-Type": "application/json"}


def posted(client: Any, body: bytes = json.dumps(REFUSED).encode(), **headers: str) -> tuple[int, str]:
    answer = client.post(WHAT_IFS, content=body, headers=AS_JSON | {k.replace("_", "-"): v for k, v in headers.items()})
    return answer.status_code, str(answer.json()["detail"])


@pytest.mark.parametrize("body", [json.dumps(REFUSED).encode(), b"", b"{", b"x" * (1 << 20)])
def test_who_is_not_logged_in_or_may_not_trigger_is_refused_whatever_is_sent(api, body) -> None:
    forged = api()
    forged.headers["Authorization"] = "Bearer junk"

    assert posted(api(), body) == (HTTPStatus.UNAUTHORIZED, "Not authenticated")
    assert posted(forged, body) == (HTTPStatus.FORBIDDEN, "Invalid JWT token")
    assert posted(api("viewer"), body) == (HTTPStatus.FORBIDDEN, "Forbidden")
    assert posted(api("planner"), body) == (HTTPStatus.FORBIDDEN, "Forbidden")


def test_the_browsers_cookie_is_a_login_too(api) -> None:
    browser = api()
    browser.cookies.set("_token", api("admin").headers["Authorization"].removeprefix("Bearer "))

    assert posted(browser) == (
        HTTPStatus.BAD_REQUEST,
        "the form: scenario: is missing; expected a name and a list of changes",
    )


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "http://testserver"}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "http://testserver", "Sec_Fetch_Site": "same-origin"}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "https://shown.example", "Sec_Fetch_Site": "same-origin"}, HTTPStatus.BAD_REQUEST),
        ({"Sec_Fetch_Site": "none"}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "https://portal.example", "Sec_Fetch_Site": "cross-site"}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "https://airflow.example:8443"}, HTTPStatus.BAD_REQUEST),
        ({"Origin": "https://evil.example"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://testserver.evil.example"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://testserver:81"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "null"}, HTTPStatus.FORBIDDEN),
        ({"Origin": ""}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://[x"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "https://evil.example", "Sec_Fetch_Site": "cross-site"}, HTTPStatus.FORBIDDEN),
        ({"Origin": "http://other.testserver", "Sec_Fetch_Site": "same-site"}, HTTPStatus.FORBIDDEN),
        ({"Sec_Fetch_Site": "cross-site"}, HTTPStatus.FORBIDDEN),
    ],
)
def test_only_pages_of_airflows_own_and_allowed_origins_are_listened_to(api, monkeypatch, headers, status) -> None:
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example:8443/tools/airflow")
    monkeypatch.setenv("AIRFLOW__API__ACCESS_CONTROL_ALLOW_ORIGINS", "https://portal.example")
    answered, detail = posted(api("admin"), **headers)

    assert answered == status
    assert ("another origin" in detail) == (status is HTTPStatus.FORBIDDEN)


@pytest.mark.parametrize(
    "kind", ["", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/json"]
)
def test_a_body_of_another_type_is_not_read(api, kind) -> None:
    status, detail = posted(api("admin"), Content_Type=kind)

    assert (status, detail) == (HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "Expected a body of the type application/json.")


def test_json_may_say_its_encoding(api) -> None:
    assert posted(api("admin"), Content_Type="Application/JSON; charset=utf-8")[0] == HTTPStatus.BAD_REQUEST


def test_a_body_is_read_to_its_bound_and_no_further(api) -> None:
    fits = json.dumps(REFUSED).encode().ljust(LARGEST_BODY)

    assert posted(api("admin"), fits)[0] == HTTPStatus.BAD_REQUEST
    status, detail = posted(api("admin"), fits + b" ")
    assert status == HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    assert "at most 524,288 bytes" in detail


@pytest.mark.parametrize(
    ("conf", "reason"),
    [
        ({"scenario": "# " + "x" * 60_000}, "scenario: is too long; expected at most 60,000 characters"),
        ({"policy_changes": "# " + "x" * 60_000}, "policy_changes: is too long"),
        ({"strategies": ["a"] * 1_001}, "strategies: has 1,001 entries"),
        ({"scenario": ["a"] * 100_000}, "scenario: has 100,000 entries; expected at most 1,000"),
        ({"scenario": {str(n): n for n in range(1_001)}}, "scenario: has 1,001 entries"),
        ({f"airflow/{n}": n for n in range(101)}, "the form: has 101 fields; expected at most 100"),
        ({"k" * 100_000: 1}, "is not a known field; the nearest known field is"),
        ({**LOST, "inventry": "b"}, "the nearest known field is 'inventory'"),
        ({"scenario": json.loads("[" * 9 + "]" * 9)}, "scenario: is nested too deeply; expected at most 8 levels"),
        ({"scenario": json.loads("[" * 900 + "]" * 900)}, "scenario: is nested too deeply"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_field_that_is_much_too_large_is_refused_before_its_schema_looks_at_it(api, conf, reason) -> None:
    status, detail = posted(api("admin"), json.dumps({"logical_date": None, "conf": conf}).encode())

    assert status == HTTPStatus.BAD_REQUEST
    assert reason in detail
    assert len(detail) < 1_000


@pytest.mark.parametrize(
    "body", [b"[" * 200_000, b'{"conf": ' + b'{"a": ' * 50_000, b'{"conf": {"count": ' + b"9" * 50_000]
)
def test_what_python_cannot_read_is_refused_by_airflow(api, body) -> None:
    assert posted(api("admin"), body)[0] in {HTTPStatus.BAD_REQUEST, HTTPStatus.UNPROCESSABLE_ENTITY}


@pytest.mark.parametrize("body", [b'{"conf": {}, "conf": {"change": 1}}', b'{"conf": {"topic": "a", "topic": "b"}}'])
def test_a_member_that_is_given_twice_is_refused(api, body) -> None:
    status, detail = posted(api("admin"), body)

    assert (status, detail) == (
        HTTPStatus.BAD_REQUEST,
        "a member is given twice; expected each member of an object once",
    )


HALF = "\ud800"


@pytest.mark.parametrize(
    ("told", "place"),
    [
        ({"conf": {"scenario": HALF}}, "conf.scenario"),
        ({"conf": {**LOST, "cluster": HALF}}, "conf.cluster"),
        ({"conf": {**LOST, "strategies": ["a", HALF]}}, "conf.strategies"),
        ({"conf": {"policy_changes": f"# {HALF}", **LOST}}, "conf.policy_changes"),
        ({"conf": {**LOST, "inventory": {HALF: 1}}}, "conf.inventory"),
        ({"conf": {HALF: 1}}, r"conf.\ud800"),
        ({"conf": LOST, "dag_run_id": HALF}, "dag_run_id"),
        ({"conf": LOST, HALF: 1}, r"\ud800"),
        ({HALF: 1}, r"\ud800"),
    ],
)
def test_half_a_character_is_refused_with_its_place(api, told, place) -> None:
    status, detail = posted(api("admin"), json.dumps({"logical_date": None, **told}).encode())

    assert status == HTTPStatus.BAD_REQUEST
    assert detail == rf"{place}: has half a character (\uD800 to \uDFFF); expected whole characters"


def test_the_fields_that_are_known_are_the_dags_own(dag_bag) -> None:
    assert {dag_id: set(dag.params) for dag_id, dag in dag_bag.dags.items()} == FIELDS


@pytest.mark.parametrize(
    ("dag_id", "field", "end"),
    [
        ("rocketmq_capacity_plan", "inventry", "the nearest known field is 'inventory'"),
        ("rocketmq_capacity_retention", "only_lst", "the nearest known field is 'only_list'"),
        ("rocketmq_capacity_approval", "why", "this Dag has no fields"),
        ("rocketmq_what_if", "scenaro", "the nearest known field is 'scenario'"),
    ],
)
def test_a_field_that_the_dag_does_not_know_starts_no_run(api, dag_id, field, end) -> None:
    asked = {"logical_date": None, "conf": {field: True}}
    answer = api("admin").post(f"/api/v2/dags/{dag_id}/dagRuns", json=asked)

    assert answer.status_code == HTTPStatus.BAD_REQUEST
    assert answer.json()["detail"] == f"Invalid input for param {field}: is not a known field; {end}"


@pytest.mark.parametrize("conf", [None, {}, {"only_list": True}])
def test_known_fields_of_other_dags_reach_airflow(api, conf) -> None:
    asked = {"logical_date": None, "conf": conf, "dag_run_idd": "unknown to Airflow"}
    answer = api("admin").post("/api/v2/dags/rocketmq_capacity_retention/dagRuns", json=asked)

    assert answer.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
    assert answer.json()["detail"][0]["loc"] == ["body", "dag_run_idd"]
