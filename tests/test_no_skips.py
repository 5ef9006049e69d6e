"""The rule of CI that no test skips, tried on a small test file of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.environment import ROOT
from tests.fixtures.no_skips import VARIABLE

JUDGED = """
import pytest

@pytest.fixture
def java_oracle():
    pytest.skip("no Maven here")

def test_asks_the_judge(java_oracle):
    pass

@pytest.mark.skipif(True, reason="no JDK here")
def test_needs_a_compiler():
    pass
"""


def outcome(folder: Path, source: str, *, required: bool) -> tuple[int, str]:
    """The exit status and the output of pytest on a file of that source."""
    (folder / "test_it.py").write_text(source)
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = java\n")
    environment = {key: value for key, value in os.environ.items() if key != VARIABLE} | {"PYTHONPATH": str(ROOT)}
    if required:
        environment[VARIABLE] = "1"
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "tests.fixtures.no_skips", str(folder)]
    answer = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    return answer.returncode, answer.stdout


def test_a_laptop_without_the_judges_skips_with_the_reason(tmp_path: Path) -> None:
    status, output = outcome(tmp_path, JUDGED, required=False)

    assert status == pytest.ExitCode.OK
    assert "2 skipped" in output
    assert "no Maven here" in output


def test_where_the_judges_are_required_their_absence_fails_with_the_reason(tmp_path: Path) -> None:
    status, output = outcome(tmp_path, JUDGED, required=True)

    assert status == pytest.ExitCode.TESTS_FAILED
    assert "2 errors" in output
    assert f"{VARIABLE} is set and this test must not skip: Skipped: no Maven here" in output


def test_a_file_that_skips_itself_fails_as_well(tmp_path: Path) -> None:
    source = 'import pytest\npytest.skip("nothing to ask", allow_module_level=True)\n'

    assert outcome(tmp_path, source, required=False)[0] == pytest.ExitCode.NO_TESTS_COLLECTED
    status, output = outcome(tmp_path, source, required=True)
    assert status == pytest.ExitCode.INTERRUPTED
    assert "must not skip" in output
