"""The Spark apps of a plan one after the other, as a shell script without Airflow would run them."""

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Final

from rocketmq_capacity.provider.executor_code import packed
from rocketmq_capacity.spark.jvm import OPTIONS, options
from rocketmq_capacity.spark.jvm import environment as jvm_environment

ROOT: Final = Path(__file__).parents[2]
STEPS: Final = ("snapshot", "allocate", "assess", "recommend", "publish")
MASTER: Final = "local[*]"


@dataclass(frozen=True, slots=True)
class AppsTiming:
    """Seconds from the first command to the end of the last, and of each step."""

    seconds: float
    steps: dict[str, float]


def time_apps(
    inventory: Path, lake: str, policy: Path | None = None, variables: Mapping[str, str] | None = None
) -> AppsTiming:
    """The apps on an inventory.

    Args:
        inventory: the file.
        lake: an empty one: a folder, or a URL.
        policy: the file; None: the defaults.
        variables: of the environment beside this process's own.
    """
    environment = {**os.environ, **(variables or {}), **jvm_environment(inventory.stat().st_size)}
    with tempfile.TemporaryDirectory() as told:
        script, steps = Path(told) / "apps.sh", Path(told) / "steps"
        script.write_text(_script(Path(told), steps, inventory, lake, policy), encoding="utf-8")
        seconds = timed(["sh", str(script)], environment)
        return AppsTiming(seconds, _apart(steps.read_text()))


def timed(command: list[str], environment: Mapping[str, str]) -> float:
    """Seconds of a command; the program ends if it fails."""
    begun = time.perf_counter()
    done = subprocess.run(command, env=dict(environment), cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}: {done.stderr[-2000:]}")
    return time.perf_counter() - begun


def _script(folder: Path, steps: Path, inventory: Path, lake: str, policy: Path | None) -> str:
    """What somebody without Airflow would write: the same apps, settings and arguments as the Dag's."""
    from rocketmq_capacity.provider.spark_app import CONF

    code = folder / "code.zip"
    code.write_bytes(packed())
    submit = ["spark-submit", "--master", MASTER, "--py-files", str(code)]
    for name, value in {OPTIONS: options(), **CONF}.items():
        submit += ["--conf", f"{name}={value}"]
    lines = ["set -eu", f"echo begun $(date +%s.%N) >{shlex.quote(str(steps))}"]
    for step in STEPS:
        app = [str(ROOT / "spark_apps" / f"{step}.py"), f"--lake={lake}", "--run-id=r1"]
        given = [f"--policy={policy}"] if policy else []
        source = [f"--inventory={inventory}"] if step == "snapshot" else []
        lines.append(shlex.join([*submit, *app, *given, *source]))
        lines.append(f"echo {step} $(date +%s.%N) >>{shlex.quote(str(steps))}")
    return "\n".join(lines) + "\n"


def _apart(told: str) -> dict[str, float]:
    """Seconds of each step, from the moments at which they ended."""
    moments = [(name, float(moment)) for name, _, moment in (line.partition(" ") for line in told.splitlines())]
    return {name: moment - before for (_, before), (name, moment) in pairwise(moments)}
