"""A cold process watched from outside: when it began and ended, and the memory of it with all that it starts."""

import os
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

ROOT: Final = Path(__file__).parents[2]
LOOK_EVERY_S: Final = 0.5
"""A look takes some 20 ms for gigabytes, which the watched process lacks."""
TIME_LIMIT_S: Final = 1800.0


@dataclass(frozen=True, slots=True)
class Look:
    """All processes at a moment (Unix time): their memory, and the processor time of each until then."""

    at: float
    memory_bytes: int
    processor_s: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class Watched:
    """A process that ended well; moments are Unix time. Memory that processes share counts once for all of them."""

    begun_at: float
    ended_at: float
    output: str
    looks: tuple[Look, ...]

    @property
    def seconds(self) -> float:
        """From the start of the process to its end."""
        return self.ended_at - self.begun_at

    @property
    def processor_s(self) -> float:
        """Processor time of all processes, as far as the last look at each knows: other load changes it little."""
        last: dict[int, float] = {}
        for look in self.looks:
            last.update(look.processor_s)
        return sum(last.values())

    def peak_bytes(self, since: float | None = None, until: float | None = None) -> int:
        """The most that all processes held together, in this part of the time; 0 where nobody looked."""
        first, last = since or self.begun_at, until or self.ended_at
        return max((look.memory_bytes for look in self.looks if first <= look.at <= last), default=0)


def watched(command: Sequence[str], *, also: Callable[[], None] | None = None) -> Watched:
    """Run a command from the root of the checkout and watch it.

    Args:
        command: program and arguments.
        also: what else is looked at as often as the memory is.

    Errors: SystemExit with the end of what the command said, where it fails or takes too long.
    """
    looks: list[Look] = []
    done = threading.Event()
    # A file: a pipe that nobody reads would stop a process that says much.
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output:
        begun_at = time.time()
        process = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, env=dict(os.environ))
        watcher = threading.Thread(target=_look, args=(process.pid, looks, also, done), daemon=True)
        watcher.start()
        try:
            process.wait(TIME_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.terminate()
            process.wait()
        finally:
            ended_at = time.time()
            done.set()
            watcher.join()
        output.seek(0)
        said = output.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}:\n{said[-2000:]}")
    return Watched(begun_at, ended_at, said, tuple(looks))


def _look(pid: int, looks: list[Look], also: Callable[[], None] | None, done: threading.Event) -> None:
    while not done.wait(LOOK_EVERY_S):
        if also is not None:
            also()
        at = time.time()
        try:
            root = psutil.Process(pid)
            processes = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        each = dict(filter(None, map(_told, processes)))
        processor_s = {pid: seconds for pid, (_, seconds) in each.items()}
        looks.append(Look(at, sum(memory for memory, _ in each.values()), processor_s))


def _told(process: psutil.Process) -> tuple[int, tuple[int, float]] | None:
    """Its id, its share of the memory (PSS, of Linux) and its processor time; None if it has ended."""
    try:
        with process.oneshot():
            times = process.cpu_times()
            return process.pid, (int(process.memory_full_info().pss), times.user + times.system)
    except psutil.NoSuchProcess:
        return None
