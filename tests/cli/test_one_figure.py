"""One figure for one thing: what the sample's files say of it in several places is the same in all of them."""

import json
import re
from collections import Counter
from pathlib import Path

import msgspec
import pytest

from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.report.difference import difference
from rocketmq_capacity.report.figures import per_cent
from rocketmq_capacity.report.summary_file import PlanSummary, read_summary
from tests.cli.planned import Planned, plain_sample
from tests.report.page_reader import Element, by_id, cells_of, elements, read_page, text_of, with_class

README = Path(__file__).parents[2] / "README.md"
GROUP, CLIENTS, NEEDED, SPARE, BUSY = "Group", "Clients", "Needed", "Can give back", "Busy now"


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    return plain_sample(tmp_path_factory)


@pytest.fixture(scope="module")
def page(sample: Planned) -> Element:
    return read_page((sample.folder / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def summary(sample: Planned) -> PlanSummary:
    return read_summary(sample.folder / "summary.json")


@pytest.fixture(scope="module")
def groups(page: Element) -> dict[str, dict[str, str]]:
    """The table of all groups: by group and title of the column."""
    (table,) = with_class(page, "groups")
    titles, *rows = cells_of(table)
    return {row[0]: dict(zip(titles, row, strict=True)) for row in rows}


def sections(page: Element) -> dict[str, dict[str, str]]:
    """The facts of each group in detail, by title."""
    return {
        text_of(elements(one, "code")[0]): {
            text_of(elements(fact, "dt")[0]): text_of(elements(fact, "dd")[0])
            for facts in with_class(one, "facts")
            for fact in facts
        }
        for one in with_class(page, "group")
    }


def test_causes_are_as_many_on_the_page_as_in_list_trend_and_summary(
    sample: Planned, page: Element, summary: PlanSummary
) -> None:
    total = len(sample.plan.causes)
    counted = Counter(cause.severity for cause in sample.plan.causes)

    assert summary.cause_counts == {name: counted[name] for name in ("CRITICAL", "WARNING", "INFO")}
    assert text_of(by_id(page, "first")).endswith(str(total))
    links = [text_of(link) for link in elements(page, "a") if link.get("href") == "#first"]
    assert f"What to do {total}" in links
    (card,) = [text_of(one) for one in with_class(page, "card") if text_of(one).startswith("Causes")]
    assert re.findall(r"[0-9]+", card)[:4] == list(map(str, (total, *summary.cause_counts.values())))
    assert f"explain {len(sample.plan.findings)} findings" in card


def test_findings_are_as_many_in_the_comparison_as_in_the_summary(sample: Planned, summary: PlanSummary) -> None:
    plan = msgspec.json.decode((sample.folder / "plan.json").read_bytes(), type=Plan)
    same = difference(plan, plan).findings

    assert len(same.still) == sum(summary.findings.values()) + summary.accepted == len(sample.plan.findings)


def test_a_group_has_one_number_of_clients_that_it_needs(
    sample: Planned, page: Element, groups: dict[str, dict[str, str]]
) -> None:
    (table,) = with_class(page, "savings")
    savings = {row[0]: row[1:4] for row in cells_of(table)[1:]}
    told = sections(page)
    advised = {
        one.consumer_group: str(one.after["clients"])
        for one in sample.plan.recommendations
        if one.action == "SCALE_CONSUMERS"
    }

    giving = {
        name: [row[CLIENTS], row[NEEDED], row[SPARE]] for name, row in groups.items() if row[SPARE] not in "0\u2013"
    }
    assert giving == savings != {}
    assert advised.items() <= {name: row[NEEDED] for name, row in groups.items()}.items()
    for name, facts in told.items():
        row = groups[name]
        assert (facts["Clients needed"], facts["Can give back"]) == (row[NEEDED], row[SPARE])
        sizes = [text_of(one) for one in elements(page, "table") if text_of(one).startswith(f"What if {name} had")]
        assert all(f"{row[NEEDED]} client" in size and "needed)" in size for size in sizes)


def test_a_utilisation_is_the_same_in_every_place(
    sample: Planned, page: Element, groups: dict[str, dict[str, str]], summary: PlanSummary
) -> None:
    known = {one.consumer_group: one.utilisation for one in sample.plan.groups if one.utilisation is not None}

    assert {name: per_cent(one.estimate) for name, one in known.items()} == {
        name: row[BUSY] for name, row in groups.items() if row[BUSY] != "\u2013"
    }
    for name, facts in sections(page).items():
        assert facts["Utilisation of the busiest client"].startswith(groups[name][BUSY])
    assert summary.utilisation == max(one.estimate for one in known.values())
    busiest = per_cent(summary.utilisation)
    written = (sample.folder / "report.html").read_text(encoding="utf-8")
    assert set(re.findall(r"(?<![0-9.,])[0-9]{3}(?:[.][0-9]+)? %", written)) - {"100 %"} == {busiest}


def test_a_group_that_is_right_says_which_client_is_left_out_of_that(
    sample: Planned, groups: dict[str, dict[str, str]]
) -> None:
    sick = {one.consumer_group for one in sample.plan.findings if one.rule == "CLIENT_OUTLIER"}

    told = {name: row["Provision"] for name, row in groups.items() if "but for" in row["Provision"]}
    assert told == dict.fromkeys(sick, "Rightbut for its busiest client") != {}  # parted by a line break


def test_the_readme_and_each_file_have_the_same_groups_and_clients(
    sample: Planned, groups: dict[str, dict[str, str]], summary: PlanSummary
) -> None:
    number = len(sample.plan.groups)
    capacity = json.loads((sample.folder / "capacity.json").read_bytes())
    clients = sum(one.connections for one in sample.plan.groups)

    assert f"the recorded sample: {number} groups, {clients} clients" in README.read_text(encoding="utf-8")
    assert (len(groups), summary.groups, len(capacity["groups"])) == (number,) * 3
    assert f"{number} groups" in sample.said
