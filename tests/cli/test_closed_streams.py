"""A caller may close the standard streams (``>&-``), and a command then works as it does without them; or fill one."""

import subprocess
from pathlib import Path

import pytest

from tests.cli.program import command
from tests.cli.small_cluster import written

TIME_LIMIT_S = 300.0


def status(closed: str, arguments: list[str], cwd: Path) -> int:
    """Exit status of the program, started by a shell that closes these streams."""
    line = ["sh", "-c", f'exec "$@" {closed}', "sh", *command(*arguments)]
    return subprocess.run(line, cwd=cwd, stderr=subprocess.DEVNULL, timeout=TIME_LIMIT_S, check=False).returncode


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_the_status_is_the_same(tmp_path: Path, closed: str) -> None:
    assert status(closed, ["--version"], tmp_path) == 0
    assert status(closed, ["plan", "--inventory=missing.json", "--out=out"], tmp_path) == 2


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs the device /dev/full of Linux")
def test_output_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command("doctor"), cwd=tmp_path, stdout=full, stderr=subprocess.PIPE, timeout=TIME_LIMIT_S, check=False
        )
    assert done.returncode == 1
    assert done.stderr.decode() == (
        "rocketmq-capacity: standard output cannot be written (No space left on device); expected a terminal, a pipe or"
        " a file with room\n"
    )


def test_no_file_takes_the_number_of_a_closed_stream(tmp_path: Path) -> None:
    look = "import os, rocketmq_capacity.cli as c; c.open_missing_streams(); f = open('file', 'w'); print(f.fileno())"
    script = f"{look}; os.write(1, b'words'); os.write(2, b'words'); os._exit(f.fileno())"
    line = ["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", command()[0], "-c", script]
    done = subprocess.run(line, cwd=tmp_path, timeout=TIME_LIMIT_S, check=False)
    assert done.returncode > 2
    assert (tmp_path / "file").read_bytes() == b""


@pytest.mark.slow
def test_a_plan_is_made_without_streams(tmp_path: Path) -> None:
    arguments = ["plan", f"--inventory={written(tmp_path)}", "--out=out"]
    assert status("<&- >&- 2>&-", arguments, tmp_path) == 0
    assert (tmp_path / "out" / "plan.json").is_file()
