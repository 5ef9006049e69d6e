"""The page and the summary in Chinese: the same plan, names and commands as in English."""

import re

from rich.console import Console

from rocketmq_capacity.report import html
from rocketmq_capacity.report.summary import print_summary
from rocketmq_capacity.settings.policy import Policy
from tests.report.from_rows import beside_of, plan_of
from tests.report.made_scenario import a_scenario
from tests.report.page_reader import elements, read_page
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows

HAN = re.compile("[\u4e00-\u9fff]")


def page(rows, language, scenario=None):
    return html.render_report(plan_of(rows, scenario=scenario), beside_of(rows), language)


def test_the_page_is_of_its_language_and_the_next_one_of_its_own():
    rows = sample_rows()
    assert read_page(page(rows, "zh-CN")).get("lang") == "zh-CN"
    assert page(rows, "en") == html.render_report(plan_of(rows), beside_of(rows))
    assert not HAN.search(page(rows, "en"))


def test_headings_labels_and_table_heads_are_chinese():
    tree = read_page(page(varied_rows(18), "zh-CN", a_scenario()))
    heads = [
        head
        for tag in ("h2", "h5", "th", "caption", "legend", "summary")
        for head in elements(tree, tag)
        if (text := "".join(head.itertext())).strip() and not HAN.search(text) and head.find(".//{*}code") is None
    ]
    shown = {"".join(head.itertext()).strip() for head in heads if head.get("scope") != "row"}
    english = {text for text in shown if re.search("[a-z]{3}", text) and not re.fullmatch(r"\S+|\S+ \(.*\)", text)}
    assert english == {"client addr"}  # which the rows have made up


def test_names_commands_ids_and_links_are_the_same_in_both():
    rows = varied_rows(18)
    for tag in ("code", "pre", "time"):
        both = [
            [
                ("".join(one.itertext()) if tag != "time" else one.get("datetime"))
                for one in elements(read_page(text), tag)
            ]
            for text in (page(rows, "en"), page(rows, "zh-CN"))
        ]
        assert sorted(both[0]) == sorted(both[1])
    ids = [sorted(re.findall(r' id="([^"]+)"', page(rows, language))) for language in ("en", "zh-CN")]
    assert ids[0] == ids[1]


def test_a_group_that_has_a_word_of_the_page_as_its_name_keeps_it():
    rows = sample_rows()
    for name in ("none", "Queues", "unknown", "Broker", "Summary"):
        renamed = read_page(page(_with_group(rows, name), "zh-CN"))
        assert name in {"".join(one.itertext()) for one in elements(renamed, "code")}


def test_invisible_characters_of_names_are_written_out_in_both():
    rows = _with_group(sample_rows(), "g\u202epay\u2028x")
    for language in ("en", "zh-CN"):
        assert not re.search("[\u202e\u2028]", page(rows, language))


def _with_group(rows, name):
    def renamed(value):
        if isinstance(value, dict):
            return {key: renamed(held) for key, held in value.items()}
        if isinstance(value, list):
            return [renamed(held) for held in value]
        return name if value == "g_pay" else value

    return renamed(rows)


def test_the_policy_has_the_language_and_english_is_the_default():
    assert Policy().language == "en"
    assert Policy.model_validate({"language": "zh-CN"}).language == "zh-CN"


def test_the_summary_of_the_command_line_is_chinese(tmp_path):
    rows = varied_rows(18)
    rows["cluster"][0]["cluster_name"] = "shop"  # a word that may also be one of a sentence
    console = Console(width=100, record=True, file=(tmp_path / "out").open("w"))
    print_summary(plan_of(rows), tmp_path / "report.html", console, "zh-CN")
    told = console.export_text()
    assert "集群 shop，2026 年 11 月 20 日 02:00:00 UTC" in told
    assert "完整读取的队列：97.2 %" in told
    assert re.search(r"消费组：18（\d+ 消费者不足、\d+ 合适、\d+ 多于所需、\d+ 无法判断）", told)
    line = next(line for line in told.splitlines() if "ORPHAN_QUEUE" in line)
    assert re.fullmatch(r"严重 +ORPHAN_QUEUE +无人读取的队列 +\d+", line)
