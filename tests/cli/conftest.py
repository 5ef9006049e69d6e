"""The program where it cannot reach Spark: there is no Java."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from rocketmq_capacity.cli import main
from tests.cli.program import contents, says_what_was_expected

Refusal = Callable[..., str]


@pytest.fixture
def no_java(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither JAVA_HOME nor the PATH leads to a Java, so that a start of Spark ends with status 1."""
    empty = tmp_path_factory.mktemp("no-java")
    monkeypatch.setenv("JAVA_HOME", str(empty))
    monkeypatch.setenv("PATH", str(empty))


@pytest.fixture
def refusal(
    no_java: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Refusal:
    """Runs the command line in this process, in ``tmp_path``, and gives its one line of a refusal.

    What every refusal has is asserted here: status 2, one line that tells what was expected, nothing written.
    """
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> str:
        before = contents(tmp_path)
        monkeypatch.setattr(sys, "argv", ["rocketmq-capacity", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        assert (ended.value.code, said.out) == (2, ""), said.err
        assert contents(tmp_path) == before
        (line,) = said.err.splitlines()
        assert line.startswith("rocketmq-capacity: ")
        assert says_what_was_expected(line), line
        return line.removeprefix("rocketmq-capacity: ")

    return run
