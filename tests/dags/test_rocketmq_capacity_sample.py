"""The Dag of the samples as it is written: how often it runs, and the program that it would start."""

from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rocketmq_capacity.provider.sampling import every
from rocketmq_capacity.provider.spark_app import ClusterApp
from rocketmq_capacity.settings.deployment import DeploymentPlaces
from tests.fixtures.environment import ROOT

if TYPE_CHECKING:
    from airflow.dag_processing.dagbag import DagBag

pytestmark = pytest.mark.airflow


def test_it_samples_beside_the_plans(dag_bag: "DagBag") -> None:
    dag = dag_bag.dags["rocketmq_capacity_sample"]
    task = dag.get_task("take.sample")
    assert str(dag.schedule) == "None"  # this deployment has no clusters
    assert (dag.max_active_runs, dag.catchup) == (1, False)
    assert dag.task_ids == ["sources", "take.sample"]
    assert isinstance(task, ClusterApp)
    assert Path(task.application) == ROOT / "spark_apps" / "sample.py"
    assert task.pool != dag_bag.dags["rocketmq_capacity_plan"].get_task("plan.assess").pool


@pytest.mark.parametrize(
    ("policy", "minutes"), [("samples: {every_minutes: 15}\n", 15), ("samples: {every_minutes: x}\n", 5), ("", 5)]
)
def test_the_policy_says_how_often(tmp_path: Path, policy: str, minutes: int) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(policy, "utf-8")
    places = {"RMQC_POLICY": str(file), "RMQC_CLUSTERS": "shop"}
    assert every(DeploymentPlaces.of(tmp_path, places)) == timedelta(minutes=minutes)
    assert every(DeploymentPlaces.of(tmp_path, places | {"RMQC_CLUSTERS": ""})) is None
