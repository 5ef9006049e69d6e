"""Lakes with reports in them, made by the real ``publish`` from rows of plans; hundreds of them by copying."""

import json
import shutil
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from rocketmq_capacity.plan_file.own_policy import OwnPolicy, PolicyDifference
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_key import run_key
from rocketmq_capacity.store.writing import write_together
from tests.report.from_rows import publish_rows
from tests.report.made_scenario import a_scenario
from tests.report.varied_cluster import varied_rows
from tests.store.dag_run import DagRun

CLUSTER: Final = "prod-eu-1"
LAST: Final = datetime(2026, 11, 20, 2, tzinfo=UTC)


def run_id_of(moment: datetime, name: str = "scheduled", source: str = "eu") -> str:
    """The key of a scheduled run, as the Dag makes it."""
    return run_key(DagRun(f"{name}__{moment.isoformat()}", moment), source)


def airflow_run_id_of(moment: datetime) -> str:
    """What Airflow calls the same run."""
    return f"scheduled__{moment.isoformat()}"


def put(lake: Path, run_id: str, rows: dict[str, Any], **published: Any) -> Run:
    """A published run, as the last step leaves it."""
    run = Lake(lake).run(rows["cluster"][0]["cluster_name"], run_id)
    publish_rows(rows, run.report, **published)
    run.begin("publish")
    run.commit("publish", [])
    return run


def rows_of(moment: datetime, groups: int = 6, cluster: str = CLUSTER) -> dict[str, Any]:
    """A plan's rows; each day's cluster is a little different."""
    rows = varied_rows(groups, seed=moment.toordinal())
    rows["cluster"][0] |= {
        "cluster_name": cluster,
        "taken_at": f"{moment:%Y-%m-%dT%H:%M:%SZ}",
        "fingerprint": f"{moment.toordinal():x}" * 8,
    }
    return rows


@cache
def _report_of(moment: datetime, groups: int, cluster: str) -> dict[str, bytes]:
    """The files of that day's plan; drawing them takes a second, and many tests want the same."""
    with TemporaryDirectory() as folder:
        publish_rows(rows_of(moment, groups, cluster), Path(folder))
        files = (file for file in Path(folder).rglob("*") if file.is_file())
        return {str(file.relative_to(folder)): file.read_bytes() for file in files}


def put_days(lake: Path, days: int, cluster: str = CLUSTER) -> list[Run]:
    """One plan a day up to the last, oldest first."""
    runs = []
    for ago in reversed(range(days)):
        moment = LAST - timedelta(days=ago)
        run = Lake(lake).run(cluster, run_id_of(moment))
        for name, content in _report_of(moment, 5 + ago % 3, cluster).items():
            write_together(run.report, {name: content})
        run.begin("publish")
        run.commit("publish", [])
        runs.append(run)
    return runs


A_TRIAL: Final = OwnPolicy(
    is_trial=True,
    differences=(
        PolicyDifference(key="strategies", deployment=["AVG", "POP"], run=["AVG"]),
        PolicyDifference(key="thresholds.HOT_QUEUE.peak", deployment=2.0, run=3.0),
    ),
    strategies=("AVG",),
)


def put_trial(lake: Path, moment: datetime = LAST, own_policy: OwnPolicy = A_TRIAL) -> Run:
    """A run from the form that decides otherwise, on a snapshot of an hour after that moment."""
    later = moment + timedelta(hours=1)
    run = put(lake, run_id_of(later, "manual"), rows_of(later), own_policy=own_policy)
    own_policy.write(run.own_policy)
    return run


def put_what_if(lake: Path, cluster: str = CLUSTER) -> Run:
    """A what-if on the last snapshot."""
    run_id = run_id_of(LAST + timedelta(hours=3), "manual")
    return put(lake, run_id, rows_of(LAST, cluster=cluster), scenario=a_scenario())


def copied(run: Run, number: int) -> Run:
    """The same report again, as if it had been made ``number`` days earlier."""
    summary = json.loads((run.report / "summary.json").read_bytes())
    moment = datetime.fromisoformat(summary["taken_at"]) - timedelta(days=number)
    other = Run(run.folder.with_name(run_id_of(moment)))
    shutil.copytree(run.folder, other.folder)
    for name in ("summary.json", "plan.json"):
        file = other.report / name
        file.write_text(file.read_text().replace(summary["taken_at"], f"{moment:%Y-%m-%dT%H:%M:%SZ}"))
    return other
