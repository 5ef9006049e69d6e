"""The language of the pages: the browser's wish, else the deployment's, else English."""

import json
import re
from datetime import timedelta
from urllib.parse import urljoin

import pytest

from tests.plugins.stored_reports import CLUSTER, LAST, airflow_run_id_of, put, put_trial, rows_of, run_id_of
from tests.report.page_reader import HTML, elements, read_page, section, text_of, with_class
from tests.report.row_builders import a_finding

pytestmark = pytest.mark.airflow
ROOT = "/rocketmq-capacity/"
CHINESE = {"Accept-Language": "zh-CN,zh;q=0.9,en;q=0.8"}
BEFORE, AFTER = run_id_of(LAST - timedelta(days=1)), run_id_of(LAST)
PAGES = {
    "list": "",
    "found": f"?cluster={CLUSTER}&text=lose&from=2026-11-01",
    "nothing": "?text=nothing-is-called-so",
    "report": f"reports/plans/{CLUSTER}/{AFTER}/",
    "what-if": f"reports/what-ifs/{CLUSTER}/{run_id_of(LAST + timedelta(hours=3), 'manual')}/",
    "difference": f"difference?cluster={CLUSTER}&before=plans/{BEFORE}&after=plans/{AFTER}",
    "to a what-if": f"difference?cluster={CLUSTER}&before=plans/{AFTER}"
    f"&after=what-ifs/{run_id_of(LAST + timedelta(hours=3), 'manual')}",
    "choice": f"difference?cluster={CLUSTER}",
    "trend": f"trends/{CLUSTER}",
    "no trend": "trends/shop",
    "run": f"dag-runs/rocketmq_capacity_plan/{airflow_run_id_of(LAST)}",
    "no run": "dag-runs/rocketmq_capacity_plan/none",
    "other Dag": "dag-runs/rocketmq_capacity_what_if/none",
    "missing": "nothing/here",
    "refused": "?from=today",
}
HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")
FIGURE = re.compile(r"[\d,.]+( %)?|–")


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("zh-CN,zh;q=0.9,en;q=0.8", "zh-CN"),
        ("zh", "zh-CN"),
        ("zh-Hans-CN", "zh-CN"),
        ("zh-SG", "zh-CN"),
        ("zh-TW", None),
        ("zh-Hant-HK,en;q=0.5", "en"),
        ("zh-TW,zh;q=0.9,en-US;q=0.8", "zh-CN"),
        ("en-GB", "en"),
        ("de-DE, fr;q=0.9, ZH-cn;q=0.1", "zh-CN"),
        ("en;q=0.3, zh-CN;q=0.7", "zh-CN"),
        ("zh-CN;q=0, en;q=0.1", "en"),
        ("zh-CN;q=x", None),
        ("de", None),
        ("*", None),
        ("", None),
        (";;,,=;q", None),
        ("de," * 100_000 + "en", None),
    ],
)
def test_the_browsers_first_wish_that_the_pages_have_counts(api, header, language):
    from rocketmq_capacity_pages.chosen_language import wished_language

    assert wished_language(header) == language


def page_in(client, language, address):
    answer = client.get(urljoin(ROOT, address), headers={"Accept-Language": language})
    assert "Accept-Language" in answer.headers["Vary"].split(", ")
    tree = read_page(answer.text)
    assert tree.get("lang") == language
    return tree


def shown(tree):
    """What a reader sees or hears, without names: those are code, in a list to choose from, or of the scenario."""
    for element in tree.iter():
        if not isinstance(element.tag, str):
            continue
        own = None if element.tag == f"{HTML}code" or element.get("lang") else element.text
        for text in (own, element.tail, element.get("aria-label"), element.get("title")):
            if text:
                yield text.replace("lose broker-b", "")


@pytest.mark.parametrize("name", PAGES)
def test_a_chinese_page_has_no_english_text_of_its_own(viewer, name):
    texts = list(shown(page_in(viewer, "zh-CN", PAGES[name])))

    assert [text for text in texts if ENGLISH.search(text)] == []
    assert any(HAN.search(text) for text in texts)
    assert not any(HAN.search(text) for text in shown(page_in(viewer, "en", PAGES[name])))


@pytest.mark.parametrize("name", PAGES)
def test_names_numbers_and_links_are_the_same_in_both_languages(viewer, name):
    english, chinese = (page_in(viewer, language, PAGES[name]) for language in ("en", "zh-CN"))

    for tag, attribute in (
        ("a", "href"),
        ("option", "value"),
        ("time", "datetime"),
        ("input", "name"),
        ("form", "action"),
    ):
        assert [e.get(attribute) for e in elements(english, tag)] == [e.get(attribute) for e in elements(chinese, tag)]
    figures = [
        [text for one in with_class(tree, "n") if FIGURE.fullmatch(text := text_of(one))] for tree in (english, chinese)
    ]
    assert figures[0] == figures[1]
    names = [sorted(text_of(one) for one in elements(tree, "code")) for tree in (english, chinese)]
    assert names[0] == names[1]


def test_a_finding_of_the_plan_is_told_in_the_readers_language(api, own_lakes):
    known, unknown = "Nobody reads 2 of 6 queues: broker-a:0, broker-a:1.", "Nobody has ever said this."
    for ago, severity, message in ((1, "CRITICAL", known), (0, "WARNING", unknown)):
        rows = rows_of(LAST - timedelta(days=ago))
        rows["finding"] = [a_finding(severity=severity, message=message)]
        put(own_lakes[0], f"r{ago}", rows)
    address = f"difference?cluster={CLUSTER}&before=plans/r1&after=plans/r0"

    chinese, english = (page_in(api("viewer"), language, address) for language in ("zh-CN", "en"))

    assert "6 个队列中有 2 个无人读取：broker-a:0、broker-a:1。" in text_of(chinese)
    left = [text_of(one) for one in section(chinese, "findings").iter() if one.get("lang") == "en"]
    assert left == [unknown]
    assert known in text_of(english)


def test_a_comparison_says_a_sentence_by_the_key_that_its_plan_has_of_it(api, own_lakes):
    message = "Said in words that no catalogue has."
    for ago in (1, 0):
        rows = rows_of(LAST - timedelta(days=ago))
        rows["finding"] = [a_finding(severity="CRITICAL" if ago else "WARNING", message=message)]
        file = put(own_lakes[0], f"r{ago}", rows).report / "plan.json"
        plan = json.loads(file.read_bytes())
        plan["sentences"] = {message: [{"key": "Everything that was carried still is."}]}
        file.write_text(json.dumps(plan))

    chinese = page_in(api("viewer"), "zh-CN", f"difference?cluster={CLUSTER}&before=plans/r1&after=plans/r0")

    assert "原来承载的流量仍可全部承载。" in text_of(section(chinese, "findings"))
    assert message not in text_of(chinese)


def test_a_trial_tells_in_both_languages_what_it_tries(api, own_lakes):
    trial = put_trial(own_lakes[0]).folder.name
    address = f"reports/plans/{CLUSTER}/{trial}/"

    page = text_of(page_in(api("viewer"), "zh-CN", address))

    assert "试算，不是当日的规划：" in page
    assert "thresholds.HOT_QUEUE.peak 为 3.0，而不是 2.0" in page


def test_who_may_not_read_and_who_is_not_logged_in_are_told_in_their_language(api, lakes):
    stranger = page_in(api("stranger"), "zh-CN", f"reports/plans/{CLUSTER}/{AFTER}/")
    assert "您无权查看生成这些报告的 Dag。" in text_of(stranger)
    login = page_in(api(), "zh-CN", "")
    assert [text_of(link) for link in elements(login, "a")] == ["跳到正文", "登录"]


def test_the_forms_to_accept_a_risk_are_chinese_too(api, own_lakes):
    rows = rows_of(LAST)
    rows["finding"].append(
        a_finding(rule="ORPHAN_QUEUE", message="Nobody reads 2 of 6 queues: broker-a:0, broker-a:1.")
    )
    put(own_lakes[0], "r1", rows)
    admin, address = api("admin"), f"{ROOT}reports/plans/{CLUSTER}/r1/"
    ours = {"Sec-Fetch-Site": "same-origin", **CHINESE}

    page = read_page(admin.get(address, headers=ours).text)
    assert {text_of(one) for one in elements(page, "button")} == {"接受"}
    assert {text_of(label) for label in elements(page, "label")} >= {"原因", "截止日期（含当日，UTC）"}
    assert [text for text in shown(page) if ENGLISH.search(text)] == []

    wrong = read_page(admin.post(f"{address}accept", data={"why": " "}, headers=ours).text)
    assert [text_of(one) for one in wrong.iter() if one.get("role") == "alert"] == [
        "表单：缺少 finding；至少应选择一项"
    ]


def test_without_a_wish_the_deployments_policy_decides_and_a_wish_goes_before_it(api, lakes, tmp_path, monkeypatch):
    policy, viewer = tmp_path / "policy.yaml", api("viewer")
    monkeypatch.setenv("RMQC_POLICY", str(policy))
    answers = []
    for told in ("language: zh-CN\n", "language: en # again\n", "language: [", "{}", None):
        policy.unlink() if told is None else policy.write_text(told)
        answers.append(read_page(viewer.get(ROOT).text).get("lang"))

    assert answers == ["zh-CN", "en", "en", "en", "en"]
    policy.write_text("language: zh-CN\n")
    assert read_page(viewer.get(ROOT, headers={"Accept-Language": "de"}).text).get("lang") == "zh-CN"
    assert read_page(viewer.get(ROOT, headers={"Accept-Language": "en-GB,de"}).text).get("lang") == "en"


def test_the_page_to_try_a_change_is_chinese_with_every_change_and_field(api, lakes):
    told = {"start": "the recorded sample", "once": "1", "changes": "[]", "change": "lose_broker"}
    ours, address = {"Sec-Fetch-Site": "same-origin", **CHINESE}, f"{ROOT}what-if"
    admin = api("admin")

    page = read_page(admin.get(address, headers=ours).text)
    assert page.get("lang") == "zh-CN"
    assert len(elements(page, "details")) > 10
    assert [text_of(one) for one in page.iter() if one.get("lang") == "en"] == []
    assert [text for text in shown(page) if ENGLISH.search(text.replace("mqadmin setConsumeMode", ""))] == []
    added = read_page(admin.post(address, data=told | {"press": "add", "broker_name": "broker-b"}, headers=ours).text)
    listed = [text_of(one) for one in elements(added, "li") if "broker-b" in text_of(one)]
    assert listed == ["失去 Broker：broker-b 移除 失去 Broker：broker-b"]
