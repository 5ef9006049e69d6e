"""Copies the members that a part of the inventory and a class of facts have under the same name."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from msgspec import Struct


def own_members(part: Struct | None, kind: type[Struct]) -> dict[str, Any]:
    """The values of those members of the part that ``kind`` has too, by name; empty for None."""
    if part is None:
        return {}
    names, values = _shared(type(part), kind)
    return dict(zip(names, values(part), strict=True))


@cache
def _shared(part: type[Struct], kind: type[Struct]) -> tuple[tuple[str, ...], Callable[[Struct], Iterable[Any]]]:
    """The names of the members that both classes have, and a function that gives their values."""
    names = tuple(name for name in part.__struct_fields__ if name in kind.__struct_fields__)
    if len(names) < 2:  # for a single name, attrgetter gives the value and not a tuple
        return names, lambda one: [getattr(one, name) for name in names]
    return names, attrgetter(*names)
