"""One process at a time works on a run, and a lock ends with its process."""

import multiprocessing
import time
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from rocketmq_capacity.errors import RunBusy
from rocketmq_capacity.store.lake import Run

PROCESSES = multiprocessing.get_context("forkserver")


def hold(folder: Path, pipe: "Connection[str, str]") -> None:
    with Run(folder).alone():
        pipe.send("holds")
        pipe.recv()


@pytest.fixture
def holder(tmp_path: Path) -> "tuple[multiprocessing.process.BaseProcess, Connection[str, str]]":
    """A process that works on the run until it is stopped."""
    ours, theirs = PROCESSES.Pipe()
    process = PROCESSES.Process(target=hold, args=(tmp_path, theirs), daemon=True)
    process.start()
    assert ours.recv() == "holds"
    return process, ours


def test_a_second_process_waits_for_the_first(tmp_path: Path, holder) -> None:
    process, pipe = holder
    pipe.send("end")
    with Run(tmp_path).alone(wait_s=60):
        assert not process.is_alive() or process.join(60) is None


def test_it_says_that_it_waits_and_does_not_wait_for_ever(
    tmp_path: Path, holder, caplog: pytest.LogCaptureFixture
) -> None:
    began = time.monotonic()
    with pytest.raises(RunBusy, match="another process still works on this run; expected that it ends"):
        Run(tmp_path).alone(wait_s=0.6).__enter__()
    assert time.monotonic() - began >= 0.6
    assert f"{tmp_path}: waits up to 1 s for another process to end" in caplog.text


def test_a_killed_process_holds_nothing(tmp_path: Path, holder) -> None:
    process, _ = holder
    process.kill()
    with Run(tmp_path).alone(wait_s=60):
        pass


def test_runs_are_worked_on_side_by_side(tmp_path: Path) -> None:
    with Run(tmp_path / "a").alone(wait_s=0), Run(tmp_path / "b").alone(wait_s=0):
        pass
