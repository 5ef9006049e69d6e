"""Every door for bytes from outside takes any bytes: those that were wrong once, and seeded changes of real ones.

``python -m tests.fuzz`` searches for more, guided by coverage.
"""

import random
from importlib.util import find_spec
from typing import Final

import pytest

from tests.fuzz.campaign import NO_ATHERIS, main
from tests.fuzz.mutation import mutations
from tests.fuzz.target import CORPUS
from tests.fuzz.targets import MODULES, target_of

COUNTS: Final = {
    "frames": 400,
    "headers": 800,
    "bodies": 500,
    "json": 200,
    "inventories": 600,
    "tables": 100,
    "policies": 40,
    "scenarios": 100,
    "connections": 60,
    "stored": 250,
    "snapshots": 15,
}
"""Changed inputs of each target: what takes about a third of a second on a quiet machine."""


@pytest.mark.parametrize("name", MODULES)
def test_nothing_but_what_is_foreseen_comes_of_the_corpus(name: str) -> None:
    target = target_of(name)
    files = target.kept()
    assert files
    for file in files:
        target.read(file.read_bytes())


@pytest.mark.parametrize("name", MODULES)
def test_nothing_but_what_is_foreseen_comes_of_changed_inputs(name: str) -> None:
    target = target_of(name)
    seeds = [*target.seeds(), *(file.read_bytes() for file in target.kept())]
    for data in mutations(seeds, COUNTS[name], random.Random(26), target.longest):
        target.read(data)


def test_every_folder_of_the_corpus_has_its_target() -> None:
    assert {folder.name for folder in CORPUS.iterdir()} == set(MODULES) == set(COUNTS)


def test_the_program_counts_what_it_has_tried(capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["--executions", "200", "--only", "headers"])

    if find_spec("atheris") is None:
        assert (status, capsys.readouterr().out) == (2, f"{NO_ATHERIS}\n")
    else:
        each, total = capsys.readouterr().out.splitlines()
        assert each.startswith("headers: 2")
        assert (status, total) == (0, f"{each.split()[1]} executions, 0 inputs failed")
