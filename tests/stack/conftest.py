"""The stack, and what is done on it: each slow step is one fixture, done once for all tests that look at it."""

import json
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

import psutil
import pytest
from playwright.sync_api import expect

from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.report.selection import AskedRecommendation, asked_about
from rocketmq_capacity.store.lake import Run
from rocketmq_capacity.store.run_lookup import existing_run
from tests.browser.chromium import PATIENCE_S, program_or_skipped
from tests.browser.reader import Reader
from tests.oracle.maven_project import maven
from tests.oracle.requirement import started_or_skipped
from tests.provider.planted_secret import ArgumentLists, holds
from tests.stack.airflow import DagRun
from tests.stack.pages import Ui, logged_in
from tests.stack.postgres import PostgresMissing, programs
from tests.stack.shop import PAY
from tests.stack.stack import APPROVAL, DAILY, GOOD, WHAT_IF, Stack, running_stack
from tests.stack.trying import Trying, start_with_clicks
from tests.waiting import until

RUN_WITHIN_S: Final = 1200.0
"""A Spark app takes some 8 s on two idle cores, and a run is up to eight of them."""
LINK_WITHIN_S: Final = 300.0
LOOK_FOR_FILE_EVERY_S: Final = 0.1
"""It lives for some seconds."""
SHOWN: Final = ("trigger-form", "reports", "report", "difference", "what-if")
"""The pictures that ``--pictures`` keeps."""
WHY: Final = "the shop grows & needs it before Christmas"
AGREED: Final = "agreed with the shop"
REFUSED: Final = "nobody may go before Christmas"
CLICKS_OF_AN_ANSWER: Final = 3
"""Two fields and the button."""
STRATEGIES: Final = ("AVG", "CONSISTENT_HASH")


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--pictures DIR`` keeps the screenshots that the README shows."""
    parser.addoption("--pictures", type=Path, help="keep the screenshots that the README shows in this folder")


@dataclass(frozen=True)
class Published:
    """A run of a Dag whose report is there.

    Attributes:
        address: of the report's page, below Airflow's own.
    """

    dag_run: DagRun
    stored: Run
    address: str

    @property
    def plan(self) -> dict[str, Any]:
        """plan.json."""
        return dict(json.loads((self.stored.report / "plan.json").read_bytes()))

    @property
    def page(self) -> str:
        """report.html."""
        return (self.stored.report / "report.html").read_text("utf-8")


@dataclass(frozen=True)
class Sampled:
    """What was seen while the snapshot task ran.

    Attributes:
        arguments: of all processes.
        mode: of the file with the secrets.
        content: of the file with the secrets.
    """

    arguments: ArgumentLists
    mode: int
    content: str


@dataclass(frozen=True)
class Question:
    """What a person is asked about a plan."""

    told: dict[str, Any]
    path: str


@pytest.fixture(scope="module")
def told(request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Says what is done and how long it took since the beginning; shown with ``pytest -rP`` or where a test fails."""
    begun = time.monotonic()
    return lambda what: print(f"{time.monotonic() - begun:6.1f} s  {what}")  # noqa: T201  # pytest -rP shows it


@pytest.fixture(scope="module")
def stack(tmp_path_factory: pytest.TempPathFactory, told: Callable[[str], None]) -> Iterator[Stack]:
    """Everything; skips, with the reason, where this machine lacks a part."""
    try:
        programs()
    except PostgresMissing as lack:
        pytest.skip(str(lack))
    program_or_skipped()
    started_or_skipped(maven)
    with running_stack(tmp_path_factory.mktemp("stack"), told) as running:
        yield running
    told("all ended")


@pytest.fixture(scope="module")
def trying(stack: Stack, ui: Ui, told: Callable[[str], None]) -> Trying:
    """A what-if, entered with clicks."""
    started = start_with_clicks(ui, stack)
    told("what-if triggered with its form")
    return started


@pytest.fixture(scope="module")
def triggered(stack: Stack, trying: Trying) -> dict[str, DagRun]:
    """A run of the daily Dag for all clusters and the what-if on one of them, side by side."""
    return {WHAT_IF: trying.dag_run, DAILY: stack.admin.trigger(DAILY, {})}


@pytest.fixture(scope="module")
def sampled(stack: Stack, triggered: dict[str, DagRun], told: Callable[[str], None]) -> Sampled:
    """The snapshot of the good cluster, watched from its beginning to its end."""

    def file() -> tuple[int, str] | None:
        for found in stack.temporary.glob("rocketmq-capacity-*/*.yaml"):
            content = found.read_text()
            if holds(stack.planted["password"], content):
                return found.stat().st_mode & 0o777, content
        return None

    with ArgumentLists(*stack.planted.values(), stack.spark.secret) as arguments:
        seen = until(file, RUN_WITHIN_S, "the file with the secrets", LOOK_FOR_FILE_EVERY_S)
        assert seen is not None
        triggered[DAILY].wait_for("plan.snapshot", RUN_WITHIN_S, map_index=0)
    told("snapshot taken")
    return Sampled(arguments, *seen)


@pytest.fixture(scope="module")
def daily(stack: Stack, triggered: dict[str, DagRun], sampled: Sampled, told: Callable[[str], None]) -> Published:
    """The daily run: one cluster planned, the other one given up."""
    run = triggered[DAILY]
    # A name server that restarts is back within minutes, so that the task tries again in minutes: we need not wait.
    run.wait_for("plan.snapshot", RUN_WITHIN_S, map_index=1, state="up_for_retry")
    run.set_task("plan.snapshot", "failed", map_index=1)
    run.wait_for("plan.publish", RUN_WITHIN_S, map_index=0)
    until(lambda: run.state() == "failed", RUN_WITHIN_S, "the daily run to end")
    told("daily plan published")
    return published(stack, run, "plan.publish", 0)


@pytest.fixture(scope="module")
def what_if(stack: Stack, triggered: dict[str, DagRun], told: Callable[[str], None]) -> Published:
    """The what-if."""
    run = triggered[WHAT_IF]
    run.wait_for("publish", RUN_WITHIN_S)
    told("what-if published")
    return published(stack, run, "publish", -1)


@pytest.fixture(scope="module")
def question(stack: Stack, daily: Published) -> Question:
    """What the approval's Dag asks about the daily plan."""
    found = until(lambda: open_questions(stack), RUN_WITHIN_S, "a question")
    task = found[0]["task_instance"]
    run = DagRun(stack.admin, task["dag_id"], task["dag_run_id"])
    return Question(found[0], f"{run.path}/taskInstances/{task['task_id']}/{task['map_index']}/hitlDetails")


@pytest.fixture(scope="module")
def answered(daily: Published, question: Question, stack: Stack, ui: Ui, told: Callable[[str], None]) -> Published:
    """The daily plan, answered with clicks and published again.

    Each of three groups has two alternatives: for two groups one is approved, for the third one is rejected.
    """
    (pay, instead), (mail, _), (sms, _) = choices(daily)
    task = question.told["task_instance"]
    # Only when the scheduler knows that the task is parked is an answer taken for one.
    until(lambda: not runs_anywhere(task["id"]), RUN_WITHIN_S, "the process of the question to end")
    wait_for_a_round(stack)
    run = DagRun(stack.admin, APPROVAL, task["dag_run_id"])
    page = ui.open_question(run, task["task_id"], task["map_index"])
    reader = Reader(page, "two recommendations approved and one rejected")
    approve = page.get_by_role("button", name="Approve", exact=True)
    page.locator("#element_why").fill(WHY)
    page.locator("#element_approve_only").fill(f"{pay.number}, {instead.number}")
    approve.click()
    page.get_by_text("which are alternatives; expected one of them at most").wait_for()
    told("two alternatives refused by the form")
    # Airflow keeps a message, over its buttons, while the mouse is on it.
    page.mouse.move(0, 0)
    for field, names in (
        ("approve_only", f"{pay.number}: {AGREED}\n{mail.number}"),
        ("reject_these", f"{sms.number}: {REFUSED}"),
    ):
        reader.click(page.locator(f"#element_{field}"))
        page.locator(f"#element_{field}").fill(names)
    reader.click(approve)
    until(lambda: not open_questions(stack), RUN_WITHIN_S, "the answer to arrive")
    told(reader.told())
    assert reader.clicks <= CLICKS_OF_AN_ANSWER
    ui.rest()
    run.wait_for("approval.publish", RUN_WITHIN_S, map_index=0)
    told("approved and published again")
    return daily


@pytest.fixture(scope="module")
def ui(request: pytest.FixtureRequest, stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ui]:
    """A browser in which the administrator has logged in."""
    pictures = tmp_path_factory.mktemp("pictures")
    with logged_in(stack.airflow, "admin", pictures) as window:
        yield window
    if kept := request.config.getoption("--pictures", default=None):
        for taken in sorted(set(pictures.glob("*.png")) & {pictures / f"{name}.png" for name in SHOWN}):
            shutil.copy(taken, kept)


@pytest.fixture(scope="module")
def by_hand(stack: Stack, answered: Published, ui: Ui, told: Callable[[str], None]) -> DagRun:
    """A second run of the daily Dag, triggered with its form: one cluster, its mistake mended, two strategies."""
    stack.shop.stop_idle_consumers()
    before = {run.run_id for run in stack.admin.runs(DAILY)}
    page = ui.open_form(DAILY)
    ui.unfold("What is planned")
    ui.choose("clusters", GOOD)
    ui.unfold("How it is planned")
    # What is chosen and then taken away must not count as missing.
    ui.choose("strategies", "AVG_BY_CIRCLE")
    ui.choose_no_more("strategies")
    expect(page.get_by_test_id("trigger-dag-submit")).to_be_enabled(timeout=PATIENCE_S * 1000)
    for strategy in STRATEGIES:
        ui.choose("strategies", strategy)
    page.locator("#element_policy_changes").fill("thresholds: {HOT_QUEUE: {peak: 2.0}}")
    ui.picture("trigger-form")
    page.get_by_test_id("trigger-dag-submit").click()
    page.get_by_role("dialog").wait_for(state="hidden")
    told("triggered with the form")
    (run,) = until(
        lambda: [run for run in stack.admin.runs(DAILY) if run.run_id not in before and "manual__" in run.run_id],
        RUN_WITHIN_S,
        "the form's run",
    )
    return run


@pytest.fixture(scope="module")
def second(stack: Stack, by_hand: DagRun, ui: Ui, told: Callable[[str], None]) -> Published:
    """The plan that the form's run made."""
    ui.rest()
    by_hand.wait_for("plan.publish", RUN_WITHIN_S, map_index=0)
    told("second plan published")
    return published(stack, by_hand, "plan.publish", 0)


def choices(plan: Published) -> list[list[AskedRecommendation]]:
    """The alternatives of each mistake, that of the owned group first; a person reads their numbers in the question."""
    read = read_plan(plan.stored.report / "plan.json")
    by_cause: dict[str, list[AskedRecommendation]] = {}
    for one in asked_about(read, needing_approval(read)):
        by_cause.setdefault(one.cause, []).append(one)
    return sorted(by_cause.values(), key=lambda held: (PAY.group not in held[0].title, held[0].number))


def open_questions(stack: Stack) -> list[dict[str, Any]]:
    """Every question that nobody has answered."""
    told = stack.admin.get("/dags/~/dagRuns/~/hitlDetails", response_received=False)
    return list(told["hitl_details"])


def runs_anywhere(task_id: str) -> bool:
    """Whether a process works on that try of a task: Airflow's workers name it."""
    return any(
        task_id in word for process in psutil.process_iter(["cmdline"]) for word in process.info["cmdline"] or ()
    )


def wait_for_a_round(stack: Stack) -> None:
    """Wait until the scheduler has done a whole round since now, in which it reads what became of tasks."""
    for _ in ("the round that is under way", "a whole one"):
        last = stack.airflow.heartbeat()
        until(partial(_has_gone_on, stack, last), RUN_WITHIN_S, "the scheduler to go on")


def _has_gone_on(stack: Stack, last: str) -> bool:
    return stack.airflow.heartbeat() != last


def published(stack: Stack, run: DagRun, task_id: str, map_index: int) -> Published:
    """What the button of a publish task leads to; a worker stores its address after the task has succeeded."""
    links = f"{run.path}/taskInstances/{task_id}/links"

    def report() -> str:
        return stack.admin.get(links, map_index=map_index)["extra_links"]["Report"] or ""

    address = until(report, LINK_WITHIN_S, "the button's address")
    shelf, _cluster, run_id = address.strip("/").split("/")[-3:]
    lake = {"plans": stack.lake, "what-ifs": stack.what_ifs}[shelf]
    return Published(run, existing_run(lake, run_id), address)
