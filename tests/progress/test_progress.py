"""Which calls about steps and phases a display gets."""

import subprocess
import sys
import threading
from typing import Final

import pytest

from rocketmq_capacity.progress.memory import held_bytes
from rocketmq_capacity.progress.progress import LOOK_EVERY_S, Phase, Progress
from tests.progress.stepping import Told

HOLDING: Final = "held = bytearray(200 * 1024**2); print('held', flush=True); input()"


def test_steps_and_phases_are_reported_in_order() -> None:
    told = Told()
    with Progress(told) as progress:
        with progress.step("assess"), progress.phase("groups", 3):
            progress.tell("nobody offers a core")
        with progress.step("publish"):
            pass

    assert told.without_looks() == [
        "assess begins",
        "groups begins",
        "WARNING nobody offers a core",
        "groups ends",
        "ends",
        "publish begins",
        "ends",
        "closes",
    ]


def test_what_fails_has_no_end() -> None:
    told = Told()
    with (
        pytest.raises(ValueError, match="no such broker"),
        Progress(told) as progress,
        progress.step("assess"),
        progress.phase("groups"),
    ):
        raise ValueError("no such broker")

    assert told.without_looks() == ["assess begins", "groups begins", "closes"]


def test_a_step_that_takes_long_is_looked_at_meanwhile() -> None:
    looked = threading.Event()

    class Looking(Told):
        def looks(self) -> None:
            looked.set()

    with Progress(Looking()) as progress, progress.step("assess"):
        assert looked.wait(300 * LOOK_EVERY_S)


def test_without_a_display_nothing_is_shown_and_counts_still_go_up() -> None:
    before = threading.active_count()
    with Progress() as progress, progress.step("assess") as step, progress.phase("groups", 3) as phase:
        phase.done += 1
        step.tells("3 groups")
        progress.tell("nobody offers a core")
        assert threading.active_count() == before

    assert phase.looked_at() == 1


def test_units_that_are_done_twice_count_up_to_the_total() -> None:
    assert Phase("groups", 30, lambda: 41).looked_at() == 30


def test_the_memory_of_all_processes_below_counts() -> None:
    starting = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLDING!r}])"
    with subprocess.Popen(
        [sys.executable, "-c", starting], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdout is not None
        assert parent.stdout.readline() == "held\n"
        held = held_bytes(parent.pid)
        parent.communicate("\n")

    assert held is not None
    assert 200 * 1024**2 < held < 400 * 1024**2


def test_the_most_memory_of_a_step_is_reported() -> None:
    with Progress(Told()) as progress, progress.step("assess") as step:
        pass

    assert step.peak_bytes is not None
    assert step.peak_bytes > 1024**2
