"""A plan whose processes are all killed at once: what it would have replaced is there, and the next plan clears up."""

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.store.whole_folder import whole_folder
from tests.cli.planned import plain_sample
from tests.cli.program import TIME_LIMIT_S, command, contents
from tests.plan import program

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def kill_in_the_middle(out: Path) -> None:
    """Plan the sample, and kill the program and all that it started once the second of four steps is done."""
    words = command("plan", "--inventory", sample_inventory(), "--out", out, "--overwrite")
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + TIME_LIMIT_S
    while not list(out.parent.glob(".out.part/.lake.*/*/*/steps/allocate.json")):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_the_old_output_stays_and_the_next_plan_is_as_if_nothing_had_been(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    out = tmp_path / "out"
    with whole_folder(out, overwrite=False) as folder:
        (folder / "plan.json").write_text("yesterday's")
    before = contents(out)

    kill_in_the_middle(out)

    assert contents(out) == before
    program.plan(sample_inventory(), out, "--overwrite")
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    expected = plain_sample(tmp_path_factory).folder
    assert (out / "plan.json").read_bytes() == (expected / "plan.json").read_bytes()
    assert contents(out).keys() == contents(expected).keys()
