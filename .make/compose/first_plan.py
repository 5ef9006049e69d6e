"""Lets the first plan be made once everything is well, waits for it, and says where to read it.

first_plan.py API_SERVER PUBLIC_ADDRESS; AIRFLOW_ADMIN_PASSWORD has the password of admin.

New Dags are paused until here, because what they plan may still be starting. Switching the daily one on makes the run
of today. Where today's run was made before, and has failed or was deleted, a new run is triggered. A stack that has a
plan makes no second.
"""

import os
import sys
import time
import urllib.parse
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any, Final, TypeVar

from airflow_api import AirflowApi, Unanswered

USER: Final = "admin"
DAG: Final = "rocketmq_capacity_plan"
RUNS: Final = f"/dags/{DAG}/dagRuns"
DAGS_OURS: Final = "rocketmq_"

DAG_WITHIN_S: Final = 300.0
"""The first reading of the Dags' folder takes seconds, on a loaded machine a minute."""
RUN_WITHIN_S: Final = 120.0
"""The scheduler makes today's run of a Dag that was switched on within seconds, on a loaded machine within a minute."""
PLAN_WITHIN_S: Final = 2 * 3600.0
"""The daily Dag ends its run by itself after two hours."""
FINAL: Final = ("success", "failed")

Found = TypeVar("Found")


class NoPlan(Exception):
    """Why there is none; one line."""


def main() -> int:
    """Make the plan, and print where it is."""
    api_server, public = sys.argv[1:]
    api = AirflowApi(api_server)
    try:
        api.log_in(USER, os.environ["AIRFLOW_ADMIN_PASSWORD"])
        run = _last(api, state="success") or _planned(api)
    except (NoPlan, Unanswered) as reason:
        print(f"no plan: {reason}", file=sys.stderr)
        return 1
    for line in _told(api, run):
        print(line)
    path = f"/rocketmq-capacity/dag-runs/{DAG}/{urllib.parse.quote(run['dag_run_id'], safe='')}"
    print(f"the report: {public}{path}")
    print(f"log in as {USER} with AIRFLOW_ADMIN_PASSWORD of your .env")
    return 0


def _planned(api: AirflowApi) -> dict[str, Any]:
    dags = _dags(api)
    before = _last(api)
    for dag in dags:
        if dag["is_paused"]:
            api.patch(f"/dags/{dag['dag_id']}", {"is_paused": False}, update_mask="is_paused")
    _until(RUN_WITHIN_S, lambda: not _is_due(api))
    run = _last(api)
    # A new run may have ended already, so its state does not show whether it is new.
    if run is None or (run["state"] in FINAL and before is not None and run["dag_run_id"] == before["dag_run_id"]):
        run = api.post(RUNS, {"logical_date": None, "conf": {}, "note": "the first plan of this stack"})
    name = urllib.parse.quote(run["dag_run_id"], safe="")
    print(f"planning: {DAG}, run {run['dag_run_id']} …", flush=True)
    ended = _until(PLAN_WITHIN_S, lambda: _if_final(api.get(f"{RUNS}/{name}")))
    if ended is None:
        raise NoPlan(f"the run has not ended within {PLAN_WITHIN_S:.0f} s")
    if ended["state"] != "success":
        tasks = api.get(f"{RUNS}/{name}/taskInstances", limit=100)["task_instances"]
        failed = ", ".join(task["task_id"] for task in tasks if task["state"] == "failed")
        raise NoPlan(f"the run failed at {failed or 'no task'}; its log says why")
    return ended


def _dags(api: AirflowApi) -> list[dict[str, Any]]:
    """Ours, once the daily one is among them; those whose files are read after it come within a second."""

    def known() -> list[dict[str, Any]] | None:
        dags: list[dict[str, Any]] = api.get("/dags", limit=100, dag_id_pattern=f"{DAGS_OURS}%")["dags"]
        return dags if any(dag["dag_id"] == DAG for dag in dags) else None

    if _until(DAG_WITHIN_S, known) is None:
        broken = api.get("/importErrors", limit=10)["import_errors"]
        raise NoPlan(f"Airflow does not know {DAG}: {broken[0]['stack_trace'] if broken else 'no file was read'}")
    time.sleep(2)
    return known() or []


def _is_due(api: AirflowApi) -> bool:
    """Whether the scheduler still has a run of the daily Dag to make: it makes it and moves the date on at once."""
    run_after = api.get(f"/dags/{DAG}")["next_dagrun_run_after"]
    return run_after is not None and datetime.fromisoformat(run_after) <= datetime.now(UTC)


def _last(api: AirflowApi, **state: str) -> dict[str, Any] | None:
    """The run that was made last, of those in a state where one is named."""
    try:
        runs: list[dict[str, Any]] = api.get(RUNS, **state, order_by="-id", limit=1)["dag_runs"]
    except Unanswered as refusal:
        if refusal.status == 404:  # the Dag's file has not been read yet
            return None
        raise
    return runs[0] if runs else None


def _if_final(run: dict[str, Any]) -> dict[str, Any] | None:
    return run if run["state"] in FINAL else None


def _until(limit_s: float, look: Callable[[], Found | None]) -> Found | None:
    """The first result of looking that is not None; None if the time is up."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        if found := look():
            return found
        time.sleep(1)
    return None


def _told(api: AirflowApi, run: dict[str, Any]) -> Iterator[str]:
    """A line for each plan of the run."""
    events = api.get("/assets/events", source_dag_id=DAG, source_run_id=run["dag_run_id"], limit=100)
    for event in events["asset_events"]:
        facts = event["extra"]
        found = ", ".join(f"{count} {severity}" for severity, count in facts["findings"].items())
        yield f"plan of {facts['cluster_name']}: findings {found}; {facts['recommendations']} recommendations"


if __name__ == "__main__":
    sys.exit(main())
