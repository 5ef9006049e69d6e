"""Objects as YAML in blocks, which readers of YAML 1.1 and of 1.2 take for the same."""

import re
from typing import Any, Final

import yaml

_NUMBER: Final = re.compile(r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|0o[0-7]+)\Z")
_SWITCH: Final = re.compile(r"[yYnN]\Z")


class _Dumper(yaml.SafeDumper):
    """Writes quotes also around a text that only other readers than PyYAML take for a number or a switch.

    Source: resolve.go of sigs.k8s.io/yaml, by which kubectl reads files.
    """


_Dumper.add_implicit_resolver("tag:yaml.org,2002:float", _NUMBER, [*"-+.0123456789"])
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _SWITCH, [*"yYnN"])


def block(value: Any) -> str:
    """The value in lines of ASCII, with its members in their order."""
    text: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=False, width=1_000)
    return text
