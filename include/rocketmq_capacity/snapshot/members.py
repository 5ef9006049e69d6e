"""Members that a part of the inventory shares with what is made of it: a member of both needs no line in between."""

from functools import cache
from typing import Any

from msgspec import Struct


def own_members(part: Struct | None, kind: type[Struct]) -> dict[str, Any]:
    """The members of a part that ``kind`` has under the same name; none of a part that is not there."""
    return {} if part is None else {name: getattr(part, name) for name in _shared(type(part), kind)}


@cache
def _shared(part: type[Struct], kind: type[Struct]) -> tuple[str, ...]:
    return tuple(name for name in part.__struct_fields__ if name in kind.__struct_fields__)
