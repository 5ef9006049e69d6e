"""What the modules of a room offer. New modules are found automatically; there is no list of them."""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any


def offered(room: str, name: str) -> list[Any]:
    """What the modules of a package offer under a name, by the modules' names; most offer nothing.

    Args:
        room: the package's full name.
        name: of a tuple in a module.
    """
    package = import_module(room)
    modules = (import_module(f"{room}.{found.name}") for found in iter_modules(package.__path__))
    return [one for module in modules for one in vars(module).get(name, ())]
