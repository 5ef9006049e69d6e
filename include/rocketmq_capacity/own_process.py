"""Work that Airflow's API server has done by a process of its own, with limits of time and memory.

What reads a large file or draws a chart keeps Python's lock for long, and no other thread of the server runs meanwhile.
"""

import gc
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec

from rocketmq_capacity.errors import BadInput

Question = TypeVar("Question")

MEMORY: Final = 3 << 30
"""Bytes of addresses that the process may have; two plans of 128 MiB need half of it."""
LIMIT_S: Final = 60.0
"""Seconds that the process may take; the difference of two plans of 128 MiB takes some five."""
LARGEST_PLAN: Final = 128 << 20
"""Bytes of the largest plan.json that such a process reads: one of 20,000 groups has less."""
NICE: Final = 10
"""The process gives way to the server that waits for it."""


class OwnProcessFailed(Exception):
    """The process took more time or memory than it may."""


def state_of(plan: Path) -> tuple[int, int, int]:
    """Inode, size and time of a plan.json, which tell whether it is still the same.

    Errors: BadInput if it cannot be read; OwnProcessFailed if it is too large.
    """
    try:
        state = plan.stat()
    except OSError as error:
        raise BadInput(str(plan), "", f"cannot be read: {error.strerror}") from None
    if state.st_size > LARGEST_PLAN:
        raise OwnProcessFailed(f"a plan is too large (more than {LARGEST_PLAN >> 20} MiB)")
    return state.st_ino, state.st_size, state.st_mtime_ns


def answer_of(module: str, question: object, kind: Any, variables: Mapping[str, str] | None = None) -> Any:
    """The answer, of the type ``kind``, of a module that calls `answer_question`. Errors as `in_own_process`."""
    return msgspec.json.decode(in_own_process(module, msgspec.json.encode(question), variables), type=kind)


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


def within_limits() -> None:
    """Set the limits, in the process itself; what draws reserves more addresses than it uses."""
    os.nice(NICE)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def answer_question(kind: type[Question], answer: Callable[[Question], object]) -> None:
    """All that such a process does: read a question from standard input, and write the answer to standard output."""
    within_limits()
    gc.disable()  # it looks at all that was read again and again, and all of that stays until the end
    sys.stdout.buffer.write(msgspec.json.encode(answer(msgspec.json.decode(sys.stdin.buffer.read(), type=kind))))
