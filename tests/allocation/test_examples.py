"""The examples in the docstrings of the strategies."""

import doctest
from importlib import import_module
from pkgutil import iter_modules
from typing import Final

import pytest

from rocketmq_capacity import allocation

WITH_EXAMPLES: Final = {"avg", "avg_by_circle"}


@pytest.mark.parametrize("name", [module.name for module in iter_modules(allocation.__path__)])
def test_the_examples_of_a_module_give_what_they_say(name: str) -> None:
    module = import_module(f"{allocation.__name__}.{name}")

    result = doctest.testmod(module)

    assert result.failed == 0
    assert result.attempted or name not in WITH_EXAMPLES
