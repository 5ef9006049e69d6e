"""Work in a second process: it is whole when the body's end is reached, and it never outlives the first process."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from rocketmq_capacity.errors import BadInput, ContractBroken, ProcessGone
from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.steps.beside import beside
from tests.fixtures.environment import ROOT

TIME_LIMIT_S = 60.0


def wait_for_ever() -> None:
    time.sleep(TIME_LIMIT_S * 10)


def refuse() -> None:
    raise BadInput("policy.yaml", "rooms", "takes too long; expected a simpler pattern")


def break_contract() -> None:
    raise ContractBroken("group_unit: facts")


def fail() -> None:
    raise KeyError("nobody foresaw this")


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def forks() -> list[psutil.Process]:
    """The copies of this process; it may have other children."""
    own = psutil.Process().cmdline()
    return [child for child in psutil.Process().children() if child.cmdline() == own]


def test_the_work_is_done_by_another_process_that_has_all_objects_of_this_one() -> None:
    held = object()

    with beside(lambda: (os.getpid(), id(held))) as result:
        pid, identity = result()

    assert pid != os.getpid()
    assert identity == id(held)
    assert not forks()


@pytest.mark.parametrize(
    ("work", "error", "said"),
    [
        (refuse, BadInput, "^policy.yaml: rooms: takes too long; expected a simpler pattern$"),
        (break_contract, ContractBroken, "^group_unit: facts$"),
        (fail, RuntimeError, "^KeyError: 'nobody foresaw this'"),
        (die, ProcessGone, "was killed before the plan was finished; most often the machine's memory was too small$"),
    ],
)
def test_an_error_of_the_work_is_raised_here(work: Callable[[], None], error: type[Exception], said: str) -> None:
    with pytest.raises(error, match=said), beside(work):
        pass


def test_the_work_ends_with_the_body_where_the_body_fails() -> None:
    with pytest.raises(ZeroDivisionError, match="Process"), beside(wait_for_ever):
        raise ZeroDivisionError(forks())
    assert not forks()


def test_the_work_ends_when_this_process_is_killed(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    source = f"""
import os, time
from pathlib import Path
from rocketmq_capacity.steps.beside import beside
with beside(lambda: (Path({str(pid)!r}).write_text(f"{{os.getpid()}}\\n"), time.sleep({TIME_LIMIT_S * 10}))):
    time.sleep({TIME_LIMIT_S * 10})
"""
    program = subprocess.Popen([sys.executable, "-c", source], cwd=ROOT)
    try:
        until = time.monotonic() + TIME_LIMIT_S
        while not (pid.exists() and pid.read_text().endswith("\n")):
            assert time.monotonic() < until
            time.sleep(0.01)
        second = psutil.Process(int(pid.read_text()))
    finally:
        program.kill()
        program.wait()
    assert not psutil.wait_procs([second], TIME_LIMIT_S)[1]


def test_the_second_process_of_a_snapshot_imports_nothing(tmp_path: Path) -> None:
    """Another thread may hold the lock of an import, and then the second process would wait for ever."""
    imported = tmp_path / "imported"
    source = f"""
import os, sys
from pathlib import Path
from rocketmq_capacity.settings.policy import Policy
from rocketmq_capacity.snapshot.inventory_file import read_inventory
from rocketmq_capacity.steps.planning import Planning
from rocketmq_capacity.steps.snapshot import snapshot
from rocketmq_capacity.store.lake import Run

first, seen = os.getpid(), open({str(imported)!r}, "a", buffering=1)

def look(event, details):
    if os.getpid() != first and event in ("import", "open"):
        print(event, details[0], file=seen)

sys.addaudithook(look)
planning = Planning(lambda: None, Run(Path({str(tmp_path / "run")!r})), Policy())
snapshot(planning, read_inventory(Path({str(sample_inventory())!r})), keeps_inventory=False)
"""
    subprocess.run([sys.executable, "-c", source], cwd=ROOT, check=True, timeout=TIME_LIMIT_S)
    events = [line.split()[0] for line in imported.read_text().splitlines()]
    assert "import" not in events, imported.read_text()
    assert "open" in events, "the second process was not seen at all"
