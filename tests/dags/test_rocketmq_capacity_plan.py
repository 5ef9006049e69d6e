"""The daily Dag as it is written: its order, its policies and the programs that it would start."""

import re
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from airflow.sdk.definitions._internal.expandinput import MappedArgument
from airflow.sdk.exceptions import ParamValidationError

from rocketmq_capacity.provider.refused import Refused
from rocketmq_capacity.provider.spark_app import SnapshotApp
from tests.fixtures.environment import LOCAL_SPARK, ROOT

if TYPE_CHECKING:
    from airflow.sdk import DAG, Context

    from rocketmq_capacity.provider.spark_app import SparkApp

pytestmark = pytest.mark.airflow

STEPS = ["snapshot", "allocate", "assess", "recommend", "publish"]
KEY = "20261120T020000Z-scheduled__2026-11-20T02_00_00_00_00--shop"
EMPTY_FORM = ["--strategies=", "--policy-changes="]


def app(dag: "DAG", step: str) -> "SparkApp":
    """The task of a step, the same for every cluster."""
    return cast("SparkApp", dag.get_task(f"plan.{step}"))


def submitted(dag: "DAG", step: str, **params: Any) -> list[str]:
    """The program and the arguments that the task would start for a run of these parameters."""
    run_after = datetime(2026, 11, 20, 2, tzinfo=UTC)
    run = SimpleNamespace(run_id="scheduled__2026-11-20T02:00:00+00:00", run_after=run_after)
    values = dict.fromkeys(dag.params) | params
    task = app(dag, step).prepare_for_execution()
    # What the mapping hands over for a cluster: tasks of a mapped group get it in place of these.
    task.application_args = [KEY if isinstance(told, MappedArgument) else told for told in task.application_args or []]
    task.run_key = KEY
    if isinstance(task, SnapshotApp):
        task.connection = task.inventory = None
    context = {"dag_run": run, "params": values, **(dag.user_defined_macros or {})}
    task.render_template_fields(cast("Context", context), dag.get_template_env())
    return list(task._get_hook()._build_spark_submit_command(task.application))


def test_the_steps_run_one_after_the_other(plan_dag: "DAG") -> None:
    assert plan_dag.task_ids == ["sources", *(f"plan.{step}" for step in STEPS)]
    for earlier, later in pairwise(STEPS):
        assert app(plan_dag, earlier).downstream_task_ids == {f"plan.{later}"}


def test_every_cluster_has_steps_of_its_own(plan_dag: "DAG") -> None:
    from airflow.sdk.definitions.taskgroup import MappedTaskGroup

    group = plan_dag.task_group.children["plan"]
    assert isinstance(group, MappedTaskGroup)
    assert {task_id for task_id in plan_dag.task_ids if task_id.startswith("plan.")} == set(group.children)


def test_one_pool_bounds_the_clusters_that_are_planned_at_once(plan_dag: "DAG") -> None:
    assert {app(plan_dag, step).pool for step in STEPS} == {"rocketmq_capacity"}


def test_every_step_is_a_spark_app_on_the_one_connection(plan_dag: "DAG") -> None:
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    for step in STEPS:
        task = app(plan_dag, step)
        assert isinstance(task, SparkSubmitOperator)
        assert task._conn_id == "spark_default"
        assert Path(task.application) == ROOT / "spark_apps" / f"{step}.py"
        assert Path(task.application).is_file()


def test_it_runs_daily_and_never_for_a_day_that_is_over(plan_dag: "DAG") -> None:
    assert str(plan_dag.schedule) == "@daily"
    assert plan_dag.catchup is False
    assert plan_dag.max_active_runs == 1
    assert plan_dag.dagrun_timeout == timedelta(hours=2)


def test_only_the_last_step_updates_the_report_asset(plan_dag: "DAG") -> None:
    outlets = {step: [asset.name for asset in app(plan_dag, step).outlets] for step in STEPS}

    assert outlets == {step: [] for step in STEPS[:-1]} | {"publish": ["rocketmq_capacity_report"]}


def test_no_two_tasks_share_the_settings_that_executing_one_may_change(plan_dag: "DAG") -> None:
    assert len({id(app(plan_dag, step).conf) for step in STEPS}) == len(STEPS)


@pytest.mark.parametrize("step", STEPS)
def test_a_step_gets_the_lake_and_the_run(plan_dag: "DAG", step: str) -> None:
    command = submitted(plan_dag, step)

    program = command.index(str(ROOT / "spark_apps" / f"{step}.py"))
    assert command[program + 1 :] == [f"--lake={ROOT / 'data' / 'lake'}", "--run-id", KEY, *EMPTY_FORM]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_gets_what_the_form_decides(plan_dag: "DAG", step: str) -> None:
    policy = "exclude: {topics: ['^a b; $(rm -rf /)']}"
    command = submitted(plan_dag, step, strategies=["AVG", "POP"], policy_changes=policy)

    assert command[-2:] == ["--strategies=AVG,POP", f"--policy-changes={policy}"]


@pytest.mark.parametrize(("replaces_plan", "told"), [(True, "yes"), (False, ""), (None, "")])
def test_a_snapshot_knows_whether_the_run_replaces_the_plan_of_the_day(
    plan_dag: "DAG", replaces_plan: bool | None, told: str
) -> None:
    task = app(plan_dag, "snapshot").prepare_for_execution()
    assert isinstance(task, SnapshotApp)
    task.run_key, task.application_args, task.connection, task.inventory = KEY, [], None, None
    values = dict.fromkeys(plan_dag.params) | {"replaces_plan": replaces_plan}
    task.render_template_fields(cast("Context", {"params": values}), plan_dag.get_template_env())

    assert task.replaces_plan == told


@pytest.mark.parametrize("stored", [None, "{not JSON", "rocketmq://10.0.9.1:port"])
def test_a_cluster_without_a_connection_that_can_be_read_is_one_line_and_is_tried_again(
    plan_dag: "DAG",
    stored: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    if stored is not None:
        monkeypatch.setenv("AIRFLOW_CONN_PAY", stored)
    task = app(plan_dag, "snapshot").prepare_for_execution()
    assert isinstance(task, SnapshotApp)
    task.lake, task.run_key, task.connection, task.inventory = str(tmp_path), KEY, "pay", None

    # Airflow writes the traceback of any other exception, and tries all but `Refused` again.
    with pytest.raises(SystemExit) as ended:
        task.execute(cast("Context", {}))

    assert not isinstance(ended.value, Refused)
    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "connection pay: Airflow has none of this name, or cannot read it; expected one of the type rocketmq"
    ]


@pytest.mark.parametrize("stored", [None, "{not JSON", "spark://local[2]"])
@pytest.mark.parametrize("step", STEPS)
def test_without_a_connection_that_says_where_spark_runs_a_task_is_one_line(
    plan_dag: "DAG",
    step: str,
    stored: str | None,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.delenv("AIRFLOW_CONN_SPARK_DEFAULT")
    if stored is not None:
        monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", stored)
    task = app(plan_dag, step).prepare_for_execution()
    task.lake, task.run_key = str(tmp_path), KEY
    if isinstance(task, SnapshotApp):
        (tmp_path / "monday.json").touch()
        task.connection, task.inventory = None, str(tmp_path / "monday.json")

    with pytest.raises(SystemExit):
        task.execute(cast("Context", {}))

    assert [record.getMessage() for record in caplog.records if record.levelname == "ERROR"] == [
        "connection spark_default: Airflow has none of this name, or cannot read it; expected one of the type spark"
    ]


def test_the_connection_alone_says_where_spark_runs(plan_dag: "DAG", monkeypatch: pytest.MonkeyPatch) -> None:
    def master() -> str:
        command = submitted(plan_dag, "assess")
        return command[command.index("--master") + 1]

    assert master() == LOCAL_SPARK["host"]
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "spark://127.0.0.1:7077"}')
    assert master() == "spark://127.0.0.1:7077"


@pytest.mark.parametrize("step", STEPS)
def test_a_lost_cluster_or_executor_is_tried_again_but_not_for_ever(plan_dag: "DAG", step: str) -> None:
    task = app(plan_dag, step)

    assert task.retries in {1, 2}
    assert task.retry_delay >= timedelta(minutes=1)


@pytest.mark.parametrize("field", ["application", "java_class", "lake", "policy", "conf"])
def test_the_form_has_no_field_that_names_a_program_or_a_folder(plan_dag: "DAG", field: str) -> None:
    assert field not in plan_dag.params
    assert set(plan_dag.params) == {"clusters", "inventory", "strategies", "policy_changes", "replaces_plan"}


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("clusters", ["somebody-elses"], "'somebody-elses' is not one of"),
        ("inventory", "../monday.json", "does not match"),
        ("strategies", ["AVG", "AVERAGE"], "'AVERAGE' is not one of"),
        ("strategies", ["AVG", "AVG"], "non-unique"),
        ("policy_changes", "threshold: {}", "policy changes: threshold: is not a known key; the nearest known key is"),
        ("policy_changes", "thresholds: {HOT_QUEUE: {peak: -1}}", "thresholds.HOT_QUEUE.peak"),
        ("policy_changes", "a: [", "policy changes: line 1: is not YAML"),
        ("policy_changes", "#" * 60_001, "is too long"),
    ],
)
def test_the_form_refuses_a_bad_value_with_its_reason(plan_dag: "DAG", field: str, value: Any, reason: str) -> None:
    with pytest.raises(ParamValidationError, match=re.escape(reason)):
        plan_dag.params.get_param(field).resolve(value)


def test_the_form_has_titles_descriptions_and_sections(plan_dag: "DAG") -> None:
    for name in plan_dag.params:
        schema = plan_dag.params.get_param(name).schema
        assert schema["title"]
        assert schema["section"]
        assert plan_dag.params.get_param(name).description
