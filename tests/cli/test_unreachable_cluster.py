"""A cluster that cannot be read ends in status 3, with every address and how it failed, and with nothing written."""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.store.whole_folder import whole_folder
from tests.cli.program import contents, run
from tests.client.conftest import free_address

__all__ = ["free_address"]

COMMANDS: Final = (["snapshot", "--out=inventory.json"], ["plan", "--out=out"])
TIME_LIMIT_S: Final = 300.0


@pytest.fixture
def silent_address() -> Iterator[str]:
    """Something that takes connections and never says a word, as a frozen name server does."""
    taken = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def take() -> None:
            while True:
                try:
                    taken.append(server.accept()[0])
                except OSError:
                    return

        threading.Thread(target=take, daemon=True).start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
    for connection in taken:
        connection.close()


@pytest.mark.parametrize("command", COMMANDS)
def test_nobody_listens(tmp_path: Path, free_address: object, command: list[str]) -> None:
    done = run(*command, f"--nameserver={free_address}", cwd=tmp_path, time_limit_s=TIME_LIMIT_S)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert f"{free_address}: cannot connect: Connection refused" in line
    assert contents(tmp_path) == {}


@pytest.mark.slow
def test_every_address_is_named_with_how_it_failed(tmp_path: Path, free_address: object, silent_address: str) -> None:
    nameserver = f"{free_address};{silent_address}"
    begin = time.monotonic()
    done = run("snapshot", "--out=i.json", f"--nameserver={nameserver}", cwd=tmp_path, time_limit_s=TIME_LIMIT_S)
    assert done.returncode == 3
    (line,) = done.stderr.splitlines()
    assert f"{free_address}: cannot connect: Connection refused" in line
    assert f"{silent_address}: " in line
    assert "timed out after 5 s" in line
    assert contents(tmp_path) == {}
    assert time.monotonic() - begin < TIME_LIMIT_S


@pytest.mark.parametrize("command", COMMANDS)
def test_what_stood_there_is_kept(tmp_path: Path, free_address: object, command: list[str]) -> None:
    (tmp_path / "inventory.json").write_text("yesterday's")
    with whole_folder(tmp_path / "out", overwrite=False) as folder:
        (folder / "plan.json").write_text("yesterday's")
    before = contents(tmp_path)
    done = run(*command, "--overwrite", f"--nameserver={free_address}", cwd=tmp_path, time_limit_s=TIME_LIMIT_S)
    assert done.returncode == 3
    assert contents(tmp_path) == before
