"""A copy of the package that grows: which of its files an addition touches, and what the copy then does."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

from rocketmq_capacity.settings.deployment import PACKAGE
from tests.fixtures.environment import ROOT

MOST_FILES: Final = 3
"""That an addition may touch, besides tests and documents."""
TIME_LIMIT_S: Final = 300.0


class PackageCopy:
    """The package under a folder of its own; ``touched`` is its files that were added or edited."""

    def __init__(self, folder: Path) -> None:
        self._package = folder / PACKAGE.name
        shutil.copytree(PACKAGE, self._package, ignore=shutil.ignore_patterns("__pycache__"))
        self.touched: set[str] = set()

    def add(self, file: str, text: str) -> None:
        """A new module."""
        assert not (self._package / file).exists()
        self._write(file, text)

    def edit(self, file: str, *edits: tuple[str, str]) -> None:
        """Put a text before another, which is there exactly once."""
        text = (self._package / file).read_text(encoding="utf-8")
        for before, addition in edits:
            assert text.count(before) == 1, (file, before)
            text = text.replace(before, addition + before)
        self._write(file, text)

    def says(self, code: str) -> str:
        """What a program prints that imports the copy. Errors: AssertionError with what it said where it fails."""
        assert len(self.touched) <= MOST_FILES, sorted(self.touched)
        path = os.pathsep.join((str(self._package.parent), str(ROOT)))
        done = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONPATH": path},
            cwd=self._package.parent,
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT_S,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def _write(self, file: str, text: str) -> None:
        (self._package / file).write_text(text, encoding="utf-8")
        self.touched.add(file)
