"""The command line as its users start it: a process of its own."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TIME_LIMIT_S: Final = 600.0
_EXPECTATION: Final = re.compile(r"expected|should|the nearest|missing|no such|requires an argument", re.IGNORECASE)


def command(*arguments: object) -> list[str]:
    """The program and its arguments."""
    return [sys.executable, "-m", "rocketmq_capacity", *map(str, arguments)]


def run(
    *arguments: object,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    time_limit_s: float = TIME_LIMIT_S,
    before: str = "",
) -> subprocess.CompletedProcess[str]:
    """Run it to its end in the folder ``cwd``, ``env`` added to this process's environment.

    ``before``: what a shell does first, such as ``ulimit -f 0;``.
    """
    shell = ["sh", "-c", f'{before} exec "$@"', "sh"] if before else []
    return subprocess.run(
        [*shell, *command(*arguments)],
        cwd=cwd,
        env={**os.environ, **(env or {})},
        capture_output=True,
        text=True,
        timeout=time_limit_s,
        check=False,
    )


def contents(folder: Path) -> dict[str, bytes | None]:
    """Everything under a folder: the bytes of files, None for folders."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")}


def says_what_was_expected(line: str) -> bool:
    """Whether a line of refusal tells how it should have been."""
    return bool(_EXPECTATION.search(line))
