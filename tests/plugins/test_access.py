"""Who may read what: logged in to Airflow, and may read the Dag that made the report; on every route."""

import pytest

from rocketmq_capacity.report.scripts import script_names
from tests.plugins.stored_reports import CLUSTER, LAST, airflow_run_id_of, rows_of, run_id_of
from tests.report.from_rows import plan_of

pytestmark = pytest.mark.airflow
ROOT = "/rocketmq-capacity"
RUN = run_id_of(LAST)
PLAN = f"{ROOT}/reports/plans/{CLUSTER}/{RUN}"
FILES = ("report.html", "plan.json", "findings.csv", "recommendations.csv")
HANDED_OVER = ("metrics.prom", "runbook.md", "runbook.json", "desired_state.yaml", "tickets.json")
"""Of plans alone."""
SCRIPT = next(iter(script_names(plan_of(rows_of(LAST, 5))).values()))
OF_PLANS = [
    PLAN,
    f"{PLAN}/",
    *(f"{PLAN}/{name}" for name in (*FILES, *HANDED_OVER)),
    f"{PLAN}/{SCRIPT}",
    f"{ROOT}/?kind=plans",
    f"{PLAN}/groups",
    f"{ROOT}/trends/{CLUSTER}",
    f"{ROOT}/metrics/{CLUSTER}",
    f"{ROOT}/difference?cluster={CLUSTER}&before=plans/{RUN}&after=plans/{RUN}",
    f"{ROOT}/dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST)}",
]


@pytest.fixture(scope="module")
def what_if(lakes):
    (folder,) = lakes[1].glob("*/*")
    return f"{ROOT}/reports/what-ifs/{CLUSTER}/{folder.name}"


@pytest.fixture(scope="module")
def of_what_ifs(what_if):
    run = what_if.rpartition("/")[2]
    return [
        what_if,
        *(f"{what_if}/{name}" for name in FILES),
        f"{ROOT}/?kind=what-ifs",
        f"{ROOT}/difference?cluster={CLUSTER}&before=what-ifs/{run}",
        f"{ROOT}/dag-runs/rocketmq_what_if/manual__2026-11-20T05:00:00+00:00",
    ]


@pytest.fixture(scope="module")
def every_address(of_what_ifs):
    return [*OF_PLANS, *of_what_ifs, f"{ROOT}/", f"{ROOT}/difference", f"{ROOT}/style.css"]


def statuses(client, addresses):
    return {address: client.get(address).status_code for address in addresses}


def test_without_a_login_nothing_is_answered_not_even_what_is_not_there(api, every_address):
    missing = ("nothing/here", "reports/plans/C9/r", "reports/x/y/z/report.html", "dag-runs/x/y")
    addresses = [*every_address, *(f"{ROOT}/{address}" for address in missing)]

    assert statuses(api(), addresses) == dict.fromkeys(addresses, 401)


def test_a_refusal_reveals_nothing_and_leads_to_airflows_own_login(api, lakes):
    answer = api().get(f"{PLAN}/")

    assert CLUSTER not in answer.text.replace(f"%2F{CLUSTER}%2F", "")
    assert 'href="/auth/login?next=%2Frocketmq-capacity%2Freports%2Fplans%2F' in answer.text


@pytest.mark.parametrize("token", ["junk", "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhZG1pbiIsInJvbGUiOiJBRE1JTiJ9."])
def test_a_forged_token_opens_nothing(api, lakes, token):
    by_header, by_cookie = api(), api()
    by_header.headers["Authorization"] = f"Bearer {token}"
    by_cookie.cookies.set("_token", token)

    assert by_header.get(f"{PLAN}/plan.json").status_code in {401, 403}
    assert by_cookie.get(f"{PLAN}/plan.json").status_code in {401, 403}


@pytest.mark.parametrize("user", ["admin", "viewer"])
def test_who_may_read_both_dags_reads_everything(api, every_address, user):
    assert statuses(api(user), every_address) == dict.fromkeys(every_address, 200)


def test_the_browsers_cookie_is_a_login_too(api, lakes):
    token = api("viewer").headers["Authorization"].removeprefix("Bearer ")
    browser = api()
    browser.cookies.set("_token", token)

    assert browser.get(f"{ROOT}/").status_code == 200


def test_who_may_read_the_plans_dag_alone_reads_plans_alone(api, of_what_ifs):
    client = api("planner")

    assert statuses(client, OF_PLANS) == dict.fromkeys(OF_PLANS, 200)
    assert statuses(client, of_what_ifs) == dict.fromkeys(of_what_ifs, 403)
    assert "what-ifs/" not in client.get(f"{ROOT}/").text
    assert "what-ifs/" not in client.get(f"{ROOT}/difference?cluster={CLUSTER}").text


def test_who_may_read_the_what_ifs_dag_alone_reads_what_ifs_alone(api, of_what_ifs):
    client = api("dreamer")

    assert statuses(client, of_what_ifs) == dict.fromkeys(of_what_ifs, 200)
    assert statuses(client, OF_PLANS) == dict.fromkeys(OF_PLANS, 403)
    listed = client.get(f"{ROOT}/").text
    assert "reports/what-ifs/" in listed
    assert "reports/plans/" not in listed
    assert "plans/" not in client.get(of_what_ifs[0]).text.replace("/plan", "")


def test_every_page_says_so_to_someone_who_may_read_neither_dag(api, every_address):
    style = f"{ROOT}/style.css"
    pages = [address for address in every_address if address != style]

    assert statuses(api("stranger"), pages) == dict.fromkeys(pages, 403)
    assert api("stranger").get(style).status_code == 200


def test_a_dag_that_is_not_ours_is_asked_for_as_well(api, lakes):
    address = f"{ROOT}/dag-runs/some_other_dag/run"

    assert "makes no capacity reports" in api("stranger").get(address).text
    assert api("planner").get(address).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_but_get_and_head_is_answered(api, every_address, method):
    for client in (api(), api("admin")):
        for address in every_address:
            answer = client.request(method, address)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD"), address


@pytest.mark.parametrize("user", ["", "viewer", "stranger"])
def test_head_is_answered_like_get_without_a_body(api, every_address, user):
    client = api(user)
    for address in (*every_address, f"{ROOT}/nothing/here", f"{ROOT}/reports/plans/C9/r/plan.json"):
        answer, whole = client.head(address), client.get(address)
        assert answer.status_code == whole.status_code, address
        assert answer.content == b""
        for name in ("Content-Type", "Content-Disposition", "Content-Security-Policy", "Cache-Control"):
            assert answer.headers.get(name) == whole.headers.get(name), (address, name)
