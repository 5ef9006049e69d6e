"""A run of the daily Dag on the recorded inventory, compared with the same Spark apps submitted by a shell script."""

import json
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.benchmarks.apps import MASTER, AppsTiming, time_apps, timed


@dataclass(frozen=True, slots=True)
class DagTiming:
    """Seconds from the first command to the end of the last."""

    shell: AppsTiming
    dag_seconds: float


def time_dag() -> DagTiming:
    """Both on an empty lake each; the shell is first, so that what the machine keeps of files is warm for neither."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        environment = os.environ | {
            "AIRFLOW_HOME": str(home / "airflow"),
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home}/airflow/airflow.db",
            "AIRFLOW_CONN_SPARK_DEFAULT": json.dumps({"conn_type": "spark", "host": MASTER}),
            "RMQC_LAKE": str(home / "lake"),
        }
        timed(["airflow", "db", "migrate"], environment)
        shell = time_apps(sample_inventory(), str(home / "shell"))
        return DagTiming(shell, timed(["airflow", "dags", "test", "rocketmq_capacity_plan"], environment))
