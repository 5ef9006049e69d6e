"""Total orders, so that equal inputs give equal bytes whatever order Spark hands the rows over in."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

import msgspec

from rocketmq_capacity.contracts.dataset import Queue

ID_DIGITS: Final = 12
"""Hexadecimal digits of an id: 48 bits tell apart what one plan holds."""


def identity(*names: Any) -> str:
    """An id of what has these names: equal names give equal ids, on any day and in any plan."""
    return sha256(msgspec.json.encode(names)).hexdigest()[:ID_DIGITS]


def told_apart(ids: Iterable[str]) -> Iterator[str]:
    """The ids, with a number behind one that has come before."""
    taken: dict[str, int] = {}
    for one in ids:
        taken[one] = number = taken.get(one, 0) + 1
        yield one if number == 1 else f"{one}-{number}"


def beside(lists: Iterable[Iterable[str]]) -> dict[str, dict[str, None]]:
    """For each member of the lists the others that are in a list with it, in the order of the lists."""
    others: dict[str, dict[str, None]] = {}
    for one in lists:
        members = tuple(one)
        for name in members:
            others.setdefault(name, {}).update(dict.fromkeys(other for other in members if other != name))
    return others


def nulls_first(*values: Any) -> tuple[tuple[bool, Any], ...]:
    """A key over values that may be None; None sorts before everything."""
    return tuple((value is not None, value if value is not None else 0) for value in values)


def subjects_key(subjects: Iterable[str | Queue]) -> tuple[tuple[str, str, int], ...]:
    """A key over what findings are about: texts and queues."""
    return tuple(
        (one, "", -1) if isinstance(one, str) else (one.topic, one.broker_name, one.queue_id) for one in subjects
    )


def canonical(value: Any) -> bytes:
    """The JSON text of a value with sorted keys: the last word of an order, where the named columns are equal."""
    return msgspec.json.encode(value, order="sorted")
