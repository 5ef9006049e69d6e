"""What people open a report for, done with real clicks: on the recorded cluster and on one of 300 groups.

``pytest -rP`` shows the clicks and screens that each took.
"""

import dataclasses
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rocketmq_capacity import tables
from rocketmq_capacity.plan_file.plan import Plan
from rocketmq_capacity.plan_file.recommendation import PlanRecommendation
from rocketmq_capacity.report.detail import detailed_groups
from rocketmq_capacity.report.html import render_report
from rocketmq_capacity.report.limits import NAMED_IN_A_CELL
from rocketmq_capacity.report.losses import FailureLoss, GroupAfter, TopicAfter, losses_of
from rocketmq_capacity.report.plan import plan_of
from rocketmq_capacity.report.rows import PageRows
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.steps.reported_rows import records, rows_of_groups, rows_of_plan
from rocketmq_capacity.store.lake import Run
from tests.browser.reader import SCREEN, Reader
from tests.report import from_rows
from tests.report.varied_cluster import varied_rows

pytestmark = [pytest.mark.browser, pytest.mark.slow]
CLICKS, SCREENS = 3, 6
"""What a task may take."""
PAPER = {"sample": 12, "300 groups": 72}
"""Pages in print: of many groups the page has more sections."""
YESTERDAY = "2026-01-01T00:00:00Z"


@dataclass(frozen=True)
class Known:
    """A page, and what its reader is to find in it."""

    name: str
    address: str
    plan: Plan
    losses: tuple[FailureLoss, ...]


@pytest.fixture(scope="module", params=list(PAPER))
def known(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Known:
    """The sample's page, as if the worst cause were new today, or that of a made-up cluster."""
    if request.param == "sample":
        plan, beside = _of_sample(request.getfixturevalue("sample_plan"))
    else:
        rows = varied_rows(300)
        plan, beside = from_rows.plan_of(rows), from_rows.beside_of(rows)
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render_report(plan, beside), encoding="utf-8")
    return Known(request.param, path.as_uri(), plan, tuple(beside.losses))


def _of_sample(folder: Path) -> tuple[Plan, PageRows]:
    run = Run(folder)
    read = rows_of_plan(run)
    rows = dataclasses.replace(read, strategy_load=list(read.strategy_load))
    taken_at = rows.cluster[0].taken_at
    known = plan_of(rows, Policy())
    new = next(cause.findings for cause in known.causes if cause.findings)
    since = [
        tables.FindingSince(
            rule=one.rule,
            consumer_group=one.consumer_group,
            topic=one.topic,
            broker_name=one.broker_name,
            since=taken_at if one.id in new else YESTERDAY,
        )
        for one in sorted(known.findings, key=lambda one: one.id in new)
    ]
    names = tables.Finding.__struct_fields__
    before = [
        tables.FindingBefore(**{name: getattr(row, name) for name in names})
        for row in rows.finding
        if not any((row.rule, row.consumer_group, row.topic) == key for key in _keys(known, new))
    ]
    rows = dataclasses.replace(
        rows, finding_since=since, run_before=[tables.RunBefore(taken_at=YESTERDAY)], finding_before=before
    )
    plan = plan_of(rows, Policy())
    detailed = detailed_groups(plan)
    beside = PageRows(
        group_status=rows.group_status,
        client_load=rows_of_groups(run, tables.ClientLoad, detailed),
        group_size=rows_of_groups(run, tables.GroupSize, detailed),
        group_failure=rows_of_groups(run, tables.GroupFailure, detailed),
        losses=losses_of(records(run, tables.GroupFailure, GroupAfter), records(run, tables.TopicFailure, TopicAfter)),
    )
    return plan, beside


def _keys(plan: Plan, ids: tuple[str, ...]) -> list[tuple[str, str | None, str | None]]:
    return [(one.rule, one.consumer_group, one.topic) for one in plan.findings if one.id in ids]


@pytest.fixture
def reader(opened: Callable[..., Any], known: Known) -> Iterator[Callable[[str], Reader]]:
    """Opens the page for a task, and tells in the end what it took."""
    readers = []

    def begins(task: str) -> Reader:
        readers.append(Reader(opened(known.address, viewport={"width": 1280, "height": SCREEN}), task))
        return readers[-1]

    yield begins
    for one in readers:
        print(f"{known.name}: {one.told()}")  # noqa: T201  # pytest -rP shows it
        assert one.clicks <= CLICKS
        assert len(one.places) <= SCREENS


def recommendations(plan: Plan, ids: tuple[str, ...]) -> list[PlanRecommendation]:
    by_id = {one.id: one for one in plan.recommendations}
    return [by_id[one] for one in ids]


def test_the_worst_cause_and_its_command_are_found(known: Known, reader: Callable[[str], Reader]) -> None:
    worst = known.plan.causes[0]
    command = next((one.commands[0] for one in recommendations(known.plan, worst.recommendations) if one.commands), "")
    person = reader("the worst cause and its command")
    first = person.page.locator("section[aria-labelledby=first] details.cause").first

    person.click(first.locator(":scope > summary"))
    if "fold" in str(first.get_attribute("class")).split():
        first = first.locator("details.cause").first
        person.click(first.locator(":scope > summary"))

    assert worst.message in first.inner_text()
    assert command in person.read(first.locator("pre").first if command else first.locator(".body"))


def test_a_choice_names_the_ids_that_an_answer_takes(known: Known, reader: Callable[[str], Reader]) -> None:
    person = reader("the ids of two alternatives")
    choice = person.page.locator("details.cause:not(.fold)").filter(has=person.page.locator("p.choice")).first

    if not choice.locator(":scope > summary").is_visible():
        person.click(choice.locator("xpath=ancestor::details[1]/summary"))
    person.click(choice.locator(":scope > summary"))
    person.look(choice.locator(".advice").nth(1))

    shown = {word for text in choice.locator(".advice .id").all_inner_texts() for word in re.findall(r"[^\s,]+", text)}
    assert any(len(shown & set(alternatives)) >= 2 for alternatives in known.plan.alternatives)


def test_the_page_says_what_the_loss_of_a_broker_would_do(known: Known, reader: Callable[[str], Reader]) -> None:
    worst = next(loss for loss in known.losses if loss.failure == "BROKER")
    person = reader("what a lost broker would do")

    person.click(person.page.get_by_role("navigation").get_by_role("link", name="If something fails"))
    card = person.read(person.page.locator("article.loss").filter(has_text=str(worst.lost)).first)

    assert f"nobody reads these {worst.lost_queues:,} queue" in card
    assert f"read again after at most {worst.read_again_s:g} s" in card
    assert all(name in card for names in worst.reasons.values() for name in names[:NAMED_IN_A_CELL])


def test_what_is_new_since_yesterday_is_found(known: Known, reader: Callable[[str], Reader]) -> None:
    changes = known.plan.changes
    assert changes is not None
    person = reader("what is new since yesterday, and its cause")
    section = person.page.locator("section[aria-labelledby=changes]")

    assert f"New {len(changes.new):,}" in person.read(section)
    link = section.locator("li a").first
    person.click(link)
    target = person.page.locator(f"[id={str(link.get_attribute('href')).removeprefix('#')}]")

    assert person.look(target).is_visible()
    first = next(one for one in known.plan.findings if one.id == changes.new[0])
    assert first.message in target.inner_text()


def test_the_page_is_printed(known: Known, reader: Callable[[str], Reader]) -> None:
    person = reader("print")

    pages = len(re.findall(rb"/Type\s*/Page\b", person.page.pdf(format="A4")))

    print(f"{known.name}: {pages} pages of A4")  # noqa: T201  # pytest -rP shows it
    assert pages <= PAPER[known.name]
