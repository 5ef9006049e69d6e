"""The file that hands secrets to a Spark app ends with the task, however that ends."""

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.client.options import read_connection
from rocketmq_capacity.client.settings import Credentials
from rocketmq_capacity.errors import BadInput

pytestmark = pytest.mark.airflow

TIME_LIMIT_S: Final = 300.0
CONNECTION: Final = {
    "conn_type": "rocketmq",
    "host": "10.0.9.1:9876",
    "login": "reader",
    "password": "never-to-be-told",
}
HOLDING: Final = """
import signal, sys, time
from rocketmq_capacity.provider.connection_file import connection_file

signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it, and so would this
with connection_file("c1") as (nameservers, file):
    print(file, flush=True)
    time.sleep(600)
"""


@pytest.fixture(autouse=True)
def connection(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_C1", json.dumps(CONNECTION))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)


def gone(folder: Path) -> bool:
    deadline = time.monotonic() + TIME_LIMIT_S
    while folder.exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    return not folder.exists()


def test_only_we_may_read_it_and_it_says_what_the_connection_says(tmp_path: Path) -> None:
    from rocketmq_capacity.provider.connection_file import connection_file

    with connection_file("c1") as (nameservers, file):
        assert nameservers == "10.0.9.1:9876"
        assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)
        assert file.is_relative_to(tmp_path)
        assert read_connection(file).credentials == Credentials("reader", "never-to-be-told")
    assert list(tmp_path.iterdir()) == []


def test_a_body_that_fails_leaves_nothing_and_its_error_is_kept(tmp_path: Path) -> None:
    from rocketmq_capacity.provider.connection_file import connection_file

    with pytest.raises(RuntimeError, match="the app failed"), connection_file("c1"):
        raise RuntimeError("the app failed")
    assert list(tmp_path.iterdir()) == []


def test_two_at_a_time_do_not_meet(tmp_path: Path) -> None:
    from rocketmq_capacity.provider.connection_file import connection_file

    with connection_file("c1") as (_, first):
        with connection_file("c1") as (_, second):
            assert first.parent != second.parent
        assert first.exists()
    assert list(tmp_path.iterdir()) == []


def test_a_connection_that_is_not_as_it_should_be_leaves_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from rocketmq_capacity.provider.connection_file import connection_file

    monkeypatch.setenv("AIRFLOW_CONN_C1", json.dumps(CONNECTION | {"host": "nowhere"}))
    with pytest.raises(BadInput, match="connection c1: host: 'nowhere' is not an address"), connection_file("c1"):
        pytest.fail("the body was entered")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL], ids=lambda number: number.name)
@pytest.mark.parametrize("whole_group", [False, True], ids=["process", "group"])
def test_a_task_that_is_killed_leaves_nothing(tmp_path: Path, number: signal.Signals, whole_group: bool) -> None:
    # As Airflow does it: the task in a process group of its own, and the signal to all of the group.
    task = subprocess.Popen([sys.executable, "-c", HOLDING], stdout=subprocess.PIPE, text=True, process_group=0)
    try:
        assert task.stdout is not None
        file = Path(task.stdout.readline().strip())
        assert "never-to-be-told" in file.read_text("utf-8")
        if whole_group:
            os.killpg(task.pid, number)
        else:
            os.kill(task.pid, number)
        assert task.wait(TIME_LIMIT_S) != 0
        assert gone(file.parent)
    finally:
        task.kill()
        task.wait()
        assert task.stdout is not None
        task.stdout.close()
