"""Work that Airflow's API server has done by a process of its own, with limits of time and memory.

What reads a large file or draws a chart keeps Python's lock for long, and no other thread of the server runs meanwhile.
"""

import os
import resource
import subprocess
import sys
from collections.abc import Mapping
from typing import Final

MEMORY: Final = 3 << 30
"""Bytes of addresses that the process may have; two plans of 128 MiB need half of it."""
LIMIT_S: Final = 60.0
"""Seconds that the process may take; the difference of two plans of 128 MiB takes some five."""
NICE: Final = 10
"""The process gives way to the server that waits for it."""


class OwnProcessFailed(Exception):
    """The process took more time or memory than it may."""


def in_own_process(module: str, stdin: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
    """What ``python -m module`` writes for what it is told on standard input.

    ``variables`` are added to those of this process. Errors: OwnProcessFailed.
    """
    environment = {**os.environ, **(variables or {}), "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    try:
        done = subprocess.run(  # noqa: S603  # a module of this package
            [sys.executable, "-m", module],
            env=environment,
            input=stdin,
            capture_output=True,
            timeout=LIMIT_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise OwnProcessFailed(f"it takes more than {LIMIT_S:g} seconds") from None
    if done.returncode != 0:
        raise OwnProcessFailed(f"it needs more than {MEMORY >> 30} GiB of memory, or its process was ended")
    return done.stdout


def within_limits(memory: int = MEMORY) -> None:
    """Set the limits, in the process itself; what draws reserves more addresses than it uses."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
