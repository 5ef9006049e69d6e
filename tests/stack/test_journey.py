"""The whole stack, as people use it: plan, what-if, approval, the reports in the browser, and no secret anywhere."""

import csv
import io
import json
import shutil
from pathlib import Path

import httpx
import pytest

from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.report.approval import needing_approval
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.place import folders_in
from rocketmq_capacity.store.run_key import key_before
from rocketmq_capacity.store.run_lookup import existing_run, runs_before
from tests.cli.program import run
from tests.provider.planted_secret import holds, places_that_hold
from tests.stack.airflow import DagRun
from tests.stack.conftest import AGREED, REFUSED, STRATEGIES, WHY, Published, Question, Sampled, choices, open_questions
from tests.stack.pages import Ui
from tests.stack.shop import PAY, READINGS
from tests.stack.stack import DAILY, DEAD, GOOD, WHAT_IF, Stack
from tests.stack.trying import CALLED, CHANGES, LOST, Trying
from tests.waiting import until

# The test that comes first waits for the stack and for three things of its runs, each of which may take RUN_WITHIN_S.
pytestmark = [pytest.mark.stack, pytest.mark.slow, pytest.mark.timeout(3600)]

REPORTS = "/rocketmq-capacity"
CLICKS_OF_A_WHAT_IF = 9
"""The page, two for each of three changes, to try them, and the report."""
TOLD_WITHIN_S = 120.0
"""Airflow sends a notice after a task has succeeded."""


@pytest.mark.parametrize(
    ("dag_id", "conf", "reason"),
    [
        (DAILY, {"strategies": ["RANDOM"]}, "'RANDOM' is not one of ['AVG', "),
        (DAILY, {"clusters": ["another"]}, f"'another' is not one of ['{GOOD}', '{DEAD}']"),
        (DAILY, {"inventory": "../../etc/passwd.json"}, "expected the name of a file in"),
        (DAILY, {"policy_changes": "thresholds: {HOT_QUEU: {peak: 3}}"}, "the nearest known key is 'HOT_QUEUE'"),
        (WHAT_IF, {"scenario": "name: x\nchanges: [{change: loose_broker}]"}, "change"),
        (WHAT_IF, {"scenario": "name: x\nchanges: [{change: scale_traffic, factor: -1}]"}, "changes[0].factor: "),
    ],
)
def test_a_bad_value_is_refused_with_its_reason_and_starts_no_run(stack: Stack, dag_id, conf, reason) -> None:
    before = len(stack.admin.runs(dag_id))

    answer = stack.admin.ask("POST", f"/dags/{dag_id}/dagRuns", {"logical_date": None, "conf": conf})

    assert answer.status_code == 400
    assert f"Invalid input for param {[*conf][-1]}: " in answer.json()["detail"]
    assert reason in answer.json()["detail"]
    assert len(stack.admin.runs(dag_id)) == before


def test_a_what_if_without_a_scenario_is_refused_by_the_form(ui: Ui, stack: Stack) -> None:
    before = len(stack.admin.runs(WHAT_IF))
    page = ui.open_form(WHAT_IF)
    page.get_by_test_id("trigger-dag-submit").click()

    page.get_by_text("scenario: is missing; expected a name and a list of changes").wait_for()
    ui.picture("refused")
    assert len(stack.admin.runs(WHAT_IF)) == before
    ui.rest()


def test_a_connection_says_what_it_reaches_and_never_its_secrets(stack: Stack) -> None:
    told = {name: stack.admin.ask("GET", f"/connections/{name}") for name in (GOOD, DEAD)}
    tried = {name: stack.admin.send("POST", "/connections/test", told[name].json()) for name in (GOOD, DEAD)}

    assert [tried[name]["status"] for name in (GOOD, DEAD)] == [True, False]
    assert "Connection refused" in tried[DEAD]["message"]
    assert {told[GOOD].json()["password"], json.loads(told[GOOD].json()["extra"])["security_token"]} == {"***"}
    assert not any(holds(secret, told[GOOD].text + str(tried)) for secret in stack.planted.values())


def test_a_cluster_is_planned_although_another_one_is_dead(stack: Stack, daily: Published) -> None:
    tasks = daily.dag_run.tasks()
    steps = ("allocate", "assess", "recommend", "publish")

    assert {tasks[f"plan.{step}", 0] for step in ("snapshot", *steps)} == {"success"}
    assert tasks["plan.snapshot", 1] == "failed"
    assert {tasks[f"plan.{step}", 1] for step in steps} == {"upstream_failed"}
    assert "the cluster cannot be read from 127.0.0.1:" in daily.dag_run.log("plan.snapshot", map_index=1)
    assert [folder.name for folder in stack.lake.root.iterdir() if not folder.name.startswith(".")] == [GOOD]


def test_the_plan_names_the_consumers_that_are_idle(daily: Published) -> None:
    found = {one["consumer_group"]: one for one in daily.plan["findings"] if one["rule"] == "IDLE_CONSUMERS"}

    assert daily.plan["cluster_name"] == GOOD
    assert daily.plan["completeness"] == {"failures": [], "ratio": 1.0}
    assert {group: one["evidence"]["idle"] for group, one in found.items()} == {
        one.group: one.clients // 2 for one in READINGS
    }
    assert {one["severity"] for one in found.values()} == {"WARNING"}
    assert {"EXPAND_QUEUES", "SCALE_CONSUMERS"} <= {one["action"] for one in daily.plan["recommendations"]}
    assert "g_pay" in daily.page


def test_the_owner_is_told_in_the_chat_with_a_link_to_the_cause(stack: Stack, daily: Published) -> None:
    (address, posted), *_ = until(lambda: stack.chat.posts, TOLD_WITHIN_S, "the notice")

    told = posted["markdown"]["content"]
    cause = choices(daily)[0][0].cause
    assert address == f"/robot?key={stack.token}"
    assert told.startswith(f"RocketMQ capacity of {GOOD} for payments: ")
    assert f"]({stack.airflow.url}{daily.address}#cause-{cause})" in told


def test_sparks_cluster_computed_both_runs(stack: Stack, daily: Published, what_if: Published) -> None:
    apps = [(app["name"], app["state"]) for app in stack.spark.state()["completedapps"]]

    # Steps that only read and write do without a session where there is so little. A what-if plans twice.
    for step, count in (("allocate", 3), ("assess", 3), ("recommend", 2)):
        assert apps.count((f"rocketmq_capacity_{step}", "FINISHED")) == count
    assert {state for _, state in apps} == {"FINISHED"}


def test_a_viewer_reads_the_question_and_may_not_answer_it(stack: Stack, daily: Published, question: Question) -> None:
    viewer = stack.airflow.api("viewer")
    asked = viewer.get("/dags/~/dagRuns/~/hitlDetails", response_received=False)["hitl_details"]

    needing = len(needing_approval(read_plan(daily.stored.report / "plan.json")))
    assert [one["subject"] for one in asked] == [f"Approve {needing} recommendations for cluster shop?"]
    assert viewer.ask("PATCH", question.path, {"chosen_options": ["Approve"]}).status_code == 403
    assert [one["subject"] for one in open_questions(stack)] == [one["subject"] for one in asked]


def test_who_approved_when_and_why_is_in_the_plan_and_in_the_report(
    stack: Stack, question: Question, answered: Published
) -> None:
    approval = answered.plan["approval"]

    (pay, other), (mail, another), (sms, unnamed) = (
        [one.recommendation.id for one in held] for held in choices(answered)
    )
    assert (approval["status"], approval["by"], approval["why"]) == ("APPROVED", "admin", WHY)
    assert sorted(approval["approved"]) == sorted((pay, mail))
    assert (approval["reasons"][pay], approval["reasons"][sms]) == (AGREED, REFUSED)
    # An alternative of what is approved gives way to it; all else that nobody named stays open.
    assert sorted(approval["rejected"]) == sorted((sms, other, another))
    assert set(approval["recommendations"]) - {*approval["approved"], *approval["rejected"]} == {unnamed}
    assert approval["at"] > answered.plan["taken_at"]
    asked = needing_approval(read_plan(answered.stored.report / "plan.json"))
    assert sorted(approval["recommendations"]) == sorted(asked)
    assert "Approved by admin" in answered.page
    assert WHY.replace("&", "&amp;") in answered.page
    assert (answered.page.count(f"Why: <q>{AGREED}</q>"), answered.page.count(f"Why: <q>{REFUSED}</q>")) == (2, 2)
    rows = csv.DictReader(io.StringIO((answered.stored.report / "recommendations.csv").read_text("utf-8")))
    said = {row["id"]: (row["answer"], row["answered_by"], row["answer_why"]) for row in rows}
    assert (said[pay], said[sms]) == (("APPROVED", "admin", AGREED), ("REJECTED", "admin", REFUSED))
    assert said[unnamed] == ("", "", "")
    assert stack.admin.ask("PATCH", question.path, {"chosen_options": ["Reject"]}).status_code == 409


def test_a_what_if_shows_what_would_come_and_is_no_plan(stack: Stack, answered: Published, what_if: Published) -> None:
    scenario = what_if.plan["scenario"]
    name = what_if.stored.folder.name

    assert scenario["name"] == CALLED
    assert [{key: value for key, value in one.items() if value is not None} for one in scenario["changes"]] == CHANGES
    assert scenario["groups"]
    assert what_if.address == f"{REPORTS}/reports/what-ifs/{GOOD}/{name}/"
    # At midnight the scheduler starts another run of its own.
    folders = folders_in(stack.lake.root / GOOD)
    by_hand = [name for name in folders if "-scheduled__" not in name and not name.startswith(".")]
    assert by_hand == [answered.stored.folder.name]


def test_a_what_if_of_three_kinds_is_entered_and_its_result_found_with_clicks(
    trying: Trying, what_if: Published
) -> None:
    gone = sum(one.queues[LOST] for one in READINGS)
    report = trying.result()

    first = report.locator("section.what-if")
    first.get_by_text("Everything that was carried still is.").wait_for()
    shown = first.inner_text()
    assert what_if.plan["scenario"]["name"] in shown
    for change in (f"lose broker: broker name {LOST}", f"add clients: consumer group {PAY.group}", "scale traffic: "):
        assert change in shown
    assert f"Gone: {gone} queues of {len(READINGS)} groups." in shown
    print(trying.reader.told())  # noqa: T201  # pytest -rP shows it
    assert trying.reader.clicks <= CLICKS_OF_A_WHAT_IF


def test_every_dataset_of_a_what_if_is_in_the_manifest_of_a_step(what_if: Published) -> None:
    stored = what_if.stored
    manifests = {file.stem: json.loads(file.read_bytes())["datasets"] for file in stored.folder.glob("steps/*.json")}

    assert manifests["compare"] == [
        "group_transition",
        "producer_course",
        "producer_route",
        "producer_timeline",
        "scenario_effect",
        "scenario_group",
        "transition",
        "undecided_finding",
    ]
    committed = [dataset for datasets in manifests.values() for dataset in datasets]
    assert sorted(committed) == sorted(folder.name for folder in stored.tables.iterdir())


def test_the_command_line_says_the_same_of_the_same_scenario(stack: Stack, what_if: Published, tmp_path: Path) -> None:
    before = existing_run(stack.what_ifs, key_before(what_if.stored.folder.name))
    scenario = {name: what_if.plan["scenario"][name] for name in ("name", "changes")}
    (tmp_path / "scenario.yaml").write_text(json.dumps(scenario), encoding="utf-8")  # JSON is YAML, too
    arguments = ("--inventory", before.inventory, "--scenario", tmp_path / "scenario.yaml", "--policy", stack.policy)
    done = run("plan", *arguments, "--out", tmp_path / "out", cwd=tmp_path)

    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out" / "plan.json").read_bytes() == (what_if.stored.report / "plan.json").read_bytes()


def test_a_what_if_is_no_plan_that_another_run_looks_back_at(what_if: Published, tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    stored, later = (lake.run(GOOD, name) for name in ("stored", "later"))
    shutil.copytree(what_if.stored.folder, stored.folder)
    later.folder.mkdir()
    inventory = json.loads(stored.inventory.read_bytes()) | {"taken_at": "9999-01-01T00:00:00Z"}
    later.inventory.write_text(json.dumps(inventory), encoding="utf-8")

    assert list(lake.runs(GOOD)) == [stored]
    assert list(runs_before(lake, later)) == []


def test_a_dag_is_triggered_with_its_form(stack: Stack, by_hand: DagRun) -> None:
    conf = stack.admin.get(by_hand.path)["conf"]

    assert conf["clusters"] == [GOOD]
    assert conf["strategies"] == list(STRATEGIES)
    assert conf["policy_changes"] == "thresholds: {HOT_QUEUE: {peak: 2.0}}"


def test_the_navigation_leads_to_a_report(ui: Ui, by_hand: DagRun, answered: Published) -> None:
    ui.open("/").get_by_role("link", name="Capacity", exact=True).click()
    ui.reports.get_by_role("heading", name="Reports").wait_for()
    ui.picture("reports")
    row = ui.reports.get_by_role("row").filter(has_text=answered.stored.folder.name)

    assert row.get_by_text("Approved").is_visible()
    row.get_by_role("link").click()
    report = ui.reports.frame_locator("iframe[title='The report']")
    report.get_by_text("Approved by admin").wait_for()
    ui.picture("report")


def test_what_ifs_have_a_shelf_of_their_own(ui: Ui, by_hand: DagRun, what_if: Published) -> None:
    name = what_if.stored.folder.name

    ui.open(f"{REPORTS}/?kind=what-ifs").get_by_text(name).wait_for()
    ui.open(f"{REPORTS}/?kind=plans").get_by_role("heading", name="Reports").wait_for()
    assert ui.page.get_by_text(name).count() == 0
    ui.open(f"{REPORTS}/reports/plans/{GOOD}/{name}/").get_by_role("heading", name="Not Found").wait_for()
    ui.open(what_if.address).get_by_text("A what-if, not the cluster as it is:").wait_for()
    ui.picture("what-if")


def test_the_publish_task_leads_to_its_report(ui: Ui, second: Published) -> None:
    ui.open_task(second.dag_run, "plan.publish", 0).get_by_role("link", name="Report", exact=True).click()
    ui.page.wait_for_url(f"**{second.address}")

    report = ui.page.frame_locator("iframe[title='The report']")
    report.get_by_role("heading", name=f"Cluster {GOOD}").wait_for()
    assert {one["strategy"] for group in second.plan["groups"] for one in group["strategies"]} >= set(STRATEGIES)


def test_a_run_that_decides_otherwise_is_a_trial_and_leaves_trend_and_approval_alone(
    ui: Ui, stack: Stack, answered: Published, second: Published
) -> None:
    assert second.plan["trial"] is True
    assert [one["key"] for one in second.plan["policy_differences"]] == ["strategies"]
    in_use = {group["current_strategy"] for group in second.plan["groups"] if group["strategies"]}
    computed = {one["strategy"] for group in second.plan["groups"] for one in group["strategies"]}
    assert in_use - {"MIXED"} <= computed
    assert second.plan["changes"] is None

    ui.open(second.address).get_by_text("A trial, not the day's plan:").first.wait_for()
    page = ui.open(f"{REPORTS}/trends/{GOOD}")
    page.locator(f"a[href*='{answered.stored.folder.name}']").first.wait_for()
    assert page.locator(f"a[href*='{second.stored.folder.name}']").count() == 0
    row = ui.open(f"{REPORTS}/").get_by_role("row").filter(has_text=second.stored.folder.name)
    assert row.get_by_text("Not asked").is_visible()


def test_two_plans_are_compared(ui: Ui, answered: Published, second: Published) -> None:
    page = ui.open(f"{REPORTS}/difference?cluster={GOOD}")
    page.get_by_label("Before").select_option(f"plans/{answered.stored.folder.name}")
    page.get_by_label("After").select_option(f"plans/{second.stored.folder.name}")
    page.get_by_role("button", name="Compare").click()

    page.get_by_role("heading", name="Loads").wait_for()
    for what, names in (
        ("findings", ("rule", "consumer_group", "topic", "broker_name")),
        ("recommendations", ("id",)),
    ):
        old, new = ({tuple(one[name] for name in names) for one in plan.plan[what]} for plan in (answered, second))
        assert old - new, "the mistake is mended"
        counts = f"{len(new - old)} {len(old - new)} {len(old & new)}"
        assert page.get_by_role("row", name=f"{what.capitalize()} {counts}").is_visible()
    ui.picture("difference")


def test_a_downloaded_plan_is_the_stored_one(ui: Ui, second: Published) -> None:
    page = ui.open(second.address)
    with page.expect_download() as download:
        page.get_by_role("link", name="Download plan.json").click()

    assert Path(download.value.path()).read_bytes() == (second.stored.report / "plan.json").read_bytes()


def test_whoever_is_not_logged_in_sees_no_report(stack: Stack, answered: Published) -> None:
    for path in ("/", answered.address, f"{answered.address}plan.json", f"{REPORTS}/style.css"):
        wanted = 401 if path.startswith(REPORTS) else 200
        assert httpx.get(stack.airflow.url + path, trust_env=False).status_code == wanted, path


def test_the_secrets_were_in_use_and_are_nowhere(
    stack: Stack, sampled: Sampled, second: Published, what_if: Published, answered: Published
) -> None:
    stack.spark.keep_pages(stack.folder / "spark-pages")
    dump = stack.folder / "dump.sql"
    stack.postgres.dump(dump)

    # They have been where they could have leaked.
    assert sampled.mode == 0o600
    assert all(holds(secret, sampled.content) for secret in stack.planted.values())
    assert {"snapshot.py", "org.apache.spark.deploy.SparkSubmit"} <= sampled.arguments.programs
    assert "--connection=" in second.dag_run.log("plan.snapshot", map_index=0)
    assert "SparkListenerEnvironmentUpdate" in "".join(log.read_text() for log in stack.spark.events.rglob("events_*"))
    assert "rocketmq_capacity_assess" in (stack.folder / "spark-pages" / "0-json").read_text()
    stored = dump.read_text()
    for table in ("connection", "xcom", "rendered_task_instance_fields", "dag_run", "log", "serialized_dag"):
        assert f"\nCOPY public.{table} (" in stored
    assert "rocketmq_capacity_snapshot" in stored

    assert sampled.arguments.holders == set()
    assert len(stack.chat.posts) == 1  # the second plan of the day tells nothing
    for secret in (*stack.planted.values(), stack.token):
        assert places_that_hold(secret, stack.folder) == []
    assert list(stack.temporary.glob("rocketmq-capacity-*")) == []


def test_sparks_secret_is_in_the_settings_of_those_who_share_it_and_nowhere_else(
    stack: Stack, sampled: Sampled, second: Published, what_if: Published
) -> None:
    stack.spark.keep_pages(stack.folder / "spark-pages-at-the-end")
    found = [Path(place) for place in places_that_hold(stack.spark.secret, stack.folder)]

    assert [file.name for file in found] == ["spark-defaults.conf"] * 3  # of master, worker and scheduler
    assert {file.parent.stat().st_mode & 0o777 for file in found} == {0o700}
    assert sampled.arguments.holders == set()
