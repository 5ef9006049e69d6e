"""The recorded cluster, planned once for the tests that look at its page."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.fixtures.environment import ROOT


@pytest.fixture(scope="session")
def sample_plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that the command makes of the sample."""
    out = tmp_path_factory.mktemp("plan") / "plan"
    inventory = ROOT / "include/sample/inventory.json"
    command = [sys.executable, "-m", "rocketmq_capacity", "plan", "--inventory", str(inventory), "--out", str(out)]
    subprocess.run([*command, "--quiet"], check=True, timeout=900)
    return out
