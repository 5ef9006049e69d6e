"""A run of the daily Dag on the recorded inventory, compared with the same Spark apps submitted by a shell script."""

import json
import os
import shlex
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocketmq_capacity.provider.executor_code import packed
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.spark.jvm import OPTIONS, options
from rocketmq_capacity.spark.jvm import environment as jvm_environment

ROOT: Final = Path(__file__).parents[2]
STEPS: Final = ("snapshot", "allocate", "assess", "recommend", "publish")
MASTER: Final = "local[*]"


@dataclass(frozen=True, slots=True)
class DagTiming:
    """Seconds from the first command to the end of the last."""

    shell_seconds: float
    dag_seconds: float
    steps: dict[str, float]


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
        heap = jvm_environment(sample_inventory().stat().st_size)
        _run(["airflow", "db", "migrate"], environment)
        script, steps = home / "apps.sh", home / "steps"
        script.write_text(_script(home, steps), encoding="utf-8")
        shell_seconds = _run(["sh", str(script)], environment | heap)
        dag_seconds = _run(["airflow", "dags", "test", "rocketmq_capacity_plan"], environment)
        return DagTiming(shell_seconds, dag_seconds, _apart(steps.read_text()))


def _script(home: Path, steps: Path) -> str:
    """What somebody without Airflow would write: the same apps, settings and arguments."""
    from rocketmq_capacity.provider.spark_app import CONF

    code = home / "code.zip"
    code.write_bytes(packed())
    submit = ["spark-submit", "--master", MASTER, "--py-files", str(code)]
    for name, value in {OPTIONS: options(), **CONF}.items():
        submit += ["--conf", f"{name}={value}"]
    lines = ["set -eu", f"echo begun $(date +%s.%N) >{shlex.quote(str(steps))}"]
    for step in STEPS:
        app = [str(ROOT / "spark_apps" / f"{step}.py"), f"--lake={home / 'shell'}", "--run-id=r1"]
        source = [f"--inventory={sample_inventory()}"] if step == "snapshot" else []
        lines.append(shlex.join([*submit, *app, *source]))
        lines.append(f"echo {step} $(date +%s.%N) >>{shlex.quote(str(steps))}")
    return "\n".join(lines) + "\n"


def _apart(told: str) -> dict[str, float]:
    """Seconds of each step, from the moments at which they ended."""
    moments = [(name, float(moment)) for name, _, moment in (line.partition(" ") for line in told.splitlines())]
    return {name: moment - before for (_, before), (name, moment) in pairwise(moments)}


def _run(command: list[str], environment: dict[str, str]) -> float:
    begun = time.perf_counter()
    done = subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: {done.stderr[-2000:]}")
    return time.perf_counter() - begun
