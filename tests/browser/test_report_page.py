"""The report as a browser shows it: accessible, quiet, readable at every width."""

import re

import pytest
from axe_playwright_python.sync_playwright import Axe

from tests.browser.chromium import running_browser
from tests.report.from_rows import page_of
from tests.report.row_builders import a_finding, a_recommendation
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import a_scenario, varied_rows

pytestmark = pytest.mark.browser
DESKTOP, PHONE = {"width": 1280, "height": 900}, {"width": 360, "height": 780}


@pytest.fixture(scope="module")
def browser():
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page with everything on it: findings, manual recommendations, a what-if, charts; axe takes long over more."""
    rows = varied_rows(7)
    rows["recommendation"].append(a_recommendation(is_manual=True, commands=["# mqadmin updateTopic -t pay"]))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_of(rows, scenario=a_scenario()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture
def opened(browser):
    """Opens a page in a window of its own and gives it with all that it asked for and complained of."""
    contexts = []

    def open_page(url, *, viewport=DESKTOP, scheme="light", bypass_csp=False):
        context = browser.new_context(
            viewport=viewport, color_scheme=scheme, bypass_csp=bypass_csp, reduced_motion="reduce"
        )
        contexts.append(context)
        page = context.new_page()
        page.asked, page.complaints = [], []
        page.on("request", lambda request: page.asked.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(url)
        return page

    yield open_page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_to_complain_of(opened, report, scheme, viewport):
    page = opened(report, viewport=viewport, scheme=scheme, bypass_csp=True)  # axe is a script, which the page forbids
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")
    page.add_style_tag(content=".group { content-visibility: visible !important }")

    violations = Axe().run(page, options={"resultTypes": ["violations"]}).response["violations"]

    assert [(v["id"], v["nodes"][0]["html"], v["nodes"][0]["failureSummary"]) for v in violations] == []


def test_the_page_asks_for_nothing_and_nothing_is_refused(opened, report):
    page = opened(report)

    assert page.asked == [report]
    assert page.complaints == []


@pytest.mark.parametrize(
    "viewport", [DESKTOP, PHONE, {"width": 768, "height": 900}], ids=["desktop", "phone", "tablet"]
)
def test_no_width_makes_the_page_scroll_sideways(opened, report, viewport):
    page = opened(report, viewport=viewport)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    assert page.evaluate("document.documentElement.scrollWidth") <= viewport["width"]


def test_hostile_names_run_nothing(opened, tmp_path):
    names = [
        "<script>document.title='owned'</script>",
        "<img src=x onerror=\"document.title='owned'\">",
        '"autofocus onfocus=1 x="',
    ]
    rows = sample_rows()
    for name in names:
        rows["finding"].append(a_finding(message=name, topic=name, subjects=[name], evidence={name: [name]}))
    for row in rows["client_load"][:3]:
        row["client_id"] = names[0]
    path = tmp_path / "report.html"
    path.write_text(page_of(rows), encoding="utf-8")

    page = opened(path.as_uri(), bypass_csp=True)  # what is escaped needs no policy to stop it

    assert page.title().startswith("Capacity plan of C1")
    assert page.asked == [path.as_uri()]
    assert page.complaints == []
    assert page.locator("main img, main script, [onerror], [onfocus]").count() == 0
    assert page.get_by_text(names[0]).count() > 1


def test_the_keyboard_reaches_the_content_at_once_and_its_place_is_seen(opened, report):
    page = opened(report)

    page.keyboard.press("Tab")
    skip = page.locator(":focus")
    assert skip.inner_text() == "Skip to the plan"
    assert skip.bounding_box()["x"] >= 0
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"


def test_findings_are_filtered_by_severity_without_a_script(opened, report):
    page = opened(report)
    total = page.locator(".finding:visible").count()
    critical = page.locator(".finding.critical").count()

    page.get_by_label(re.compile("^Critical")).focus()
    page.keyboard.press("Space")

    assert 0 < critical < total
    assert page.locator(".finding:visible").count() == critical
    assert page.locator(".rule:visible").count() < page.locator(".rule").count()


def test_a_link_to_a_finding_opens_it(opened, report):
    page = opened(report)
    link = page.locator(".group a[href^='#finding-']").first
    target = link.get_attribute("href")

    assert not page.locator(target).is_visible()
    link.click()

    assert page.locator(target).is_visible()
    assert page.locator(target).locator("xpath=../summary").evaluate("e => e.getBoundingClientRect().top") >= 0


def test_charts_follow_the_colours_of_light_and_dark(opened, report):
    def colours(scheme):
        bar = opened(report, scheme=scheme).locator("svg.chart path[fill='var(--bar)']").first
        return bar.evaluate("e => getComputedStyle(e).fill")

    assert colours("light") != colours("dark")


def test_a_print_shows_what_the_screen_keeps_folded(opened, report):
    page = opened(report)
    page.emulate_media(media="print")

    assert page.locator("nav").is_hidden()
    heights = page.locator(".finding .body").evaluate_all("all => all.map(e => e.getBoundingClientRect().height)")
    assert heights
    assert min(heights) > 0
