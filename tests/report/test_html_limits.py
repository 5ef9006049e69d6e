"""report.html of many groups: what it leaves out, and counts."""

import re

import pytest

from rocketmq_capacity.catalogue.rule import rules
from rocketmq_capacity.report import limits
from rocketmq_capacity.report.detail import worst_groups
from tests.report.from_rows import page_of, plan_of
from tests.report.page_reader import HTML, elements, inner_links, read_page, text_of, with_class
from tests.report.row_builders import a_finding, a_group, a_recommendation
from tests.report.sample_cluster import sample_rows
from tests.report.varied_cluster import varied_rows


@pytest.mark.slow
def test_a_big_cluster_lists_every_group_and_counts_what_it_leaves_out():
    groups = 1_000
    rows = varied_rows(groups)
    text = page_of(rows)
    tree = read_page(text)

    (table,) = with_class(tree, "groups")
    assert len(list(table.iter(f"{HTML}tr"))) == limits.GROUPS + 1
    assert len(with_class(tree, "group")) == limits.GROUPS_IN_DETAIL
    assert len(elements(tree, "figure")) == limits.CHARTS + 1
    plan = plan_of(rows)
    shown = [one for one in with_class(tree, "cause") if "fold" not in one.get("class").split()]
    hidden = [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) more of [\d,]+ (?:is|are) in", text)]
    hidden += [int(found.replace(",", "")) for found in re.findall(r"([\d,]+) more causes? (?:is|are) in", text)]
    assert len(shown) + sum(hidden) == len(plan.causes)
    assert f"{groups - limits.GROUPS:,} more groups are in plan.json" in text
    assert "further uneven groups have none" in text
    assert len(text) < 2_550_000


def test_a_huge_cluster_lists_the_groups_with_the_worst_findings_by_name_and_counts_the_others(monkeypatch):
    monkeypatch.setattr("rocketmq_capacity.report.view.page.GROUPS", 10)
    monkeypatch.setattr("rocketmq_capacity.report.detail.GROUPS_IN_DETAIL", 3)
    rows = varied_rows(18)
    worst = worst_groups(plan_of(rows))[:10]

    tree = read_page(page_of(rows))

    (table,) = with_class(tree, "groups")
    assert [text_of(row[0]) for row in table.iter(f"{HTML}tr")][1:] == list(worst)
    assert len(with_class(tree, "group")) == 3
    ids = {element.get("id") for element in tree.iter() if element.get("id")}
    assert inner_links(tree) <= ids
    told = " ".join(text_of(note) for note in with_class(tree, "more"))
    assert re.search(r"\b8 more groups\b", told)


def test_what_one_group_and_one_finding_say_is_bounded_however_much_there_is():
    names = [f"t{n:03}" for n in range(300)]
    rows = sample_rows()
    rows["group_status"] = [a_group(topics=names)]
    rows["finding"] = [
        a_finding(evidence={"queues": dict.fromkeys(names, 1)} | dict.fromkeys(names, 1)),
        *(a_finding("HOT_QUEUE", topic=name) for name in names),
    ]
    advice = a_recommendation("SCALE_CONSUMERS", topic=None)  # of the whole cluster: it stands first
    rows["recommendation"] = [advice, *(a_recommendation(id=name, topic=name) for name in names)]

    tree = read_page(page_of(rows))

    (group,) = with_class(tree, "group")
    assert len(elements(with_class(group, "plain")[0], "li")) == limits.CAUSES_A_GROUP
    assert len(with_class(tree, "cause")) <= 2 * limits.FOLDED_CAUSES + 2
    evidence = [one for one in elements(tree, "details") if one.get("class") == "deep"]
    assert all(len(elements(one, "dt")) <= 2 * limits.TABLE_ROWS + 1 for one in evidence)
    told = [text_of(note) for note in with_class(tree, "more")]
    for more in (300 - limits.FOLDED_CAUSES, 300 - limits.TABLE_ROWS, 301 - limits.TABLE_ROWS):
        assert any(note.startswith(f"{more} more") for note in told), more


def test_many_folded_lines_show_fewer_causes_each():
    rows = sample_rows()
    names = [rule for rule in rules() if rule != "SUSPECT_SNAPSHOT"][:25]
    rows["finding"] = [a_finding(rule, topic=f"t{number:02}") for rule in names for number in range(30)]
    rows["recommendation"] = []

    tree = read_page(page_of(rows))

    told = [text_of(note) for note in with_class(tree, "more")]
    left_out = [note.split()[0] for note in told if "of 30 are in" in note]
    more = 30 - limits.ALL_FOLDED_CAUSES // len(left_out)
    assert len(left_out) > limits.ALL_FOLDED_CAUSES / limits.FOLDED_CAUSES
    assert set(left_out) == {str(more)}
