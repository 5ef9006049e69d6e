"""The what-if Dag: as it is written, and run for real."""

import json
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.store.lake import Lake
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.run_lookup import existing_run, run_before
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag
    from airflow.models.dagrun import DagRun
    from airflow.sdk import DAG

pytestmark = [pytest.mark.airflow, pytest.mark.timeout(600)]

SCENARIO = "name: lose broker-b\nchanges: [{change: lose_broker, broker_name: broker-b}]"
BOTH_SIDES = ["snapshot", "before.allocate", "before.assess"]
CHANGED = ["after.simulate", "after.allocate", "after.assess", "after.recommend", "publish"]


def test_it_runs_by_hand_alone(dag_bag: "DagBag") -> None:
    dag = dag_bag.dags["rocketmq_what_if"]

    assert type(dag.timetable).__name__ == "NullTimetable"
    assert dag.task_ids[0] == "scenario"
    assert set(dag.task_ids) == {"scenario", *BOTH_SIDES, *CHANGED}


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


@pytest.fixture(scope="module")
def run(what_ifs: Path) -> "DagRun":
    """One run of the form, on the recorded sample."""
    from airflow.dag_processing.dagbag import DagBag

    dag: DAG = DagBag(str(ROOT / "dags")).dags["rocketmq_what_if"]
    day = datetime(2026, 11, 16, tzinfo=UTC)
    ran: DagRun = dag.test(run_after=day, logical_date=day, run_conf={"scenario": SCENARIO})
    return ran


@pytest.mark.slow
def test_a_run_plans_the_changed_cluster_beside_the_one_as_it_is(what_ifs: Path, run: "DagRun") -> None:
    assert run.state == "success"
    stored = existing_run(Lake(what_ifs), run_key(run, "sample"))
    plan = json.loads((stored.report / "plan.json").read_bytes())

    assert plan["scenario"]["name"] == "lose broker-b"
    assert plan["scenario"]["changes"] == [{"change": "lose_broker", "broker_name": "broker-b"}]
    assert any(group["moved_queues"] for group in plan["scenario"]["groups"])
    assert plan["scenario"]["findings_added"] or plan["scenario"]["findings_cleared"]


@pytest.mark.slow
def test_the_command_line_says_the_same_of_the_same_scenario(what_ifs: Path, run: "DagRun", tmp_path: Path) -> None:
    (tmp_path / "scenario.yaml").write_text(SCENARIO, encoding="utf-8")
    arguments = [f"--inventory={sample_inventory()}", f"--scenario={tmp_path / 'scenario.yaml'}"]
    program = [sys.executable, "-m", "rocketmq_capacity", "plan"]
    subprocess.run([*program, *arguments, f"--out={tmp_path / 'out'}"], check=True, timeout=300)

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
