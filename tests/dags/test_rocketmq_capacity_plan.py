"""The daily Dag as it is written: its order, its policies and the programs that it would start."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from tests.fixtures.environment import LOCAL_SPARK, ROOT

if TYPE_CHECKING:
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator
    from airflow.sdk import DAG, Context

pytestmark = pytest.mark.airflow

STEPS = ["snapshot", "allocate", "assess", "recommend", "publish"]
KEY = "20261120T020000Z-scheduled__2026-11-20T02_00_00_00_00"


def app(dag: "DAG", step: str) -> "SparkSubmitOperator":
    """The task of a step."""
    return cast("SparkSubmitOperator", dag.get_task(step))


def submitted(dag: "DAG", step: str, **params: Any) -> list[str]:
    """The program and the arguments that the task would start for a run of these parameters."""
    run_after = datetime(2026, 11, 20, 2, tzinfo=UTC)
    run = SimpleNamespace(run_id="scheduled__2026-11-20T02:00:00+00:00", run_after=run_after)
    values = dict.fromkeys(dag.params) | params
    task = app(dag, step).prepare_for_execution()
    context = {"dag_run": run, "params": values, **(dag.user_defined_macros or {})}
    task.render_template_fields(cast("Context", context), dag.get_template_env())
    return list(task._get_hook()._build_spark_submit_command(task.application))


def test_the_steps_run_one_after_the_other(plan_dag: "DAG") -> None:
    assert plan_dag.task_ids == STEPS
    for earlier, later in pairwise(STEPS):
        assert plan_dag.get_task(earlier).downstream_task_ids == {later}


def test_every_step_is_a_spark_app_on_the_one_connection(plan_dag: "DAG") -> None:
    from airflow.providers.apache.spark.operators.spark_submit import SparkSubmitOperator

    for task in plan_dag.tasks:
        assert isinstance(task, SparkSubmitOperator)
        assert task._conn_id == "spark_default"
        assert Path(task.application) == ROOT / "spark_apps" / f"{task.task_id}.py"
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
def test_a_step_is_told_the_lake_and_the_run_and_nothing_of_the_form(plan_dag: "DAG", step: str) -> None:
    command = submitted(plan_dag, step, nameserver="10.0.9.1:9876")

    program = command.index(str(ROOT / "spark_apps" / f"{step}.py"))
    source = ["--nameserver=10.0.9.1:9876"] if step == "snapshot" else []
    assert command[program + 1 :] == [f"--lake={ROOT / 'data' / 'lake'}", f"--run-id={KEY}", *source]


def test_the_connection_alone_says_where_spark_runs(plan_dag: "DAG", monkeypatch: pytest.MonkeyPatch) -> None:
    def master() -> str:
        command = submitted(plan_dag, "assess")
        return command[command.index("--master") + 1]

    assert master() == LOCAL_SPARK["host"]
    monkeypatch.setenv("AIRFLOW_CONN_SPARK_DEFAULT", '{"conn_type": "spark", "host": "spark://127.0.0.1:7077"}')
    assert master() == "spark://127.0.0.1:7077"


def test_executors_get_the_package_as_a_zip(plan_dag: "DAG") -> None:
    command = submitted(plan_dag, "allocate")

    code = command[command.index("--py-files") + 1]
    assert code == str(ROOT / "data" / "lake" / ".code" / "rocketmq_capacity.zip")


@pytest.mark.parametrize("step", STEPS)
def test_a_lost_cluster_or_executor_is_tried_again_but_not_for_ever(plan_dag: "DAG", step: str) -> None:
    task = app(plan_dag, step)

    assert task.retries in {1, 2}
    assert task.retry_delay >= timedelta(minutes=1)


@pytest.mark.parametrize("field", ["application", "java_class", "lake", "policy", "conf"])
def test_the_form_has_no_field_that_names_a_program_or_a_folder(plan_dag: "DAG", field: str) -> None:
    assert field not in plan_dag.params
    assert set(plan_dag.params) == {"nameserver", "inventory"}
