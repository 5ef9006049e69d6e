"""The list of licences: every pin that is installed, as the package states it today."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.docs.pages import DOCS, ROOT

PAGE: Final = (DOCS / "licences.md").read_text(encoding="utf-8")


def test_the_page_is_what_make_docs_writes(tmp_path: Path) -> None:
    command = "import pathlib, sys; sys.path.insert(0, '.make'); import licences; print(licences.page(), end='')"
    made = subprocess.run([sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=True)
    assert made.stdout == PAGE


def test_whatever_runs_states_its_licence() -> None:
    _, runs, tests = PAGE.split("\n## ")
    assert "| pyspark | 4.2.0 | Apache-2.0 |" in runs
    assert "not stated" not in runs
    assert "| pytest |" in tests
