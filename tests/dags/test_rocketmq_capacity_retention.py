"""The retention Dag run for real, on lakes with old and new runs."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_key import due_of, run_key
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.models.dagrun import DagRun

pytestmark = pytest.mark.airflow

POLICY = "retention: {days: 30, count: 100}\n"
DAG_ID = "rocketmq_capacity_retention"
FAILED_AT_ONCE = {"list_expired": ("failed", 1), "delete_expired": ("upstream_failed", 0)}


@pytest.fixture
def deployment(tmp_path: Path, airflow_database: None, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A deployment with an old and a new run among the plans and among the what-ifs."""
    (tmp_path / "policy.yaml").write_text(POLICY, encoding="utf-8")
    monkeypatch.setenv("RMQC_POLICY", str(tmp_path / "policy.yaml"))
    for variable, folder in (("RMQC_LAKE", "lake"), ("RMQC_WHAT_IFS", "what_ifs")):
        monkeypatch.setenv(variable, str(tmp_path / folder))
        for days_old in (40, 1):
            stored(tmp_path / folder, days_old)
    return tmp_path


def stored(lake: Path, days_old: int) -> Run:
    due = datetime.now(UTC) - timedelta(days=days_old)
    run = Lake(lake).run("shop", run_key(SimpleNamespace(run_id="scheduled", run_after=due), "shop"))
    run.begin("publish")
    run.commit("publish", [])
    return run


def run_dag(dag_id: str = DAG_ID, **form: Any) -> "DagRun":
    from airflow.dag_processing.dagbag import DagBag

    dag = DagBag(str(ROOT / "dags")).dags[dag_id]
    moment = datetime.now(UTC)
    ran: DagRun = dag.test(run_after=moment, logical_date=moment, run_conf=form)
    return ran


def ages(lake: Path) -> list[int]:
    """Days that the runs of the lake are old."""
    dues = [due_of(run.name) for run in lake.glob("shop/*")]
    return sorted((datetime.now(UTC) - due).days for due in dues if due is not None)


def listed(run: "DagRun") -> dict[str, Any]:
    """What the first task said."""
    (told,) = [task for task in run.get_task_instances() if task.task_id == "list_expired"]
    found: dict[str, Any] = told.xcom_pull(task_ids="list_expired")
    return found


def test_what_the_policy_keeps_no_longer_is_listed_and_deleted(deployment: Path) -> None:
    run = run_dag()

    assert run.state == "success"
    assert [len(runs) for runs in listed(run).values()] == [1, 1]
    assert listed(run)["plans"][0]["reason"] == "40 days old; 30 are kept"
    assert ages(deployment / "lake") == ages(deployment / "what_ifs") == [1]


def test_the_form_may_ask_for_the_list_alone(deployment: Path) -> None:
    run = run_dag(only_list=True)

    assert run.state == "success"
    assert [len(runs) for runs in listed(run).values()] == [1, 1]
    assert ages(deployment / "lake") == ages(deployment / "what_ifs") == [1, 40]


Captured = tuple[pytest.LogCaptureFixture, pytest.CaptureFixture[str]]


@pytest.fixture
def captured(caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]) -> Captured:
    """What the tasks log, and what Airflow says of them."""
    return caplog, capsys


def assert_one_line(captured: Captured, reason: str) -> None:
    """The task's log tells the reason in one line of its own, and no traceback."""
    of_tasks, of_airflow = captured
    (line,) = [one for one in of_tasks.messages if reason in one]
    assert "\n" not in line
    said = of_airflow.readouterr().out
    assert "Task exited" in said
    assert "Traceback" not in said


def test_a_policy_that_cannot_be_read_deletes_nothing_and_is_not_tried_again(
    deployment: Path, captured: Captured
) -> None:
    (deployment / "policy.yaml").write_text("retention: {dayz: 30}\n", encoding="utf-8")
    run = run_dag()

    assert {task.task_id: (task.state, task.try_number) for task in run.get_task_instances()} == FAILED_AT_ONCE
    assert_one_line(captured, "retention.dayz: is not a known key; the nearest known key is 'days'")
    assert ages(deployment / "lake") == ages(deployment / "what_ifs") == [1, 40]


def test_a_misspelt_field_deletes_nothing_and_is_not_tried_again(deployment: Path, captured: Captured) -> None:
    run = run_dag(only_lst=True)

    assert run.state == "failed"
    assert {task.task_id: (task.state, task.try_number) for task in run.get_task_instances()} == FAILED_AT_ONCE
    assert_one_line(captured, "only_lst: is not a known field; the nearest known field is 'only_list'")
    assert ages(deployment / "lake") == ages(deployment / "what_ifs") == [1, 40]


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("s3://nobody@bucket/lake", "names the connection nobody, which Airflow does not have"),
        ("ftp://host/lake", "is 'ftp://host/lake'; expected"),
    ],
)
@pytest.mark.parametrize("dag_id", ["rocketmq_capacity_retention", "rocketmq_capacity_accept"])
def test_a_lake_whose_address_is_wrong_is_one_line_and_is_not_tried_again(
    deployment: Path, captured: Captured, monkeypatch: pytest.MonkeyPatch, address: str, reason: str, dag_id: str
) -> None:
    monkeypatch.setenv("RMQC_LAKE", address)
    run = run_dag(dag_id)

    tries = {task.task_id: (task.state, task.try_number) for task in run.get_task_instances()}
    assert tries == (FAILED_AT_ONCE if dag_id == DAG_ID else {"accept": ("failed", 1)})
    assert_one_line(captured, reason)
    assert ages(deployment / "what_ifs") == [1, 40]
