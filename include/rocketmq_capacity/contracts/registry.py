"""Collects what the modules of a package offer. New modules are found automatically; there is no list of them."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def offered(room: str, name: str) -> list[Any]:
    """All items of the tuples with this name in the modules of a package, in the order of the modules' names.

    Args:
        room: the package's full name.
        name: name of the tuple; a module may lack it.
    """
    package = import_module(room)
    modules = (import_module(f"{room}.{found.name}") for found in iter_modules(package.__path__))
    return [one for module in modules for one in vars(module).get(name, ())]
