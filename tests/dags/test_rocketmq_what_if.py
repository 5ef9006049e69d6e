"""The what-if Dag: as it is written, and run for real."""

import json
import subprocess
import sys
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
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.run_lookup import existing_run, run_before
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.models.dagrun import DagRun
    from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(600)]

SCENARIO = """name: fewer clients
changes:
  - {change: remove_clients, consumer_group: cart_recommender, count: 3}
  - {change: remove_clients, consumer_group: order_audit, count: 1}
"""
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


@pytest.fixture(scope="module")
def run(what_ifs: Path) -> "DagRun":
    """A run in which clients leave and no broker is in trouble."""
    return run_dag(datetime(2026, 11, 16, tzinfo=UTC), scenario=SCENARIO)


@pytest.mark.slow
def test_a_name_that_the_cluster_does_not_have_fails_at_once_and_is_not_tried_again(
    what_ifs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_dag(datetime(2026, 11, 17, tzinfo=UTC), change="lose_broker", broker_name="brokr-b")

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


@pytest.mark.slow
def test_a_run_plans_the_changed_cluster_beside_the_one_as_it_is(what_ifs: Path, run: "DagRun") -> None:
    assert run.state == "success"
    stored = existing_run(Lake(what_ifs), run_key(run, "sample"))
    plan = json.loads((stored.report / "plan.json").read_bytes())

    assert plan["scenario"]["name"] == "fewer clients"
    assert [(one["change"], one["consumer_group"], one["count"]) for one in plan["scenario"]["changes"]] == [
        ("remove_clients", "cart_recommender", 3),
        ("remove_clients", "order_audit", 1),
    ]
    assert any(group["moved_queues"] for group in plan["scenario"]["groups"])
    assert plan["scenario"]["findings_added"] or plan["scenario"]["findings_cleared"]


@pytest.mark.slow
def test_every_dataset_of_a_what_if_is_in_the_manifest_of_a_step(what_ifs: Path, run: "DagRun") -> None:
    stored = existing_run(Lake(what_ifs), run_key(run, "sample"))
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


@pytest.mark.slow
def test_the_command_line_says_the_same_of_the_same_scenario(what_ifs: Path, run: "DagRun", tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    # In Airflow the recorded sample is dated at the moment that the run was due.
    sample = dated(read_inventory(sample_inventory()), moment_of(run_key(run, "sample")))
    (tmp_path / "sample.json").write_bytes(b"".join(render_inventory(sample)))
    arguments = [f"--inventory={tmp_path / 'sample.json'}", f"--scenario={tmp_path / 'scenario.yaml'}"]
    program = [sys.executable, "-m", "rocketmq_capacity", "plan"]
    subprocess.run([*program, *arguments, f"--out={tmp_path / 'out'}"], check=True, timeout=600)

    stored = existing_run(Lake(what_ifs), run_key(run, "sample"))
    assert (stored.report / "plan.json").read_bytes() == (tmp_path / "out" / "plan.json").read_bytes()


@pytest.mark.slow
def test_a_what_if_is_no_plan_that_another_run_looks_back_at(what_ifs: Path, run: "DagRun") -> None:
    stored = existing_run(Lake(what_ifs), run_key(run, "sample"))
    later = Lake(what_ifs).run(stored.folder.parent.name, "later")
    later.folder.mkdir()
    inventory = json.loads(stored.inventory.read_bytes()) | {"taken_at": "2027-01-01T00:00:00Z"}
    later.inventory.write_text(json.dumps(inventory), encoding="utf-8")

    assert stored in list(Lake(what_ifs).runs(stored.folder.parent.name))
    assert run_before(Lake(what_ifs), later) is None
