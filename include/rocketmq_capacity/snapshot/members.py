"""Members that a part of the inventory shares with what is made of it: a member of both needs no line in between."""

from collections.abc import Callable, Iterable
from functools import cache
from operator import attrgetter
from typing import Any

from msgspec import Struct


def own_members(part: Struct | None, kind: type[Struct]) -> dict[str, Any]:
    """The members of a part that ``kind`` has under the same name; none of a part that is not there."""
    if part is None:
        return {}
    names, values = _shared(type(part), kind)
    return dict(zip(names, values(part), strict=True))


@cache
def _shared(part: type[Struct], kind: type[Struct]) -> tuple[tuple[str, ...], Callable[[Struct], Iterable[Any]]]:
    """The names of the members of both kinds, and what takes their values from a part."""
    names = tuple(name for name in part.__struct_fields__ if name in kind.__struct_fields__)
    if len(names) < 2:  # of one name, attrgetter gives the value alone
        return names, lambda one: [getattr(one, name) for name in names]
    return names, attrgetter(*names)
