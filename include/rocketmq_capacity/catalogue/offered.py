"""Collects what the modules of a package offer. New modules are found automatically; there is no list of them."""

from collections.abc import Iterator
from importlib import import_module
from pkgutil import iter_modules
from types import ModuleType
from typing import Any, TypeVar

Record = TypeVar("Record")


def offered(room: str, name: str) -> list[Any]:
    """All items of the tuples with this name in the modules of a package, in the order of the modules' names.

    Args:
        room: the package's full name.
        name: name of the tuple; a module may lack it.
    """
    return [one for module in _modules(room) for one in vars(module).get(name, ())]


def records(room: str, kind: type[Record]) -> list[Record]:
    """All records of this kind in the modules of a package, in the order of the modules' names, each once."""
    values = [value for module in _modules(room) for value in vars(module).values() if isinstance(value, kind)]
    return list({id(record): record for record in values}.values())


def _modules(room: str) -> Iterator[ModuleType]:
    package = import_module(room)
    return (import_module(f"{room}.{found.name}") for found in iter_modules(package.__path__))


def kinds(room: str, base: type[Record]) -> list[type[Record]]:
    """All classes of this kind that the modules of a package define, in the order of the modules' names."""
    return [
        value
        for module in _modules(room)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, base) and value.__module__ == module.__name__
    ]
