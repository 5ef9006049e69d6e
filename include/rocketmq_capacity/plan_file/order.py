"""Total orders and ids, so that equal inputs give equal bytes, in whatever order Spark gives the rows."""

from collections.abc import Iterable, Iterator
from hashlib import sha256
from typing import Any, Final

import msgspec

from rocketmq_capacity.tables.dataset import Queue

ID_DIGITS: Final = 12
"""Hexadecimal digits of an id: 48 bits are enough for the ids of one plan."""


def identity(*names: Any) -> str:
    """An id made of names: equal names give equal ids, on any day and in any plan."""
    return sha256(msgspec.json.encode(names)).hexdigest()[:ID_DIGITS]


def made_unique(ids: Iterable[str]) -> Iterator[str]:
    """The ids in their order; an id that came before gets a number: ``a``, ``a-2``, ``a-3``."""
    taken: dict[str, int] = {}
    for name in ids:
        taken[name] = number = taken.get(name, 0) + 1
        yield name if number == 1 else f"{name}-{number}"


def beside(lists: Iterable[Iterable[str]]) -> dict[str, dict[str, None]]:
    """For each member of the lists, all other members of its lists, in the order of the lists."""
    others: dict[str, dict[str, None]] = {}
    for members in map(tuple, lists):
        for name in members:
            others.setdefault(name, {}).update(dict.fromkeys(other for other in members if other != name))
    return others


def nulls_first(*values: Any) -> tuple[tuple[bool, Any], ...]:
    """A sort key of values that may be None; None sorts before everything."""
    return tuple((value is not None, value if value is not None else 0) for value in values)


def subjects_key(subjects: Iterable[str | Queue]) -> tuple[tuple[str, str, int], ...]:
    """A sort key of the subjects of findings, which are texts and queues."""
    return tuple(
        (one, "", -1) if isinstance(one, str) else (one.topic, one.broker_name, one.queue_id) for one in subjects
    )


def canonical(value: Any) -> bytes:
    """The JSON text of a value with sorted keys; it decides an order if all other columns are equal."""
    return msgspec.json.encode(value, order="sorted")
