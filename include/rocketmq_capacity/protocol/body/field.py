"""Reads one member of a decoded body; whatever has another type is the peer's fault and is named."""

import reprlib
from typing import Any, Final

from rocketmq_capacity.protocol.errors import BodyError

_SPELLED: Final = (str, int, float)


def as_object(value: Any, place: str) -> dict[str, Any]:
    """The value as an object; null counts as an empty one, as fastjson leaves empty members out."""
    if isinstance(value, dict):
        return value
    if value is None:
        return {}
    raise BodyError(f"{place} is a {type(value).__name__}; expected an object")


def as_list(value: Any, place: str) -> list[Any]:
    """The value as a list; null counts as an empty one."""
    if isinstance(value, list):
        return value
    if value is None:
        return []
    raise BodyError(f"{place} is a {type(value).__name__}; expected a list")


def text(members: dict[str, Any], name: str, place: str) -> str:
    """A text that must be there."""
    value = members.get(name)
    if isinstance(value, str):
        return value
    raise BodyError(f"{place}.{name} is {reprlib.repr(value)}; expected a text")


def optional_text(members: dict[str, Any], name: str, place: str) -> str | None:
    """A text, or None if there is none."""
    return None if members.get(name) is None else text(members, name, place)


def integer(members: dict[str, Any], name: str, place: str, default: int | None = None) -> int:
    """A whole number that must be there, unless it has a default."""
    value = members.get(name, default)
    if type(value) is int:
        return value
    raise BodyError(f"{place}.{name} is {reprlib.repr(value)}; expected a whole number")


def number(members: dict[str, Any], name: str, place: str) -> float | None:
    """A number, or None: fastjson writes null where Java has NaN or an infinity."""
    value = members.get(name)
    if value is None:
        return None
    if type(value) in (int, float):
        return float(value)
    raise BodyError(f"{place}.{name} is {reprlib.repr(value)}; expected a number")


def flag(members: dict[str, Any], name: str, place: str, *, default: bool) -> bool:
    """A truth value."""
    value = members.get(name, default)
    if isinstance(value, bool):
        return value
    raise BodyError(f"{place}.{name} is {reprlib.repr(value)}; expected true or false")


def texts(value: Any, place: str) -> dict[str, str]:
    """An object whose values are texts; numbers and truth values are taken in Java's spelling, null is left out."""
    found: dict[str, str] = {}
    for name, item in as_object(value, place).items():
        if isinstance(item, bool):
            found[name] = str(item).lower()
        elif isinstance(item, _SPELLED):
            found[name] = str(item)
        elif item is not None:
            raise BodyError(f"{place}.{name} is a {type(item).__name__}; expected a text")
    return found


def names(value: Any, place: str) -> tuple[str, ...]:
    """A list of texts."""
    items = as_list(value, place)
    for item in items:
        if not isinstance(item, str):
            raise BodyError(f"{place} holds {reprlib.repr(item)}; expected texts")
    return tuple(items)


def numbered(key: str, place: str) -> int:
    """A key that is a number."""
    try:
        return int(key)
    except ValueError:
        raise BodyError(f"{place} has the key {reprlib.repr(key)}; expected a whole number") from None
