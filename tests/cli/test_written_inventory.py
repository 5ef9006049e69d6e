"""The file that ``snapshot`` writes: if it cannot be written, one line says so, and nothing is left of it."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from subprocess import CompletedProcess
from typing import Any

import pytest

from tests.cli.program import contents, run
from tests.snapshot.told_cluster import ToldBroker, taken_of


def snapshot_to(out: str, folder: Path, wrapped_in: str = "") -> CompletedProcess[str]:
    """What the command says that takes a snapshot of a cluster of one broker."""
    (folder / "policy.yaml").write_text("snapshot: {sample_count: 1}\n")

    async def take(nameservers: Sequence[str], **_: Any) -> CompletedProcess[str]:
        arguments = ("snapshot", f"--nameserver={nameservers[0]}", f"--out={out}", "--policy=policy.yaml", "--quiet")
        return await asyncio.to_thread(run, *arguments, cwd=folder, before=wrapped_in)

    return taken_of(take, [ToldBroker("a")])


@pytest.mark.parametrize(
    ("out", "wrapped_in", "reason"),
    [("x" * 252, "", "File name too long"), ("inventory.json", "ulimit -f 0;", "File too large")],
)
def test_a_file_that_cannot_be_written_is_named(tmp_path: Path, out: str, wrapped_in: str, reason: str) -> None:
    done = snapshot_to(out, tmp_path, wrapped_in)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == (
        f"rocketmq-capacity: {out} cannot be written ({reason}); expected a shorter name or a folder with more room\n"
    )
    assert list(contents(tmp_path)) == ["policy.yaml"]


def test_a_file_that_can_be_written_is_whole(tmp_path: Path) -> None:
    assert snapshot_to("inventory.json", tmp_path).returncode == 0
    assert sorted(contents(tmp_path)) == ["inventory.json", "policy.yaml"]
