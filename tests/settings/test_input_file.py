"""A file that a user names may be a pipe: nothing waits for it without an end."""

import os
import threading
from pathlib import Path

import pytest

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.settings import input_file
from rocketmq_capacity.settings.input_file import content_of


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


def test_a_pipe_is_read_to_its_end(pipe: Path) -> None:
    threading.Thread(target=pipe.write_bytes, args=(b"name: a\n",), daemon=True).start()
    assert content_of(pipe, "a scenario", 100) == b"name: a\n"


def test_a_pipe_to_which_nobody_writes_is_one_line(pipe: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(input_file, "PIPE_S", 0.1)
    with pytest.raises(BadInput, match=r"pipe: is a pipe that has not ended within 0.1 s; expected a scenario$"):
        content_of(pipe, "a scenario", 100)
    pipe.write_bytes(b"")  # the thread that still reads ends


def test_a_device_and_too_many_bytes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="/dev/zero: is a device; expected a scenario"):
        content_of(Path("/dev/zero"), "a scenario", 100)
    (tmp_path / "long").write_bytes(b"x" * 101)
    with pytest.raises(BadInput, match="is too long; expected a scenario of at most 100 bytes"):
        content_of(tmp_path / "long", "a scenario", 100)
