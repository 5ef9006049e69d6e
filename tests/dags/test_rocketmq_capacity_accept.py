"""The Dag that accepts a risk, run for real."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rocketmq_capacity.plan_file.plan import read_plan
from rocketmq_capacity.store.acceptances import acceptances
from tests.fixtures.environment import ROOT
from tests.plugins.stored_reports import CLUSTER, LAST, put, rows_of

pytestmark = pytest.mark.airflow


def test_a_risk_is_accepted_in_the_name_of_the_user_who_triggered_the_run(
    tmp_path: Path, airflow_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("RMQC_LAKE", str(tmp_path))
    plan = read_plan(put(tmp_path, "r1", rows_of(LAST)).report / "plan.json")
    found = next(one for one in plan.findings if one.consumer_group is not None)
    moment = datetime.now(UTC)
    until = (moment + timedelta(days=3)).date().isoformat()
    form = {"rule": found.rule, "consumer_group": found.consumer_group, "why": "a rollout", "until": until}
    dag = DagBag(str(ROOT / "dags")).dags["rocketmq_capacity_accept"]

    ran = dag.test(run_after=moment, logical_date=moment, run_conf=form)

    assert ran.get_state() == "success"
    (risk,) = acceptances(tmp_path / CLUSTER, (moment + timedelta(minutes=10)).isoformat())
    assert ran.triggering_user_name
    assert (risk.by, risk.severity) == (ran.triggering_user_name, found.severity)


def test_what_the_latest_plan_does_not_find_fails_at_once(
    tmp_path: Path, airflow_database: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    from airflow.dag_processing.dagbag import DagBag

    monkeypatch.setenv("RMQC_LAKE", str(tmp_path))
    put(tmp_path, "r1", rows_of(LAST))
    moment = datetime.now(UTC)
    until = (moment + timedelta(days=3)).date().isoformat()
    form = {"rule": "LAG_STATE", "consumer_group": "nobody", "why": "a rollout", "until": until}
    dag = DagBag(str(ROOT / "dags")).dags["rocketmq_capacity_accept"]

    ran = dag.test(run_after=moment, logical_date=moment, run_conf=form)

    assert {task.task_id: (task.state, task.try_number) for task in ran.get_task_instances()} == {
        "accept": ("failed", 1)
    }
    assert not (tmp_path / CLUSTER / ".accepted").exists()
