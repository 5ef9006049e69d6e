"""A cluster's own words are text to a terminal: no markup, no escapes, and not much of them."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.protocol.codes import RequestCode
from rocketmq_capacity.protocol.command import Command
from tests.cli.program import run
from tests.client.speaking_peer import SpeakingPeer, Visit

HOSTILE: Final = "[/x] [bold]\x1b]0;owned\x07\x1b[2J\r\n\x9b31m\u202e" + "x" * 5_000_000
SHOWN: Final = r"[/x] [bold]\x1b]0;owned\x07\x1b[2J \x9b31m\u202ex"
LONGEST: Final = 4_000
"""Characters of one part of the table, and of one error."""
TIME_LIMIT_S: Final = 300.0


@contextmanager
def standing(lists_itself: bool) -> Iterator[str]:
    """A peer that says hostile words, and is in its own list of brokers or refuses to list any; gives its address."""
    loop, address = asyncio.new_event_loop(), list[str]()

    async def answer(visit: Visit, asked: Command) -> None:
        if asked.code == RequestCode.GET_BROKER_CLUSTER_INFO and lists_itself:
            broker = {"brokerName": "a\x1b[2J", "cluster": "C1", "brokerAddrs": {"0": address[0]}}
            info = {"brokerAddrTable": {"a": broker}, "clusterAddrTable": {"C1": ["a"]}}
            visit.answer(asked, json.dumps(info).encode())
        else:
            visit.answer(asked, code=16, remark=HOSTILE)

    async def stand() -> None:
        async with SpeakingPeer(answer) as peer:
            address.append(str(peer.address))
            is_up.set()
            await is_over.wait()

    is_up, is_over = threading.Event(), asyncio.Event()
    thread = threading.Thread(target=loop.run_until_complete, args=[stand()], daemon=True)
    thread.start()
    assert is_up.wait(60)
    try:
        yield address[0]
    finally:
        loop.call_soon_threadsafe(is_over.set)
        thread.join(60)
        loop.close()


def test_doctor_shows_a_remark_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "connection.yaml").write_text("request_timeout_s: 60\n")
    with standing(lists_itself=True) as address:
        done = run(
            "doctor",
            f"--nameserver={address}",
            "--connection=connection.yaml",
            cwd=tmp_path,
            env={"COLUMNS": "5000"},
            time_limit_s=TIME_LIMIT_S,
        )
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.replace("\n", "").isprintable()
    (line,) = [line for line in done.stdout.splitlines() if "broker a" in line]
    assert SHOWN in line
    assert rf"broker a\x1b[2J 0 {address}" in line
    assert len(" ".join(line.split())) < LONGEST


@pytest.mark.parametrize("command", [["snapshot", "--out=inventory.json"], ["plan", "--out=out"]])
def test_an_error_has_a_remark_in_one_line(tmp_path: Path, command: list[str]) -> None:
    with standing(lists_itself=False) as address:
        done = run(*command, f"--nameserver={address}", cwd=tmp_path, time_limit_s=TIME_LIMIT_S)
    assert (done.returncode, done.stdout) == (3, "")
    (line,) = done.stderr.splitlines()
    assert line.isprintable()
    assert SHOWN in line
    assert len(line) < LONGEST
