"""The program where it cannot reach Spark, since there is no Java; and what it made of the recorded sample."""

import json
import shutil
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from rocketmq_capacity.cli import main
from rocketmq_capacity.store.whole_folder import whole_folder
from tests.cli.planned import SAMPLE, Planned, plain_sample, plan_of, plan_on_terminal
from tests.cli.program import contents, says_what_was_expected
from tests.cli.sample_plans import WHAT_IF, a_day_before, changed, in_another_order

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


@pytest.fixture(scope="session")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The sample, planned without any option."""
    return plain_sample(tmp_path_factory)


@pytest.fixture(scope="session")
def what_if(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The sample, planned with a scenario."""
    folder = tmp_path_factory.mktemp("what-if")
    (folder / "what-if.yaml").write_text(WHAT_IF)
    made = plan_of(SAMPLE, folder / "out", "--scenario", folder / "what-if.yaml")
    return replace(made, cluster=changed(made.cluster))


@pytest.fixture(scope="session")
def again(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The sample planned again from lists in another order, over an earlier plan, and quietly."""
    folder = tmp_path_factory.mktemp("again")
    with whole_folder(folder / "out", overwrite=False) as earlier:
        (earlier / "tables").mkdir()
        (earlier / "tables" / "of-last-year.parquet").write_text("old")
    shuffled = folder / "inventory.json"
    shuffled.write_text(json.dumps(in_another_order(json.loads(SAMPLE.read_bytes()), Random(3))))
    return plan_of(shuffled, folder / "out", "--overwrite", "--quiet")


@pytest.fixture(scope="session")
def with_history(tmp_path_factory: pytest.TempPathFactory) -> Planned:
    """The sample planned on a terminal, with an inventory of the day before."""
    folder = tmp_path_factory.mktemp("with-history")
    history = folder / "history"
    history.mkdir()
    (history / "z.json").write_text(json.dumps(a_day_before(json.loads(SAMPLE.read_bytes()))))
    shutil.copy(SAMPLE, history / "a.json")  # the planned one itself is no history
    return plan_on_terminal(SAMPLE, folder / "out", "--history", history)
