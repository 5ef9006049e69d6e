"""Objects of a JSON text, none with a member twice: readers of JSON keep one of the two without a word."""

from collections.abc import Sequence
from typing import Any


class RepeatedMemberError(ValueError):
    """An object has a member twice."""


def each_once(members: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """The object with these members; a hook for Python's JSON reader (``object_pairs_hook``).

    Errors: RepeatedMemberError if a member is given twice.
    """
    unique = dict(members)
    if len(unique) < len(members):
        raise RepeatedMemberError("a member is given twice; expected each member of an object once")
    return unique
