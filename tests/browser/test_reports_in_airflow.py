"""The reports inside the real Airflow UI, served by its API server behind a URL prefix, in a real browser."""

import http.client
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.chromium import DESKTOP, PATIENCE_S, PHONE, new_window
from tests.plugins.api_server import ANSWERS_WITHIN_S, PASSWORDS, PREFIX, running_api_server
from tests.plugins.stored_reports import (
    CLUSTER,
    LAST,
    airflow_run_id_of,
    copied,
    put,
    put_days,
    put_what_if,
    rows_of,
    run_id_of,
)
from tests.report.row_builders import a_finding
from tests.report.test_approval import an_approval

pytestmark = [pytest.mark.browser, pytest.mark.airflow, pytest.mark.slow]
HOSTILE = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
BEFORE, AFTER = run_id_of(LAST - timedelta(days=1)), run_id_of(LAST)
PAGES = {
    "list": "",
    "found": f"?cluster={CLUSTER}&text=lose&from=2026-11-01",
    "nothing": "?text=nothing-is-called-so",
    "report": f"reports/plans/{CLUSTER}/{AFTER}/",
    "groups": f"reports/plans/{CLUSTER}/{AFTER}/groups",
    "what-if": f"reports/what-ifs/{CLUSTER}/{run_id_of(LAST + timedelta(hours=3), 'manual')}/",
    "difference": f"difference?cluster={CLUSTER}&before=plans/{BEFORE}&after=plans/{AFTER}",
    "choice": f"difference?cluster={CLUSTER}",
    "trend": f"trends/{CLUSTER}",
    "run": f"dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST)}",
    "missing": "nothing/here",
}

BROKEN_WORDS = """[...document.querySelectorAll('button, label, .badge, thead th')].filter(e => {
    const text = document.createRange();
    text.selectNodeContents(e);
    const lines = new Set([...text.getClientRects()].map(one => Math.round(one.top))).size;
    return e.textContent.trim().length < 5 && lines > 1 && !e.querySelector('.hidden');
}).map(e => e.textContent)"""
"""Short words that are written one character below the other."""

CUT = """[...document.querySelectorAll('.scroll')].filter(e => e.scrollWidth > e.clientWidth + 1)
    .map(e => e.ariaLabel)"""
"""Tables and pictures that have to be scrolled sideways."""


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    plans, what_ifs = tmp_path_factory.mktemp("plans"), tmp_path_factory.mktemp("what_ifs")
    first, *_ = put_days(plans, 4)
    for number in range(1, 60):
        copied(first, number)
    rows = rows_of(LAST)
    rows["finding"].append(a_finding(message=HOSTILE, topic=HOSTILE, subjects=[HOSTILE]))
    approval = an_approval(by=HOSTILE, why=HOSTILE, recommendations=[rows["recommendation"][0]["id"]])
    put(plans, AFTER, rows, approval=approval)
    put_what_if(what_ifs)
    places = {"RMQC_LAKE": str(plans), "RMQC_WHAT_IFS": str(what_ifs)}
    with running_api_server(tmp_path_factory.mktemp("airflow"), places) as running:
        yield running


@pytest.fixture(scope="module")
def login(browser, server):
    """What a browser keeps of a login through Airflow's own form."""
    context = new_window(browser)
    page = context.new_page()
    page.goto(f"{server.url}/rocketmq-capacity/trends/{CLUSTER}")
    page.get_by_role("link", name="Log in").click()
    page.get_by_label("Username").fill("viewer")
    page.get_by_label("Password").fill(PASSWORDS["viewer"])
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"**{PREFIX}/rocketmq-capacity/trends/{CLUSTER}")
    yield context.storage_state()
    context.close()


@pytest.fixture
def opened(opened, server, login):
    """Opens an address below Airflow's own, as somebody who is logged in."""
    return lambda address, **options: opened(server.url + address, storage_state=login, **options)


@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"])
@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_to_complain_of(opened, name, scheme, viewport):
    page = opened(f"/rocketmq-capacity/{PAGES[name]}", viewport=viewport, scheme=scheme, bypass_csp=True)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    options = {"resultTypes": ["violations"], "iframes": False}  # the report itself has its own test
    violations = Axe().run(page, options=options).response["violations"]

    assert [(v["id"], v["nodes"][0]["html"], v["nodes"][0]["failureSummary"]) for v in violations] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    assert page.evaluate(CUT) == []


@pytest.mark.parametrize("name", PAGES)
def test_a_chinese_browser_gets_a_chinese_page_that_fits(opened, name):
    page = opened(f"/rocketmq-capacity/{PAGES[name]}", locale="zh-CN")
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    for viewport in (DESKTOP, PHONE):
        page.set_viewport_size(viewport)
        assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
        assert page.evaluate(CUT) == []
        assert page.evaluate(BROKEN_WORDS) == []


@pytest.mark.parametrize("name", [name for name in PAGES if name != "missing"])
def test_nothing_is_refused_and_hostile_names_run_nothing(opened, name):
    page = opened(f"/rocketmq-capacity/{PAGES[name]}")

    assert page.complaints == []
    assert page.title().endswith(" Capacity reports")
    assert page.evaluate("getComputedStyle(document.querySelector('.top')).display") == "flex"  # the style has come


def test_the_navigation_leads_to_the_reports_and_a_reload_stays_there(opened, server):
    page = opened("/")
    page.get_by_role("link", name="Capacity", exact=True).click()
    reports = page.frame_locator("iframe[title='Capacity']")
    reports.get_by_role("searchbox", name="Search").fill("lose broker")
    reports.get_by_role("button", name="Show").click()
    reports.get_by_text("1 report of 1 cluster.").wait_for()
    reports.get_by_role("link", name=f"What-if of 2026-11-20, 02:00:00 {CLUSTER}").click()
    reports.get_by_text("A what-if, not the cluster as it is:").wait_for()

    report = reports.frame_locator("iframe[title='The report']")
    report.get_by_role("link", name="What to do").click()
    assert report.locator("#first").is_visible()

    page.reload()
    reports.get_by_text("A what-if, not the cluster as it is:").wait_for()
    assert page.url.startswith(f"{server.url}/plugin/rocketmq-capacity/")


def test_downloads_come_out_of_airflows_frame(opened, server):
    page = opened(f"/plugin/rocketmq-capacity{PREFIX}/rocketmq-capacity/{PAGES['report']}")
    reports = page.frame_locator("iframe[title='Capacity']")

    for name in ("plan.json", "findings.csv", "recommendations.csv"):
        with page.expect_download() as started:
            reports.get_by_role("link", name=f"Download {name}").click()

        assert started.value.suggested_filename == f"{CLUSTER}-{AFTER}-{name}"
        assert started.value.path().stat().st_size > 100


def test_two_reports_are_compared_with_the_form(opened):
    page = opened("/rocketmq-capacity/difference")
    page.get_by_label("Before").select_option(f"plans/{BEFORE}")
    page.get_by_label("After").select_option(f"plans/{AFTER}")
    page.get_by_role("button", name="Compare").click()

    assert page.get_by_role("heading", name="Loads").is_visible()
    assert page.get_by_text(HOSTILE).count() >= 1
    assert page.complaints == []


def test_the_tab_of_a_run_shows_its_reports(opened, server):
    run_id = airflow_run_id_of(LAST).replace("scheduled", "manual")
    body = {"dag_run_id": run_id, "logical_date": None, "run_after": LAST.isoformat()}
    server.call("POST", "/api/v2/dags/rocketmq_capacity_plan/dagRuns", body, server.token("admin"))
    page = opened(f"/dags/rocketmq_capacity_plan/runs/{run_id}")

    # The tab comes after the navigation's entry of the same name.
    page.locator("a[href$='/plugin/rocketmq-capacity-reports']").click()

    tab = page.frame_locator("iframe[title='Capacity']")
    tab.get_by_text("This run has published no report.").wait_for()
    assert tab.get_by_text(run_id).is_visible()


def test_a_report_alone_keeps_its_style_and_says_who_approved(opened):
    page = opened(f"/rocketmq-capacity/{PAGES['report']}report.html")

    assert page.complaints == []
    assert page.locator("#approval").get_by_text("Approved by").is_visible()
    assert page.evaluate("getComputedStyle(document.querySelector('.layout')).display") == "grid"
    assert page.evaluate("self.origin") == "null"


def test_the_keyboard_reaches_the_content_at_once(opened):
    page = opened("/rocketmq-capacity/")

    page.keyboard.press("Tab")
    assert page.locator(":focus").inner_text() == "Skip to the content"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.locator(":focus").get_attribute("id") == "kind"


@pytest.mark.parametrize(
    "path",
    [
        "reports/plans/../../../etc/passwd",
        f"reports/plans/{CLUSTER}/../../secret/plan.json",
        f"reports/plans/{CLUSTER}/{AFTER}/../inventory.json",
        f"reports/plans/{CLUSTER}/{AFTER}/..%2finventory.json",
        f"reports/plans/{CLUSTER}/{AFTER}/%2e%2e/inventory.json",
        "style.css/../../../../etc/passwd",
    ],
)
def test_a_path_that_no_client_has_tidied_leads_nowhere(server, path):
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=ANSWERS_WITHIN_S)
    headers = {"Authorization": f"Bearer {server.token('admin')}"}
    connection.request("GET", f"{PREFIX}/rocketmq-capacity/{path}", headers=headers)  # sent as it is

    assert connection.getresponse().status == 404
    connection.close()


def test_the_lake_of_this_test_is_the_one_that_is_shown(opened, server):
    page = opened("/rocketmq-capacity/?kind=plans")

    assert page.get_by_role("status").inner_text().startswith("63 reports of 1 cluster")


def test_a_what_if_of_two_changes_is_tried_with_clicks_after_a_typo_was_refused(as_admin, server):
    as_admin.goto(f"{server.url}/dags/rocketmq_what_if")
    as_admin.get_by_role("button", name="Trigger").first.click()
    dialog = as_admin.get_by_role("dialog")
    dialog.get_by_role("button", name="What changes", exact=True).click()
    assert "lose_broker, broker_name: broker-a" in dialog.locator("#element_scenario").input_value()
    with as_admin.expect_popup() as opened:
        dialog.get_by_role("link", name="Choose changes from lists instead").click()
    page = opened.value

    def add(title, **told):
        page.locator("summary", has_text=title).click()
        fields = page.locator("details[open]")
        expect(fields).to_have_count(1)
        for label, text in told.items():
            fields.get_by_label(label.replace("_", " ")).fill(text)
        fields.get_by_role("button", name="Add").click()

    add("Lose broker", Broker="brokr-b")
    page.get_by_text("Change 1, Broker: is 'brokr-b', which is not there; the nearest broker is 'broker-b'").wait_for()
    fields = page.locator("details[open]")
    offered = fields.get_by_label("Broker").evaluate("field => Array.from(field.list.options, one => one.value)")
    assert offered == ["broker-a", "broker-b", "room1@broker-c"]
    fields.get_by_label("Broker").fill(offered[1])
    fields.get_by_role("button", name="Add").click()
    page.get_by_role("button", name="Remove Lose broker: broker-b").wait_for()
    add("Add clients", Consumer_group="notifier", Number_of_clients="2")
    page.get_by_role("button", name="Try them").click()
    page.get_by_role("heading", name="Trying").wait_for()

    (run,) = server.ask("/api/v2/dags/rocketmq_what_if/dagRuns")["dag_runs"]
    assert run["triggering_user_name"] == "admin"
    assert "change: lose_broker\n  broker_name: broker-b\n- change: add_clients" in run["conf"]["scenario"]
    page.get_by_role("link", name="The run in Airflow").click()
    page.get_by_text("manual__what-if-").first.wait_for()


def test_the_pages_are_as_dark_as_airflows_own_switch_says(browser, server):
    context = new_window(browser, viewport=DESKTOP, color_scheme="null", reduced_motion="reduce")
    context.add_cookies([{"name": "_token", "value": server.token("admin"), "url": server.url}])
    page = context.new_page()
    page.goto(f"{server.url}/plugin/rocketmq-capacity{PREFIX}/rocketmq-capacity/{PAGES['report']}")
    around = page.frame_locator("iframe[title='Capacity']")
    report = around.frame_locator("iframe[title='The report']")
    report.locator("#first").wait_for()

    for appearance, is_dark in (("Dark Mode", True), ("Light Mode", False)):
        page.get_by_role("button", name="User").click()
        page.get_by_role("menuitem", name="Appearance").click()
        page.get_by_role("menuitemradio", name=appearance).click()
        page.keyboard.press("Escape")
        for frame in (around, report):
            colour = "rgb(14, 20, 26)" if is_dark else "rgb(244, 246, 248)"
            expect(frame.locator("body")).to_have_css("background-color", colour, timeout=PATIENCE_S * 1000)
    context.close()


@pytest.fixture
def as_admin(browser, server):
    """A window of somebody who may trigger Dags."""
    context = new_window(browser, viewport=DESKTOP, reduced_motion="reduce")
    context.add_cookies([{"name": "_token", "value": server.token("admin"), "url": server.url}])
    yield context.new_page()
    context.close()


def test_a_risk_is_accepted_with_clicks_inside_airflow_by_who_may(as_admin, server):
    until = (datetime.now(UTC) + timedelta(days=30)).date().isoformat()
    as_admin.goto(f"{server.url}/plugin/rocketmq-capacity{PREFIX}/rocketmq-capacity/{PAGES['report']}")
    page = as_admin.frame_locator("iframe[title='Capacity']")
    page.get_by_text("Accept a risk").click()
    cause = page.locator(".accepting > .cause").first
    cause.locator("summary").click()
    form = cause.locator("form")
    wanted = form.get_by_role("checkbox").count()
    form.get_by_role("button", name="Accept").click()
    form.locator(":focus:invalid").wait_for()  # the browser itself asks why
    form.get_by_label("Why").fill(f"a rollout {HOSTILE}")
    form.get_by_label("Until").fill(until)
    form.get_by_role("button", name="Accept").click()
    page.get_by_role("heading", name="Accepting").wait_for()

    runs = server.ask("/api/v2/dags/rocketmq_capacity_accept/dagRuns")["dag_runs"]
    assert len(runs) == wanted > 0
    assert {run["triggering_user_name"] for run in runs} == {"admin"}
    for run in runs:
        told = (run["conf"]["cluster"], run["conf"]["why"], run["conf"]["until"])
        assert told == (CLUSTER, f"a rollout {HOSTILE}", until)
    assert "owned" not in as_admin.title()
    page.get_by_role("link", name="The run in Airflow").first.click()
    page.get_by_text("manual__accept-").first.wait_for()


@pytest.mark.parametrize("name", ["report", "what-if form"])
@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"])
def test_axe_finds_nothing_to_complain_of_in_the_forms(browser, server, name, scheme, viewport):
    context = new_window(browser, viewport=viewport, color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    context.add_cookies([{"name": "_token", "value": server.token("admin"), "url": server.url}])
    page = context.new_page()
    page.goto(f"{server.url}/rocketmq-capacity/{PAGES.get(name, 'what-if')}")
    # Those of one name close one another.
    page.evaluate("for (const d of document.querySelectorAll('details')) { d.removeAttribute('name'); d.open = true }")

    assert page.locator("details form").count() > 5
    found = Axe().run(page, options={"resultTypes": ["violations"], "iframes": False}).response["violations"]
    assert [(v["id"], v["nodes"][0]["html"], v["nodes"][0]["failureSummary"]) for v in found] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]
    context.close()
