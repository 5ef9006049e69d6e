"""How much memory a program uses, with all processes that it has started."""

import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

_PROC: Final = Path("/proc")
_KIB: Final = 1024


def root_of_program() -> int:
    """The process id of the program: under ``spark-submit`` the JVM's, which has started this process.

    Source: PythonRunner, Spark 4.2.0.
    """
    return os.getppid() if "PYSPARK_GATEWAY_PORT" in os.environ else os.getpid()


def held_bytes(root: int) -> int | None:
    """Bytes that a process and all its descendants use; shared memory counts once.

    None if the system does not say (it has no Linux ``/proc``).
    """
    if not (_PROC / "self" / "smaps_rollup").exists():
        return None
    return sum(map(_held_by, _tree(root)))


def _tree(root: int) -> Iterator[int]:
    yield root
    for file in _PROC.glob(f"{root}/task/*/children"):
        with suppress(OSError):  # the thread has ended in the meantime
            for child in file.read_text().split():
                yield from _tree(int(child))


def _held_by(process: int) -> int:
    """The proportional set size, where a page that two processes share counts as half a page in each of them."""
    with suppress(OSError):  # the process has ended in the meantime, or is another user's
        for line in (_PROC / str(process) / "smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1]) * _KIB
    return 0
