"""The command line and Spark's apps as processes of their own, with the JVM that they start."""

import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from tests.cli.program import TIME_LIMIT_S, command, run
from tests.fixtures.environment import ROOT

ENDS_WITHIN_S: Final = 300.0
"""However Spark ends, the program that waits for it ends: within seconds on idle cores, later on a loaded machine."""
PROGRESS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ INFO [a-z]+: ")
LOOK_EVERY_S: Final = 0.05
SPARK: Final = "org.apache.spark.deploy.SparkSubmit"
"""The main class of the JVM; before it comes a short one that only puts the command together."""
SPARK_S_PYTHON: Final = "pyspark.worker"
"""An argument of Spark's Python daemon, whose words the workers keep that it forks."""


def with_defaults(folder: Path, **settings: object) -> dict[str, str]:
    """The environment of a deployment with these settings in its spark-defaults.conf; ``__`` stands for a dot."""
    folder.mkdir()
    lines = [f"{name.replace('__', '.')} {value}\n" for name, value in settings.items()]
    (folder / "spark-defaults.conf").write_text("".join(lines))
    return {"SPARK_CONF_DIR": str(folder)}


def plan(inventory: Path, out: Path, *options: object, env: Mapping[str, str] | None = None) -> Path:
    """Plan by the command line to its good end; the folder that it wrote."""
    done = run("plan", "--inventory", inventory, "--out", out, *options, cwd=out.parent, env=env, time_limit_s=600)
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr, done.stderr
    return out


@dataclass(frozen=True)
class Ended:
    """How a program ended.

    Attributes:
        after_s: seconds from what ended it, or from its start.
    """

    status: int
    said: str
    after_s: float

    def lines(self) -> list[str]:
        """Standard error without the lines that say how far it is."""
        return [line for line in self.said.splitlines() if not PROGRESS.match(line)]


class Program:
    """A program under way."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        """``process``: its first process, its standard error a pipe."""
        self._process = process
        self._psutil = psutil.Process(process.pid)

    def is_running(self) -> bool:
        """Whether its first process runs."""
        return self._process.poll() is None

    def processes(self) -> list[psutil.Process]:
        """All processes that it has started and that still run."""
        return list(self._psutil.children(recursive=True))

    def workers(self) -> list[psutil.Process]:
        """Spark's Python processes: the daemon, and the workers that it has forked."""
        return [one for one in self.processes() if SPARK_S_PYTHON in arguments_of(one)]

    def jvm(self) -> psutil.Process | None:
        """Spark's JVM, once there is one."""
        return next((one for one in [self._psutil, *self.processes()] if SPARK in arguments_of(one)), None)

    def wait_for_jvm(self) -> psutil.Process:
        """Spark's JVM, waited for."""
        self.wait_until(lambda: self.jvm() is not None)
        jvm = self.jvm()
        assert jvm is not None
        return jvm

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Look until something is so, while the program runs."""
        deadline = time.monotonic() + TIME_LIMIT_S
        while not is_so():
            assert self._process.poll() is None, self.ended(time.monotonic())
            assert time.monotonic() < deadline
            time.sleep(LOOK_EVERY_S)

    def wait_for_line(self, line: str) -> None:
        """Wait until it says so on standard output."""
        assert self._process.stdout is not None
        while (said := self._process.stdout.readline()) != f"{line}\n":
            assert said, self.ended(time.monotonic())

    def ended(self, since: float) -> Ended:
        """Wait for its end. Errors: subprocess.TimeoutExpired past the limit."""
        _out, said = self._process.communicate(timeout=ENDS_WITHIN_S)
        return Ended(self._process.returncode, said, time.monotonic() - since)


@contextmanager
def started(words: list[str], cwd: Path, env: Mapping[str, str] | None = None) -> Iterator[Program]:
    """A program that is under way in the body; whatever is left of it afterwards is ended."""
    process = subprocess.Popen(
        words,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    program = Program(process)
    seen = [psutil.Process(process.pid)]
    try:
        yield program
    finally:
        with suppress(psutil.NoSuchProcess):  # the program has ended
            seen += program.processes()
        for one in seen:
            with suppress(psutil.NoSuchProcess):  # it has just ended
                one.kill()
        process.communicate()


def read_to_the_end(terminal: int) -> str:
    """What is written to the other side of a pseudo-terminal, until nobody holds that any more."""
    written = b""
    with suppress(OSError):  # on Linux, nobody holds it any more
        while some := os.read(terminal, 65_536):
            written += some
    os.close(terminal)
    return written.decode()


def planning(inventory: Path, out: Path, *options: object) -> list[str]:
    """The words of the command ``plan``."""
    return command("plan", "--inventory", inventory, "--out", out, *options)


def app(name: str, lake: Path, run_id: str, *options: object) -> list[str]:
    """The words that start one of Spark's apps as Airflow does."""
    file = ROOT / "spark_apps" / f"{name}.py"
    given = [f"--lake={lake}", f"--run-id={run_id}", *map(str, options)]
    return ["spark-submit", "--master", "local[2]", str(file), *given]


def arguments_of(process: psutil.Process) -> list[str]:
    """A process's arguments; none where it has ended meanwhile."""
    with suppress(psutil.NoSuchProcess):
        return list(process.cmdline())
    return []
