"""Values as YAML in one line, so that each line of a file changes for itself."""

import json
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import asdict

PLAIN: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.@-]*")
"""Texts that need no quotes, but for words that YAML 1.1 or 1.2 takes for another value."""
WORDS: Final = frozenset({"null", "true", "false", "yes", "no", "on", "off", "y", "n"})
PAIR: Final = re.compile(r"\\ud([89ab][0-9a-f]{2})\\ud([cdef][0-9a-f]{2})")
"""A character beyond U+FFFF as JSON writes it, which YAML would take for two."""


def scalar(value: str | int | bool | None) -> str:
    """A value; a text that could be taken for more has quotes, and escapes for what is not ASCII."""
    if isinstance(value, str):
        return _text(value)
    return "null" if value is None else str(value).lower()


@lru_cache(maxsize=100_000)
def _text(value: str) -> str:
    if PLAIN.fullmatch(value) and value.lower() not in WORDS:
        return value
    return PAIR.sub(_whole, json.dumps(value)).replace("\x7f", "\\x7f")


def mapping(part: Struct) -> str:
    """``{broker_name: broker-a, perm: 6}``."""
    return "{" + ", ".join(_members(asdict(part).items())) + "}"


def _members(members: Iterable[tuple[str, Any]]) -> Iterable[str]:
    return (f"{name}: {_value(value)}" for name, value in members)


def _value(value: Any) -> str:
    return f"[{', '.join(map(scalar, value))}]" if isinstance(value, tuple) else scalar(value)


def _whole(pair: re.Match[str]) -> str:
    high, low = int(pair[1], 16) - 0x800, int(pair[2], 16) - 0xC00
    return f"\\U{0x10000 + (high << 10) + low:08x}"
