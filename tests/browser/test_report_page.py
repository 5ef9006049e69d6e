"""The report as a browser shows it: accessible, quiet, readable at every width."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import pytest
from axe_playwright_python.sync_playwright import Axe

from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.settings.policy import Policy
from tests.browser.chromium import DESKTOP, PHONE, new_window
from tests.report.from_rows import beside_of, page_of, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.row_builders import a_cluster, a_finding, a_group, a_recommendation
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows
from tests.report.view.test_client_costs import a_cost, a_pool, with_costs

pytestmark = pytest.mark.browser
WIDTHS = [360, 390, 768, 1000, 1280, 1920]
HEIGHT_PX = 12 * 900
"""How tall the sample's page may be, with all folded as it opens: twelve screens."""
CUT = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
RIGHT = "all => Math.max(...all.map(e => e.getBoundingClientRect().right))"
FIRST_DAY = datetime(2026, 11, 11, tzinfo=UTC)
TAB_STOPS = 80
PAGES = 12
"""Of paper, for the sample."""
FLEET_BYTES = 5_000_000
SHOWN_AFTER_S = 1.0
"""Of the processor, whatever else runs on the machine."""


def rows_with_days():
    """Groups with nine days of samples, as many messages as have room at an axis."""
    rows = varied_rows(7)
    rows["group_hour"] = [
        {
            "consumer_group": status["consumer_group"],
            "at": f"{FIRST_DAY + timedelta(hours=hour):%Y-%m-%dT%H:%M:%SZ}",
            "msgs_per_s": 1_000.0 * (1 + hour % 24),
            "most_msgs_per_s": 5_000.0 * (1 + hour % 24),
            "most_lag": 1_000_000 * hour,
            "clients": 3 + hour % 2,
        }
        for status in rows["group_status"]
        for hour in range(9 * 24)
    ]
    return rows


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """A page with everything on it: findings, manual recommendations, a what-if, charts; axe takes long over more."""
    rows = rows_with_days()
    rows["recommendation"].append(a_recommendation(is_manual=True, commands=["# mqadmin updateTopic -t pay"]))
    path = tmp_path_factory.mktemp("report") / "report.html"
    path.write_text(page_of(rows, scenario=a_scenario()), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def chinese(tmp_path_factory):
    """The same page in Chinese."""
    rows = rows_with_days()
    plan = plan_of(rows, scenario=a_scenario())
    path = tmp_path_factory.mktemp("chinese") / "report.html"
    path.write_text(render_report(plan, beside_of(rows), "zh-CN"), encoding="utf-8")
    return path.as_uri()


@pytest.fixture(scope="module")
def sample(sample_plan):
    """The page of the recorded cluster, as the command makes it."""
    return (sample_plan / "report.html").as_uri()


@pytest.mark.parametrize(("scheme", "viewport"), [("light", DESKTOP), ("dark", PHONE)], ids=["light", "dark-phone"])
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


def at_each_width(page):
    """The page at one width after the other; its layout goes by the width alone, so it need not load again."""
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        yield width


def test_no_width_cuts_anything_or_makes_the_page_scroll_sideways(opened, report):
    page = opened(report)
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    for width in at_each_width(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert page.locator("table.stack, .cards, .cause > summary, main > section").evaluate_all(CUT) == 0, width
        assert page.locator(".scroll").evaluate_all(CUT) == 0, width
        assert page.locator("table.stack").evaluate_all(RIGHT) <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_the_chinese_page_is_cut_nowhere_on_screen_and_on_paper(opened, chinese, width):
    page = opened(chinese, viewport={"width": width, "height": 900})
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    assert page.evaluate("document.documentElement.lang") == "zh-CN"
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("table.stack, .cards, .cause > summary, main > section").evaluate_all(CUT) == 0
    page.set_viewport_size({"width": 718, "height": 900})
    page.emulate_media(media="print")
    assert page.locator("table:visible, pre:visible, svg:visible").evaluate_all(RIGHT) <= 718
    assert page.complaints == []


def test_tables_of_long_names_and_large_figures_fit_the_page(opened, tmp_path):
    much = {"pulls_per_s_lower": 380_200.5, "pulls_per_s_upper": 12_136_000.0, "waiting_pops": None}
    names = ["room1@broker-with-a-name", "broker-b"]
    rows = with_costs(
        *(a_cost(name, **much, pops_per_s_upper=None) for name in names),
        pools=[a_pool("sendMessageThreadPoolNums", 21.43, name) for name in names],
    )
    groups = [
        a_group(
            f"payment_settlement_of_region_{number}",
            provision_status="UNDER_PROVISIONED",
            utilisation=286.765,
            utilisation_lower=286.765,
            utilisation_upper=286.765,
            current_strategy="MACHINE_ROOM_NEARBY",
        )
        for number in range(3)
    ]
    path = tmp_path / "report.html"
    path.write_text(page_of(rows | {"group_status": groups}), encoding="utf-8")
    page = opened(path.as_uri())

    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.locator("td.pool").count() == 2
    assert page.locator("table.groups tbody tr").count() == 3
    for width in at_each_width(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


NAMES = re.compile(r"(?<![\w-])(g_\w+|\w+_events|broker-\w|room1@broker-\w)(?![\w-])")


def with_long_names(value):
    """The same rows with the names of groups, topics and brokers longer, by letters without a break."""
    if isinstance(value, str):
        return NAMES.sub(lambda name: name[0] + "x" * 120, value)
    if isinstance(value, dict):
        return {key: with_long_names(item) for key, item in value.items()}
    return [with_long_names(item) for item in value] if isinstance(value, list) else value


def test_names_without_a_break_make_no_page_scroll_sideways(opened, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page_of(with_long_names(rows_with_days())), encoding="utf-8")
    page = opened(path.as_uri())
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    assert "x" * 120 in page.locator(".cause .title").first.inner_text()
    for width in at_each_width(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_the_cards_fill_their_rows(opened, report):
    page = opened(report)

    for width in at_each_width(page):
        tops = page.locator(".card").evaluate_all("all => all.map(e => Math.round(e.getBoundingClientRect().top))")
        assert set(Counter(tops).values()) in ({4}, {2}, {1}), width


def test_the_samples_page_is_short_and_what_must_change_fits_a_screen(opened, sample):
    page = opened(sample)

    assert page.evaluate("document.documentElement.scrollHeight") <= HEIGHT_PX
    first = page.locator("section[aria-labelledby=first]")
    urgent = first.locator(":scope > .cause:not(.info)")
    assert urgent.count() > 5
    top = first.evaluate("e => e.getBoundingClientRect().top")
    assert urgent.last.evaluate("e => e.getBoundingClientRect().bottom") - top <= DESKTOP["height"]


@pytest.mark.parametrize("width", [390, 1280])
def test_every_chart_and_table_of_the_sample_fits_its_box(opened, sample, width):
    page = opened(sample, viewport={"width": width, "height": 900})
    page.evaluate("for (const d of document.querySelectorAll('details')) d.open = true")

    assert page.locator(".scroll").evaluate_all(CUT) == 0
    # A chart is as large as it was drawn: its letters are not smaller than those around it.
    small = "all => all.filter(e => e.getBoundingClientRect().width < 0.9 * e.getAttribute('width')).length"
    assert page.locator(".chart:not(.heat):visible").evaluate_all(small) == 0


def test_the_samples_page_has_few_stops_for_the_keyboard(opened, sample):
    page = opened(sample)
    seen = []
    for _ in range(TAB_STOPS + 1):
        page.keyboard.press("Tab")
        seen.append(page.evaluate("[document.activeElement.tagName, document.activeElement.outerHTML.slice(0, 99)]"))
        if seen[-1][0] == "BODY":
            break

    assert seen[-1][0] == "BODY", seen[-1]


@pytest.mark.parametrize("paper", ["A4", "Letter"])
def test_the_sample_prints_on_few_pages(opened, sample, paper):
    pdf = opened(sample).pdf(format=paper)

    assert len(re.findall(rb"/Type\s*/Page\b", pdf)) <= PAGES


@pytest.mark.parametrize("width", [718, 740], ids=["A4", "Letter"])
def test_paper_has_every_column_and_every_command(opened, sample, width):
    page = opened(sample, viewport={"width": width, "height": 900})
    page.emulate_media(media="print")

    assert page.locator("table:visible, pre:visible, svg:visible").evaluate_all(RIGHT) <= width
    columns = page.locator("table.groups thead th").evaluate_all("all => all.map(e => e.getBoundingClientRect().width)")
    assert min(columns) > 20
    # Fixed lists of queues are no commands, and stay folded, as what is only for information.
    commands = "section[aria-labelledby=first] .cause:not(.info) pre:not(details.deep pre)"
    assert page.locator(commands).count() > 0
    assert page.locator(f"{commands}:visible").count() == page.locator(commands).count()


def a_fleet(copies):
    """A hundred groups, and so many copies of them with names of their own."""
    once = varied_rows(100, is_complete=True)
    many = {name: [_renamed(row, f"-{copy}") for copy in range(copies) for row in rows] for name, rows in once.items()}
    return many | {name: once[name] for name in ("cluster", "run_before")}


def _renamed(row, end):
    names = {name: row[name] + end for name in ("id", "consumer_group", "topic") if row.get(name) is not None}
    return row | names | ({"topics": [topic + end for topic in row["topics"]]} if "topics" in row else {})


@pytest.mark.slow
def test_the_page_of_ten_thousand_groups_is_small_and_shows_itself_at_once(opened, tmp_path):
    path = tmp_path / "report.html"
    path.write_text(page_of(a_fleet(100)), encoding="utf-8")
    assert path.stat().st_size <= FLEET_BYTES

    page = opened("about:blank")  # the browser itself has started
    session = page.context.new_cdp_session(page)
    session.send("Performance.enable", {"timeDomain": "threadTicks"})
    page.goto(path.as_uri())
    page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length", timeout=300_000)

    metrics = {one["name"]: one["value"] for one in session.send("Performance.getMetrics")["metrics"]}
    assert 0 < metrics["TaskDuration"] <= SHOWN_AFTER_S
    assert page.get_by_text(re.compile(r"9,500 more groups are in plan\.json")).count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_inside_a_frame_the_page_is_as_dark_as_what_is_around_it(browser, report, tmp_path, scheme):
    around = tmp_path / "around.html"
    around.write_text(
        f'<!doctype html><html style="color-scheme: {scheme}"><iframe sandbox src="{report}"></iframe></html>'
    )
    context = new_window(browser, color_scheme="null")
    page = context.new_page()
    page.goto(around.as_uri())

    colour = page.frames[1].locator("body").evaluate("e => getComputedStyle(e).backgroundColor")
    context.close()
    assert (colour == "rgb(14, 20, 26)") is (scheme == "dark")


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


def test_a_link_to_a_cause_opens_it(opened, report):
    page = opened(report)
    link = page.locator(".group a[href^='#cause-']").first
    target = link.get_attribute("href")

    assert not page.locator(target).is_visible()
    link.click()

    assert page.locator(target).is_visible()
    assert page.locator(target).locator("xpath=../summary").evaluate("e => e.getBoundingClientRect().top") >= 0


def test_the_causes_and_groups_of_one_owner_can_be_shown_alone(opened, tmp_path):
    path = tmp_path / "report.html"
    policy = Policy.model_validate({
        "groups": [{"match": "^g_pay", "owner": "li"}, {"match": "^g_stock", "owner": "wu"}]
    })
    rows = {
        "cluster": [a_cluster()],
        "group_status": [a_group("g_pay"), a_group("g_stock")],
        "finding": [a_finding(consumer_group=name, severity="WARNING") for name in ("g_pay", "g_stock")],
    }
    path.write_text(page_of(rows, policy=policy), encoding="utf-8")
    page = opened(path.as_uri())

    def shown():
        return {
            name
            for name in ("g_pay", "g_stock")
            for one in page.locator(".owned", has_text=name).all()
            if one.is_visible()
        }

    assert shown() == {"g_pay", "g_stock"}
    page.get_by_label("wu").check()
    assert shown() == {"g_stock"}
    page.get_by_label("without an owner").check()
    assert shown() == set()
    page.get_by_label("everybody").check()
    assert shown() == {"g_pay", "g_stock"}


def test_a_phone_shows_each_figure_of_a_group_beside_its_label(opened, sample):
    page = opened(sample, viewport=PHONE)
    heights = page.locator("table.groups td[data-label]").evaluate_all(
        """cells => cells.map(cell => [
            cell.dataset.label,
            cell.innerText.trim(),
            cell.getBoundingClientRect().height / parseFloat(getComputedStyle(cell).lineHeight),
        ])"""
    )

    short = [(label, text, height) for label, text, height in heights if len(text) <= len("Too few consumers")]
    assert len(short) > 100
    assert [cell for cell in short if cell[2] >= 2] == []


def test_charts_follow_the_colours_of_light_and_dark(opened, report):
    def colours(scheme):
        bar = opened(report, scheme=scheme).locator("svg.chart path[fill='var(--bar)']").first
        return bar.evaluate("e => getComputedStyle(e).fill")

    assert colours("light") != colours("dark")


def test_a_print_shows_what_the_screen_keeps_folded(opened, report):
    page = opened(report)
    page.emulate_media(media="print")

    assert page.locator("nav").is_hidden()
    heights = page.locator(".cause.critical > .body").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect().height)"
    )
    assert heights
    assert min(heights) > 0
