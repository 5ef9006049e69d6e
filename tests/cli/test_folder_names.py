"""A folder may have any name that the system takes."""

from pathlib import Path

import pytest

from tests.cli.program import run
from tests.cli.small_cluster import written


@pytest.mark.slow
def test_a_name_that_spark_takes_for_a_pattern_is_a_name(tmp_path: Path) -> None:
    out = tmp_path / "all of [x" / "plan [1] {a,b} *?\\\n%20 \u4e2d"
    out.parent.mkdir()
    done = run("plan", f"--inventory={written(tmp_path)}", f"--out={out}", "--quiet", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (out / "plan.json").is_file()
