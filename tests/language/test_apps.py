"""An app's log, which its task shows, is in the language of the policy: progress, results and errors."""

import re
import subprocess
import sys
from pathlib import Path

from rocketmq_capacity.settings.deployment import sample_inventory
from tests.fixtures.environment import ROOT

HAN = re.compile("[\u4e00-\u9fff]")
ENGLISH = re.compile(r"[A-Za-z]{2,} [a-z]{2,}")


def lines(app: str, policy: str, folder: Path, *arguments: str) -> list[str]:
    """What an app logs, without time and level."""
    file = folder / "policy.yaml"
    file.write_text(policy)
    program = [sys.executable, str(ROOT / "spark_apps" / f"{app}.py"), f"--lake={folder}", f"--policy={file}"]
    command = [*program, "--run-id=r1", *arguments]
    said = subprocess.run(command, stderr=subprocess.PIPE, text=True, timeout=500, check=False).stderr
    stamp = re.compile(r"\S+Z (INFO|WARNING|ERROR) (.*)")
    return [found[2] for line in said.splitlines() if (found := stamp.fullmatch(line))]


def test_the_log_of_an_app_is_in_the_policys_language(tmp_path: Path) -> None:
    source = f"--inventory={sample_inventory()}"
    first = lines("snapshot", "language: zh-CN", tmp_path, source)
    again = lines("snapshot", "language: zh-CN", tmp_path, source)
    assert first[0] == "snapshot：开始"
    assert first[-1] == f"snapshot：本次运行位于 {tmp_path}/shop/r1"
    assert f"snapshot：该运行沿用已存储的快照 {tmp_path}/shop/r1/inventory.json" in again
    assert [line for line in (*first, *again) if not HAN.search(line) or ENGLISH.search(line)] == []
    assert not HAN.search("".join(lines("snapshot", "language: en", tmp_path, source)))


def test_the_error_of_an_app_is_in_the_policys_language(tmp_path: Path) -> None:
    assert lines("assess", "language: zh-CN", tmp_path) == [
        f"assess: {tmp_path}：没有保存运行 r1 的快照；请先运行 snapshot 步骤"
    ]
    assert lines("assess", "language: en", tmp_path) == [
        f"assess: {tmp_path}: no snapshot of a run r1 is stored; run the step snapshot first"
    ]
