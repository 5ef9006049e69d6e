"""The base of every dataset: a typed row that knows its table's name and columns.

One class describes a table everywhere: its annotations are the types of a row in Python, the columns of the parquet
files (:mod:`rocketmq_capacity.contracts.arrow`) and the lines of the data dictionary.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

Int = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
"""A count or an id: it has 32 bits in the files; ``int`` has 64."""

Metrics = Annotated[dict[str, float], Meta(extra={"is": "metrics"})]
"""Skew of one load over the clients of a group: peak, floor, excess, gini, cv, and max, min, mean in the load's unit.

Null if it is not defined: under two clients, no load, or an unknown part of it. Without floor and excess if clients
share queues, as under POP."""


class Queue(Struct, frozen=True, order=True):
    """A queue inside a row."""

    topic: str
    broker_name: str
    queue_id: Int


@dataclass(frozen=True, slots=True)
class Column:
    """One column of a dataset.

    Attributes:
        name: of the column.
        type: of a value in Python, without ``None``.
        is_nullable: whether a value may be unknown.
        description: its meaning, for the data dictionary.
    """

    name: str
    type: Any
    is_nullable: bool
    description: str


class Facts(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of a unit's facts; None is unknown.

    The members that rules and actions use are defined once, next to the dataset of the same part. The dataset adds
    columns that identify the row, and columns that only people read.
    """


class Dataset(Struct, frozen=True, kw_only=True):
    """A row of a table of the lake; subclasses are the contracts."""

    @classmethod
    def dataset_name(cls) -> str:
        """The folder name: the class name in snake_case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def columns(cls) -> Iterator[Column]:
        """The columns: first those that only the dataset has, then those that rules use."""
        hints = get_type_hints(cls, include_extras=True)
        for name in dict.fromkeys((*cls.__annotations__, *hints)):
            hint = hints[name]
            kind, description = _undescribed(hint)
            parts = get_args(kind)
            is_nullable = NoneType in parts
            yield Column(name, parts[0] if is_nullable else kind, is_nullable, description)


def _undescribed(hint: Any) -> tuple[Any, str]:
    """A column's annotation without its description, and the description."""
    if get_origin(hint) is not Annotated:
        return hint, ""
    kind, *metas = get_args(hint)
    described = [meta.description for meta in metas if meta.description]
    others = tuple(meta for meta in metas if not meta.description)
    return (Annotated[(kind, *others)] if others else kind), "".join(described)
