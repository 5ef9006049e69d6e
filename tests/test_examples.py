"""The examples in docstrings."""

import doctest
from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

import rocketmq_capacity

PACKAGE: Final = Path(rocketmq_capacity.__file__).parent


def with_examples() -> list[str]:
    """The modules whose docstrings have examples."""
    paths = sorted(path for path in PACKAGE.rglob("*.py") if ">>> " in path.read_text(encoding="utf-8"))
    return [".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in paths]


@pytest.mark.parametrize("name", with_examples())
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    result = doctest.testmod(import_module(name))

    assert result.attempted
    assert result.failed == 0
