"""How far ``plan`` is, on standard error and on a terminal; standard output has the result alone."""

import json
import os
import pty
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.cli.program import TIME_LIMIT_S, command, run
from tests.plan import program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

SAMPLE: Final = sample_inventory()
STEPS: Final = ("snapshot", "allocate", "assess", "recommend", "publish")
LINE: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO (.*)")
DEFAULTS: Final = {"SPARK_SUBMIT_OPTS": "", "SPARK_LOCAL_IP": ""}
"""Nothing is set for Spark that would keep it quiet."""


@pytest.mark.parametrize("scenario", [None, "name: double\nchanges: [{change: scale_traffic, factor: 2.0}]"])
def test_each_step_is_told_with_what_it_made_and_nothing_of_spark_is(tmp_path: Path, scenario: str | None) -> None:
    options = []
    if scenario is not None:
        (tmp_path / "scenario.yaml").write_text(scenario)
        options = ["--scenario", tmp_path / "scenario.yaml"]
    done = run("plan", "--inventory", SAMPLE, "--out", "out", *options, cwd=tmp_path, env=DEFAULTS)

    assert (done.returncode, done.stdout) == (0, "out/report.html\nout/plan.json\n"), done.stderr
    matched = [LINE.fullmatch(line) for line in done.stderr.splitlines()]
    assert all(matched), done.stderr
    lines = [line[1] for line in matched if line]
    suffix = "" if scenario is None else " (changed)"
    sides = {""} | {suffix}
    began = [line.removesuffix(": begins") for line in lines if re.fullmatch(r"[a-z]+( \(\w+\))?: begins", line)]
    assert Counter(began) == Counter(
        [f"{step}{side}" for step in STEPS[:3] for side in sides]
        + [f"{step}{suffix}" for step in STEPS[3:]]
        + [f"compare{suffix}"] * (scenario is not None)
    )
    outcome = dict(re.findall(r"(?m)^([a-z]+(?: \(\w+\))?): done in \d+(?:\.\d)? s: (.*)$", "\n".join(lines)))
    assert set(began) == outcome.keys() - {"plan"}
    assert all(re.search(r"peak memory [\d,]+ MiB$", told) for told in outcome.values())

    plan = json.loads((tmp_path / "out" / "plan.json").read_bytes())
    number = Counter(finding["severity"] for finding in plan["findings"])
    found = f"findings: {number['CRITICAL']} CRITICAL, {number['WARNING']} WARNING, {number['INFO']} INFO; "
    assert outcome[f"assess{suffix}"].startswith(found)
    assert outcome[f"recommend{suffix}"].startswith(f"{len(plan['recommendations'])} recommendations, ")
    inventory = json.loads(SAMPLE.read_bytes())
    held = f"{inventory['cluster_name']} at {inventory['taken_at']}: {len(inventory['consumer_groups'])} groups, "
    assert outcome["snapshot"].startswith(held)
    judged = len(plan["groups"])
    assert f"assess: groups: begins, {judged} to do" in lines
    assert any(re.fullmatch(rf"assess: groups: {judged} done in \d+(\.\d)? s", line) for line in lines)
    assert re.fullmatch(r"plan: done in \d+(\.\d)? s, in the folder out", lines[-1])


def test_a_quiet_plan_says_where_the_result_is_and_no_more(tmp_path: Path) -> None:
    done = run("plan", "--quiet", "--inventory", SAMPLE, "--out", "out", cwd=tmp_path, env=DEFAULTS)
    assert (done.returncode, done.stdout, done.stderr) == (0, "out/report.html\nout/plan.json\n", "")


def test_a_terminal_shows_a_row_for_each_step(tmp_path: Path) -> None:
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command("plan", "--inventory", SAMPLE, "--out", "out"),
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "160", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=theirs,
    ) as planning:
        os.close(theirs)
        drawn = program.read_to_the_end(ours)
        assert planning.wait(TIME_LIMIT_S) == 0, drawn
        assert planning.stdout is not None
        assert planning.stdout.read() == b"out/report.html\nout/plan.json\n"

    assert "\x1b[3" not in drawn
    *_, plan = text = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", drawn).splitlines()
    assert plan.startswith("plan: done in ")
    rows = [line for line in text if line.startswith("* ")][-len(STEPS) :]
    assert [row.split()[1] for row in rows] == list(STEPS)
    assert all(re.search(r"peak memory [\d,]+ MiB +\d+(\.\d)? s *$", row) for row in rows)
