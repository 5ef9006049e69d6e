"""Copies the members that a part of the inventory and a class of facts have under the same name."""

from collections.abc import Callable
from functools import cache
from operator import attrgetter
from typing import Any

from msgspec import Struct


def own_members(part: Struct | None, kind: type[Struct]) -> dict[str, Any]:
    """The values of those members of the part that ``kind`` has too, by name; empty for None."""
    return {} if part is None else shared_members(type(part), kind)(part)


@cache
def shared_members(part: type[Struct], kind: type[Struct]) -> Callable[[Struct], dict[str, Any]]:
    """A function that gives, of a part, the values of the members that both classes have, by name.

    For many parts of one class it is quicker than :func:`own_members`.
    """
    names = tuple(name for name in part.__struct_fields__ if name in kind.__struct_fields__)
    if len(names) < 2:  # for a single name, attrgetter gives the value and not a tuple
        return lambda one: {name: getattr(one, name) for name in names}
    values = attrgetter(*names)
    return lambda one: dict(zip(names, values(one), strict=False))
