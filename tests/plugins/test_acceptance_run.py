"""The run that accepts a risk, started by a form on a running API server: once, in the name of the user."""

import http.client
import json
import re
import socket
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest

from rocketmq_capacity.plan_file.finding import PlanFinding
from rocketmq_capacity.plan_file.plan import read_plan
from tests.plugins.api_server import ANSWERS_WITHIN_S, PREFIX, ApiServer
from tests.plugins.stored_reports import CLUSTER, LAST, run_id_of

pytestmark = [pytest.mark.airflow, pytest.mark.slow]
DAG: Final = "/api/v2/dags/rocketmq_capacity_accept"
ROUTE: Final = f"{PREFIX}/rocketmq-capacity/reports/plans/{CLUSTER}/{run_id_of(LAST)}/accept"
UNTIL: Final = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()


def findings_of(server: ApiServer) -> list[PlanFinding]:
    """The findings of the latest plan's first cause that has several."""
    plan = read_plan(Path(server.lake) / CLUSTER / run_id_of(LAST) / "report" / "plan.json")
    findings = {one.id: one for one in plan.findings}
    return next([findings[name] for name in cause.findings] for cause in plan.causes if len(cause.findings) > 1)


def form_of(server: ApiServer, why: str) -> dict[str, Any]:
    """The form of one finding."""
    return {"finding": findings_of(server)[0].id, "why": why, "until": UNTIL}


def conf_of(finding: PlanFinding, why: str) -> dict[str, str]:
    """The fields of its run."""
    names = ("rule", "consumer_group", "topic", "broker_name")
    place = {name: told for name in names if (told := getattr(finding, name)) is not None}
    return {"cluster": CLUSTER, **place, "why": why, "until": UNTIL}


def sent(server: ApiServer, told: dict[str, Any], **headers: str) -> tuple[int, str]:
    """Status and page of the form, sent as a browser does by an admin; headers may replace its own."""
    usual = {
        "Content-Type": "application/x-www-form-urlencoded",
        "Sec-Fetch-Site": "same-origin",
        "Cookie": f"_token={server.token('admin')}",
    }
    with closing(http.client.HTTPConnection("127.0.0.1", server.port, timeout=ANSWERS_WITHIN_S)) as connection:
        connection.request("POST", ROUTE, urlencode(told, doseq=True), usual | headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def runs_with(server: ApiServer, why: str) -> list[dict[str, Any]]:
    runs = server.ask(f"{DAG}/dagRuns?limit=100")["dag_runs"]
    return [run for run in runs if (run["conf"] or {}).get("why") == why]


def test_a_form_starts_one_run_in_the_name_of_the_user_with_what_it_names(server: ApiServer) -> None:
    told = form_of(server, "a rollout & <more>")

    status, page = sent(server, told)

    (run,) = runs_with(server, told["why"])
    assert status == 201
    assert run["conf"] == conf_of(findings_of(server)[0], told["why"])
    assert (run["triggering_user_name"], run["triggered_by"], run["run_type"]) == ("admin", "ui", "manual")
    assert run["state"] == "queued"
    assert f'href="../../../../../dags/rocketmq_capacity_accept/runs/{run["dag_run_id"]}"' in page
    assert "a rollout &amp; &lt;more&gt;" in page
    assert "in the name of admin" in page
    (entry,) = server.ask(f"/api/v2/eventLogs?run_id={quote(run['dag_run_id'])}")["event_logs"]
    assert (entry["event"], entry["owner"], entry["dag_id"]) == ("trigger_dag_run", "admin", "rocketmq_capacity_accept")
    assert json.loads(entry["extra"])["conf"] == run["conf"]


def test_a_cause_with_several_findings_is_one_form_and_one_run_for_each(server: ApiServer) -> None:
    findings = findings_of(server)
    names = [one.id for one in findings]
    told = {"why": "all of it", "until": UNTIL}

    status, page = sent(server, {"finding": names, **told})
    repeated, _ = sent(server, {"finding": [*names, *names], **told})

    runs = runs_with(server, "all of it")
    assert (status, repeated) == (201, 200)
    assert len(runs) == len(findings) > 1
    assert all(conf_of(one, "all of it") in [run["conf"] for run in runs] for one in findings)
    assert all(run["dag_run_id"] in page for run in runs)


def test_the_same_form_again_or_twice_at_once_starts_no_other_run(server: ApiServer) -> None:
    told = form_of(server, "sent often")
    with ThreadPoolExecutor(4) as threads:
        statuses = sorted(status for status, _ in threads.map(lambda _: sent(server, told), range(4)))

    status, page = sent(server, told)

    (run,) = runs_with(server, "sent often")
    assert statuses == [200, 200, 200, 201]
    assert status == 200
    assert "You have sent this already, so no other run is started." in page
    assert run["dag_run_id"] in page


def test_another_reason_is_another_run(server: ApiServer) -> None:
    assert [sent(server, form_of(server, why))[0] for why in ("one", "another")] == [201, 201]
    assert len(runs_with(server, "one") + runs_with(server, "another")) == 2


def test_who_sends_it_while_the_dag_is_paused_is_told_that_the_run_waits(server: ApiServer) -> None:
    token = server.token("admin")
    server.call("PATCH", DAG, {"is_paused": True}, token)
    _, paused = sent(server, form_of(server, "paused"))
    server.call("PATCH", DAG, {"is_paused": False}, token)
    _, unpaused = sent(server, form_of(server, "unpaused"))

    assert "The Dag is paused:" in paused
    assert "The Dag is paused:" not in unpaused


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Cookie": ""}, 401),
        ({"Cookie": "_token=junk"}, 403),
        ({"Sec-Fetch-Site": "cross-site"}, 403),
        ({"Sec-Fetch-Site": "same-site"}, 403),
        ({"Cookie": "viewer"}, 403),
    ],
    ids=str,
)
def test_who_may_not_and_pages_of_another_origin_start_nothing(server: ApiServer, headers, status) -> None:
    if headers.get("Cookie") == "viewer":
        headers = {"Cookie": f"_token={server.token('viewer')}"}

    assert sent(server, form_of(server, "refused"), **headers)[0] == status
    assert runs_with(server, "refused") == []


@pytest.mark.parametrize(
    ("cookie", "site", "status"),
    [("", "same-origin", b"401"), ("viewer", "same-origin", b"403"), ("admin", "cross-site", b"403")],
)
def test_the_refusal_comes_before_a_byte_of_the_body(server: ApiServer, cookie, site, status) -> None:
    head = {
        "Host": "x",
        "Content-Type": "application/x-www-form-urlencoded",
        "Content-Length": "48000000",
        "Sec-Fetch-Site": site,
        **({"Cookie": f"_token={server.token(cookie)}"} if cookie else {}),
    }
    lines = [f"POST {ROUTE} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    with socket.create_connection(("127.0.0.1", server.port), timeout=ANSWERS_WITHIN_S) as connection:
        connection.sendall("\r\n".join(lines).encode())

        assert re.fullmatch(rb"HTTP/1.1 " + status, connection.recv(12))


def test_a_huge_body_is_read_to_its_bound_alone(server: ApiServer) -> None:
    status, page = sent(server, {"why": "x" * 5_000_000})

    assert status == 413
    assert "Expected at most 16,384 bytes" in page
