"""Spark's apps, killed: each starts as Airflow starts it, in a process group of its own."""

import os
import random
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import psutil

from rocketmq_capacity.settings.deployment import sample_inventory
from rocketmq_capacity.spark.jvm import OPTIONS, options
from rocketmq_capacity.store.lake import Lake, Run
from rocketmq_capacity.store.run_lookup import existing_run
from tests.fixtures.environment import ROOT
from tests.kills.points import GROUP, KILL, ME, PARENT
from tests.kills.states import STEPS, Files, assert_nothing_half_written, assert_same, files_of
from tests.plan.program import SPARK, SPARK_S_PYTHON, arguments_of

RUN: Final = "r1"
WORKER: Final = "worker"
WITH_WORKERS: Final = ("allocate", "assess", "recommend")
TIME_LIMIT_S: Final = 300.0
LOOK_EVERY_S: Final = 0.005
_IN_DRIVER: Final = Path(__file__).parent / "in_driver"


@dataclass(frozen=True)
class AtPoint:
    """When the driver is about to make its n-th change below the lake."""

    who: str
    number: int

    def __str__(self) -> str:
        return f"{self.who} at point {self.number}"


@dataclass(frozen=True)
class After:
    """Some seconds after the app started, or of a worker: after the first one did."""

    who: str
    seconds: float

    def __str__(self) -> str:
        return f"{self.who} after {self.seconds:.2f} s"


Kill = AtPoint | After


@dataclass
class Chain:
    """A run that went well, and what each step of it left.

    Attributes:
        folder: holds a lake for each step, as the step found it.
        whole: every file of the finished run.
        seconds: that each step took.
        points: that each step has.
    """

    folder: Path
    whole: Files = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)

    def before(self, step: str) -> Path:
        """The lake as the step found it."""
        return self.folder / f"before-{step}"

    def after(self, step: str) -> Files:
        """Every file of the run as the step left it."""
        later = STEPS.index(step) + 1
        return files_of(run_in(self.before(STEPS[later]))) if later < len(STEPS) else self.whole

    @classmethod
    def of_sample(cls, folder: Path) -> "Chain":
        """Run all apps, one after the other. Errors: AssertionError where one fails."""
        chain = cls(folder)
        lake = folder / "whole"
        lake.mkdir()
        for step in STEPS:
            shutil.copytree(lake, chain.before(step))
            began = time.monotonic()
            ended = _App(step, lake).ended()
            assert ended == 0, step
            chain.seconds[step] = time.monotonic() - began
        chain.whole = files_of(run_in(lake))
        return chain


def run_in(lake: Path) -> Run:
    """The one run of the lake."""
    return existing_run(Lake(lake), RUN)


@dataclass(frozen=True)
class Trial:
    """A step of a run that is killed, and tried again under the same key.

    Attributes:
        is_repeated: whether the run had been published before, and the step is done anew.
    """

    step: str
    kill: Kill
    is_repeated: bool = False

    def __str__(self) -> str:
        return f"{self.step}{' of a published run' if self.is_repeated else ''}: {self.kill}"

    def run(self, chain: Chain, folder: Path) -> bool:
        """Kill, look, try again, compare; False where the app ended well before it was killed.

        Errors: AssertionError for anything half-written, and where the retry does not end in the same bytes.
        """
        lake = folder / "lake"
        shutil.rmtree(lake, ignore_errors=True)
        shutil.copytree(chain.folder / "whole" if self.is_repeated else chain.before(self.step), lake)
        whole = chain.whole if self.is_repeated else chain.after(self.step)
        status = self._killed(lake)
        if status == 0:
            return False
        if any(lake.glob(f"*/{RUN}/inventory.json")):
            assert_nothing_half_written(run_in(lake), whole)
        app = _App(self.step, lake)
        assert app.ended() == 0, app.said()
        assert_same(run_in(lake), whole)
        return True

    def _killed(self, lake: Path) -> int:
        if isinstance(self.kill, AtPoint):
            return _App(self.step, lake, f"{self.step} {lake} {self.kill.number} {self.kill.who}").ended()
        app = _App(self.step, lake)
        app.wait_for(self.kill.who)
        app.wait(self.kill.seconds)
        app.kill(self.kill.who)
        return app.ended()


def random_trial(chain: Chain, step: str, who: str, chance: random.Random) -> Trial:
    """A trial of the step at a random point."""
    kill: Kill
    if who == WORKER:
        kill = After(WORKER, chance.uniform(0, chain.seconds[step] / 4))
    elif chance.random() < 0.5:
        kill = AtPoint(who, chance.randint(1, POINTS[step]))
    else:
        kill = After(who, chance.uniform(0, chain.seconds[step]))
    return Trial(step, kill, is_repeated=chance.random() < 0.5)


POINTS: Final = {"snapshot": 45, "allocate": 14, "assess": 28, "recommend": 30, "publish": 16}
"""About as many as the steps have."""


class _App:
    """An app under way."""

    def __init__(self, step: str, lake: Path, kill: str | None = None) -> None:
        source = [f"--inventory={sample_inventory()}"] if step == "snapshot" else []
        words = ["spark-submit", "--master", "local[2]", "--conf", f"{OPTIONS}={options()}"]
        words += [str(ROOT / "spark_apps" / f"{step}.py"), f"--lake={lake}", f"--run-id={RUN}", *source]
        environment = dict(os.environ)
        if kill is not None:
            environment[KILL] = kill
            path = [str(_IN_DRIVER), str(ROOT), environment.get("PYTHONPATH", "")]
            environment["PYTHONPATH"] = os.pathsep.join(filter(None, path))
        self._log = (lake.parent / f"{step}.log").open("w+")
        self._process = subprocess.Popen(
            words, cwd=lake.parent, env=environment, stdout=self._log, stderr=self._log, start_new_session=True
        )

    def wait_for(self, who: str) -> None:
        """Until there is such a process, or the app has ended."""
        while who != GROUP and not self._processes(who) and self._process.poll() is None:
            time.sleep(LOOK_EVERY_S)

    def wait(self, seconds: float) -> None:
        """So long, or until the app has ended."""
        with suppress(subprocess.TimeoutExpired):  # it runs longer
            self._process.wait(seconds)

    def kill(self, who: str) -> None:
        """Kill such a process; of workers, one that there is now."""
        if who == GROUP:
            with suppress(ProcessLookupError):  # it has just ended
                os.killpg(self._process.pid, signal.SIGKILL)
            return
        for one in self._processes(who)[:1]:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                one.kill()

    def ended(self) -> int:
        """Wait for its end; its status. Errors: subprocess.TimeoutExpired."""
        try:
            return self._process.wait(TIME_LIMIT_S)
        finally:
            if self._process.poll() is None:
                os.killpg(self._process.pid, signal.SIGKILL)

    def said(self) -> str:
        """What it has written."""
        self._log.seek(0)
        return self._log.read()

    def _processes(self, who: str) -> list[psutil.Process]:
        with suppress(psutil.NoSuchProcess):  # the app has ended
            root = psutil.Process(self._process.pid)
            every = [root, *root.children(recursive=True)]
            return [one for one in every if _is(who, one)]
        return []


def _is(who: str, process: psutil.Process) -> bool:
    words = arguments_of(process)
    if who == PARENT:
        return SPARK in words
    if who == ME:
        return any(word.endswith(".py") and "spark_apps" in word for word in words[1:2])
    with suppress(psutil.NoSuchProcess):  # it has just ended
        parent = process.parent()
        return SPARK_S_PYTHON in words and parent is not None and SPARK_S_PYTHON in arguments_of(parent)
    return False
