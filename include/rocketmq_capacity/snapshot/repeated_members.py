"""Finds an object of a JSON text that has a member twice. Readers of JSON keep one of the two without a word."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

AT_A_TIME: Final = 2**24
"""Bytes that are looked at together."""
_COLON, _QUOTE, _BACKSLASH = b':"\\'
_HIDING: Final = re.compile(rb'\\(?:u00(?:22|3[aA]|5[cC])|\\")')
"""Escapes that may hide the end of a name: a quote, a colon or a backslash, and a quote after a backslash."""
_NULL: Final = re.compile(rb"null(?=[\s,\]}])")
"""A value that is null, and hardly ever a text that has this word."""
_WHITE: Final = np.frombuffer(b" \t\n\r", np.uint8)


def has_each_once(data: bytes, again: bytes) -> bool:
    """Whether it is sure that no member is repeated; False if that takes :func:`repeated_member`.

    A member that was left out as the text was read is missing where the values are written again, so that this text has
    fewer names. For a snapshot of 10,000 groups it takes a tenth of a plan's time less than `repeated_member`.

    Args:
        data: the text.
        again: what was read of it, written without white space before colons, and without members that are null.
    """
    if (b"null" in data and _NULL.search(data)) or _HIDING.search(data):
        return False  # null is not written again, and the number of names cannot be told by their ends
    names = _names(data)
    return names is not None and names == _names(again)


def _names(text: bytes) -> int | None:
    """How many names of members end in a text: quotes before colons; None if white space comes between them."""
    letters, names = np.frombuffer(text, np.uint8), 0
    for begin in range(0, len(letters), AT_A_TIME):
        colons = np.flatnonzero(letters[begin : begin + AT_A_TIME] == _COLON) + begin
        before = letters[colons - 1]
        if np.isin(before, _WHITE).any():
            return None
        ends = colons[before == _QUOTE]
        names += len(ends) - int(np.count_nonzero(letters[ends - 2] == _BACKSLASH))
    return names


def repeated_member(data: bytes) -> str | None:
    """The place of the first object that has a member twice, such as ``$.topics[0].perm``; None if there is none."""
    text = data.decode()
    try:
        _READER.decode(text)
    except _RepeatedError:
        return _place(_MARKING_READER.decode(text), "$")
    return None


class _RepeatedError(Exception):
    """An object has a member twice."""


@dataclass(frozen=True, slots=True)
class _Repeated:
    name: str


def _check(members: Sequence[tuple[str, Any]]) -> None:
    if len(dict(members)) < len(members):
        raise _RepeatedError


def _marked(members: Sequence[tuple[str, Any]]) -> Any:
    names = set[str]()
    for name, _ in members:
        if name in names:
            return _Repeated(name)
        names.add(name)
    return dict(members)


def _place(value: Any, place: str) -> str | None:
    """Where a marked object is; the first in the order of the text."""
    if isinstance(value, _Repeated):
        return f"{place}.{value.name}"
    items: list[tuple[str, Any]] = []
    if isinstance(value, dict):
        items = [(f"{place}.{name}", item) for name, item in value.items()]
    elif isinstance(value, list):
        items = [(f"{place}[{index}]", item) for index, item in enumerate(value)]
    return next((marked for inner, item in items if (marked := _place(item, inner))), None)


# Numbers stay texts: they may have more digits than Python reads.
_READER: Final = json.JSONDecoder(object_pairs_hook=_check, parse_int=str, parse_float=str)
_MARKING_READER: Final = json.JSONDecoder(object_pairs_hook=_marked, parse_int=str, parse_float=str)
