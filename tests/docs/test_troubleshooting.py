"""The troubleshooting page against the program: every command that it shows prints the line below it."""

import re
import shutil
import sys
from pathlib import Path
from typing import Final

import pytest

from rocketmq_capacity.cli import main
from tests.docs.pages import DOCS, ROOT

PAGE: Final = DOCS / "how-to/troubleshooting.md"
SHOWN: Final = re.findall(r"(?m)^\$ rocketmq-capacity (.+)\n(rocketmq-capacity: .+)$", PAGE.read_text(encoding="utf-8"))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the files that the page's commands name, as the folder that they are run in."""
    sample = ROOT / "include/sample/inventory.json"
    shutil.copy(sample, tmp_path / "shop.json")
    wrong = sample.read_text(encoding="utf-8").replace('"perm": 6', '"perm": 9', 1)
    (tmp_path / "wrong.json").write_text(wrong, encoding="utf-8")
    (tmp_path / "policy.yaml").write_text("tresholds: {}\n", encoding="utf-8")
    change = "{change: lose_broker, broker_name: brokr-a}"
    (tmp_path / "scenario.yaml").write_text(f"name: lost\nchanges: [{change}]\n", encoding="utf-8")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/plan.json").touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_page_shows_commands() -> None:
    assert len(SHOWN) >= 5


@pytest.mark.parametrize(("command", "line"), SHOWN, ids=[line[19:60] for _, line in SHOWN])
@pytest.mark.usefixtures("folder")
def test_a_command_that_the_page_shows_gives_the_line_below_it(
    command: str, line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["rocketmq-capacity", *command.split(), "--quiet"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert capsys.readouterr().err.splitlines() == [line]
    assert ended.value.code in {2, 3}
