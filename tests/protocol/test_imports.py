"""The protocol core can be used anywhere: it needs Python and nothing else."""

import ast
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rocketmq_capacity import protocol

FILES = sorted(Path(protocol.__path__[0]).rglob("*.py"))


def imported(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield node.module or ""


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_import_is_of_the_standard_library_of_the_protocol_itself_or_of_our_errors(file: Path) -> None:
    ours = ("rocketmq_capacity.protocol", "rocketmq_capacity.errors")
    for module in imported(file):
        assert module.split(".")[0] in sys.stdlib_module_names or module.startswith(ours), module


def test_nothing_that_does_input_or_output_is_imported() -> None:
    for file in FILES:
        assert not {"socket", "ssl", "asyncio", "selectors", "threading", "subprocess", "time"} & set(imported(file))
