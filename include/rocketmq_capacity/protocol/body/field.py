"""Reads one member of a decoded body; whatever has another type, or is beyond a limit, is named as the peer's fault.

The limits are in `rocketmq_capacity.protocol.limits`.
"""

import math
from typing import Any, Final

from rocketmq_capacity.errors import shown
from rocketmq_capacity.protocol.errors import BodyError
from rocketmq_capacity.protocol.limits import MAX_NAME, MAX_QUEUES, MAX_TEXT, MAX_WHOLE

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


def name(value: Any, place: str) -> str:
    """The value as the name of something: a text of 1 to `MAX_NAME` characters."""
    if isinstance(value, str) and 0 < len(value) <= MAX_NAME:
        return value
    raise BodyError(f"{place} is {shown(value)}; expected a text of 1 to {MAX_NAME} characters")


def named(members: dict[str, Any], member: str, place: str) -> str:
    """A name that must be there."""
    return name(members.get(member), f"{place}.{member}")


def text(members: dict[str, Any], member: str, place: str) -> str:
    """A text that must be there."""
    return _short(members.get(member), f"{place}.{member}")


def optional_text(members: dict[str, Any], member: str, place: str) -> str | None:
    """A text, or None if there is none."""
    return None if members.get(member) is None else text(members, member, place)


def integer(
    members: dict[str, Any],
    member: str,
    place: str,
    default: int | None = None,
    *,
    least: int = -MAX_WHOLE - 1,
    most: int = MAX_WHOLE,
) -> int:
    """A whole number that must be there, unless it has a default; without limits it is a Java long."""
    return whole(members.get(member, default), f"{place}.{member}", least=least, most=most)


def whole(value: Any, place: str, *, least: int, most: int) -> int:
    """The value as a whole number within limits."""
    if type(value) is int and least <= value <= most:
        return value
    raise BodyError(f"{place} is {shown(value)}; expected a whole number from {least} to {most}")


def queues(members: dict[str, Any], member: str, place: str) -> int:
    """A number of queues that must be there."""
    return integer(members, member, place, least=0, most=MAX_QUEUES)


def number(members: dict[str, Any], member: str, place: str) -> float | None:
    """A number, or None: fastjson writes null where Java has NaN or an infinity."""
    value = members.get(member)
    if value is None:
        return None
    if type(value) in (int, float) and abs(value) <= MAX_WHOLE and math.isfinite(value):
        return float(value)
    raise BodyError(f"{place}.{member} is {shown(value)}; expected a number of at most {MAX_WHOLE}")


def flag(members: dict[str, Any], member: str, place: str, *, default: bool) -> bool:
    """A truth value."""
    value = members.get(member, default)
    if isinstance(value, bool):
        return value
    raise BodyError(f"{place}.{member} is {shown(value)}; expected true or false")


def texts(value: Any, place: str) -> dict[str, str]:
    """An object whose values are texts; numbers and truth values are taken in Java's spelling, null is left out."""
    values: dict[str, str] = {}
    for key, item in as_object(value, place).items():
        if isinstance(item, bool):
            values[name(key, place)] = str(item).lower()
        elif isinstance(item, _SPELLED):
            values[name(key, place)] = _short(str(item), f"{place}.{key}")
        elif item is not None:
            raise BodyError(f"{place}.{key} is a {type(item).__name__}; expected a text")
    return values


def names(value: Any, place: str) -> tuple[str, ...]:
    """A list of names."""
    return tuple(name(item, f"an entry of {place}") for item in as_list(value, place))


def numbered(key: str, place: str, *, most: int = MAX_WHOLE) -> int:
    """A key that is a number from 0 to a limit."""
    if key.isascii() and key.isdigit() and len(key) <= len(str(most)) and int(key) <= most:
        return int(key)
    raise BodyError(f"{place} has the key {shown(key)}; expected a whole number from 0 to {most}")


def _short(value: Any, place: str) -> str:
    if isinstance(value, str) and len(value) <= MAX_TEXT:
        return value
    raise BodyError(f"{place} is {shown(value)}; expected a text of at most {MAX_TEXT} characters")
