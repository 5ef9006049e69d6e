"""Peak memory of a process with all that it starts."""

import subprocess
import threading
from collections.abc import Mapping, Sequence
from typing import Final

import psutil

LOOK_EVERY_S: Final = 0.2


def run_measured(command: Sequence[str], env: Mapping[str, str], *, time_limit_s: float) -> tuple[str, int]:
    """Run a command; its standard output, and the highest sum of resident bytes over its process tree.

    Memory that processes share counts once for each of them, so that the truth is at most this.
    Errors: CalledProcessError if it fails, TimeoutExpired past the limit.
    """
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        peak = [0]
        done = threading.Event()
        watcher = threading.Thread(target=_watch, args=(process.pid, peak, done), daemon=True)
        watcher.start()
        try:
            out, _ = process.communicate(timeout=time_limit_s)
        finally:
            done.set()
            process.kill()
            watcher.join()
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    return out, peak[0]


def _watch(pid: int, peak: list[int], done: threading.Event) -> None:
    while not done.wait(LOOK_EVERY_S):
        try:
            root = psutil.Process(pid)
            processes = [root, *root.children(recursive=True)]
        except psutil.NoSuchProcess:
            return
        peak[0] = max(peak[0], sum(map(_resident_bytes, processes)))


def _resident_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.NoSuchProcess:
        return 0
