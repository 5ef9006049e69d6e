"""The what-if Dag as it is written, and a run that is refused; tests/stack has a run to the end."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.snapshot.dated import dated
from rocketmq_capacity.snapshot.inventory_file import read_inventory, render_inventory
from rocketmq_capacity.steps.inputs import moment_of
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_key import key_before, run_key
from rocketmq_capacity.store.run_lookup import existing_run
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.models.dagrun import DagRun
    from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(600)]

COMPUTING = ["before.allocate", "before.assess", "after.allocate", "after.assess", "after.recommend", "publish"]


def test_it_runs_by_hand_alone(dag_bag: "DagBag") -> None:
    dag = dag_bag.dags["rocketmq_what_if"]

    assert type(dag.timetable).__name__ == "NullTimetable"
    assert dag.task_ids[0] == "scenario"
    assert set(dag.task_ids) == {"scenario", "snapshot", "simulate", *COMPUTING}


def test_the_scenario_meets_the_cluster_before_anything_is_computed(dag_bag: "DagBag") -> None:
    dag = dag_bag.dags["rocketmq_what_if"]

    for task_id in COMPUTING:
        assert "simulate" in dag.get_task(task_id).get_flat_relative_ids(upstream=True), task_id


def test_nothing_of_it_says_that_a_plan_was_published(dag_bag: "DagBag") -> None:
    assert all(not task.outlets for task in dag_bag.dags["rocketmq_what_if"].tasks)


@pytest.fixture(scope="module")
def what_ifs(tmp_path_factory: pytest.TempPathFactory, airflow_database: None) -> Iterator[Path]:
    """A deployment's folder of what-ifs."""
    home = tmp_path_factory.mktemp("deployment")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RMQC_LAKE", str(home / "lake"))
        patch.setenv("RMQC_WHAT_IFS", str(home / "what_ifs"))
        yield home / "what_ifs"


def run_dag(day: datetime, **form: Any) -> "DagRun":
    """One run of the form, on the recorded sample."""
    from airflow.dag_processing.dagbag import DagBag

    dag: DAG = DagBag(str(ROOT / "dags")).dags["rocketmq_what_if"]
    ran: DagRun = dag.test(run_after=day, logical_date=day, run_conf=form)
    return ran


@pytest.mark.slow
def test_a_name_that_the_cluster_does_not_have_fails_at_once_and_is_not_tried_again(
    what_ifs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lost = "name: x\nchanges: [{change: lose_broker, broker_name: brokr-b}]"
    run = run_dag(datetime(2026, 11, 17, tzinfo=UTC), scenario=lost)

    told = {task.task_id: (task.state, task.try_number) for task in run.get_task_instances()}
    assert told == {
        "scenario": ("success", 1),
        "snapshot": ("success", 1),
        "simulate": ("failed", 1),
        **dict.fromkeys(COMPUTING, ("upstream_failed", 0)),
    }
    reason = "changes[0].broker_name: is 'brokr-b', which is not there; the nearest broker is 'broker-b'"
    said = capsys.readouterr().out
    of_app, of_airflow = [line for line in said.splitlines() if "[error" in line]
    assert f"simulate: --scenario: {reason}" in of_app
    assert "Task exited" in of_airflow
    assert "Traceback" not in said
    # The recorded sample is dated at the moment that the run was due.
    key = run_key(run, "sample")
    sample = dated(read_inventory(sample_inventory()), moment_of(key))
    stored = existing_run(Lake(what_ifs), key_before(key))
    assert stored.inventory.read_bytes() == b"".join(render_inventory(sample))
