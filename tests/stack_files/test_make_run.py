"""What ``make run`` says while it runs: a line for each step, as soon as the step's manifest is in the lake."""

import os
import subprocess
from pathlib import Path

from tests.fixtures.environment import ROOT

STEPS = ("snapshot", "allocate", "assess", "recommend", "publish")
AIRFLOW = """#!/bin/sh
mkdir -p data/lake/shop/r2/steps
for step in {steps}; do
  sleep 0.2
  echo {{}} >data/lake/shop/r2/steps/$step.json
done
{ends}
"""


def run(home: Path, steps: tuple[str, ...], ends: str) -> subprocess.CompletedProcess[str]:
    """The script, where Airflow's command is a program that writes these manifests and then ends so."""
    program = home / "bin" / "airflow"
    program.parent.mkdir()
    program.write_text(AIRFLOW.format(steps=" ".join(steps), ends=ends))
    program.chmod(0o755)
    (home / ".airflow").mkdir()
    old = home / "data" / "lake" / "shop" / "r1" / "steps"
    old.mkdir(parents=True)
    for step in STEPS:  # of an earlier run
        (old / f"{step}.json").touch()
        os.utime(old / f"{step}.json", (1, 1))
    environment = {**os.environ, "PROJECT_HOME": str(home), "PATH": f"{program.parent}:{os.environ['PATH']}"}
    script = ROOT / ".make" / "run.sh"
    return subprocess.run(
        ["sh", str(script)], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


def told(output: str) -> list[str]:
    return [line.removeprefix("make run: ").split(" is done")[0] for line in output.splitlines() if " is done" in line]


def test_each_step_has_its_line_when_it_is_done(tmp_path: Path) -> None:
    done = run(tmp_path, STEPS, "echo the end >&2; exit 0")

    assert told(done.stdout) == list(STEPS)
    assert "make run: planned in " in done.stdout


def test_a_run_that_fails_says_how_far_it_came_and_the_end_of_its_log(tmp_path: Path) -> None:
    done = run(tmp_path, STEPS[:2], "echo no queue >&2; exit 1")

    assert done.returncode == 1
    assert told(done.stdout) == ["snapshot", "allocate"]
    assert "no queue" in done.stderr
    assert "make run: the Dag failed; its whole log is .airflow/run.log" in done.stderr
