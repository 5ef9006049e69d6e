"""All targets, by name; the module of one is imported when it is asked for, so that its process begins quickly."""

from importlib import import_module
from typing import Final

from tests.fuzz.target import Target

MODULES: Final = {
    "frames": "frames",
    "headers": "frames",
    "bodies": "bodies",
    "json": "bodies",
    "inventories": "inventories",
    "tables": "tables",
    "policies": "yaml_files",
    "scenarios": "yaml_files",
    "connections": "yaml_files",
    "stored": "stored",
    "snapshots": "snapshots",
}
"""The module of each target; its ``TARGETS`` has the target."""


def target_of(name: str) -> Target:
    """The target of this name."""
    (found,) = (one for one in import_module(f"tests.fuzz.{MODULES[name]}").TARGETS if one.name == name)
    assert isinstance(found, Target)
    return found
