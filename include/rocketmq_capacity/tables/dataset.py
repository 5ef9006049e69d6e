"""The base of every dataset: a typed row that knows its table's name and columns.

One class describes a table everywhere: its annotations are the types of a row in Python, the columns of the parquet
files (:mod:`rocketmq_capacity.tables.arrow`) and the lines of the data dictionary.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from types import NoneType
from typing import Annotated, Any, ClassVar, Final, Literal, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct

MOST: Final = 2**31 - 1
"""The largest number that has 32 bits in the files; ``int`` has 64."""
Int = Annotated[int, Meta(ge=-MOST - 1, le=MOST)]
Count = Annotated[int, Meta(ge=0, le=MOST)]
BigCount = Annotated[int, Meta(ge=0)]
QueueId = Annotated[int, Meta(ge=-1, le=MOST)]
"""-1 stands for all queues of a broker."""
Amount = Annotated[float, Meta(ge=0.0)]
Ratio = Annotated[float, Meta(ge=0.0, le=1.0)]

Metrics = Annotated[dict[str, float], Meta(extra={"is": "metrics"})]
"""Skew of one load over the clients of a group: peak, floor, excess, gini, cv, and max, min, mean in the load's unit.

Null if it is not defined: under two clients, no load, or an unknown part of it. Without floor and excess if clients
share queues, as under POP."""


def one_of(*words: str) -> Meta:
    """A text that is one of these words. Types of ``Literal`` say it themselves."""
    return Meta(extra={"words": words})


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
        words: the texts that are allowed; empty if any is.
        least: the least value that is allowed; None if any is.
        most: the largest one.
    """

    name: str
    type: Any
    is_nullable: bool
    description: str
    words: tuple[str, ...] = ()
    least: float | None = None
    most: float | None = None


class Facts(Struct, frozen=True, kw_only=True, gc=False, omit_defaults=True):
    """A part of a unit's facts; None is unknown.

    The members that rules and actions use are defined once, next to the dataset of the same part. The dataset adds
    columns that identify the row, and columns that only people read.
    """


class Dataset(Struct, frozen=True, kw_only=True):
    """A row of a table of the lake; each subclass describes one table.

    Attributes:
        KEY: the columns whose values no two rows have in common; empty if rows may be equal.
    """

    KEY: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def dataset_name(cls) -> str:
        """The folder name: the class name in snake_case."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    @classmethod
    def columns(cls) -> Iterator[Column]:
        """The columns: first those that only the dataset has, then those that rules use."""
        hints = get_type_hints(cls, include_extras=True)
        for name in dict.fromkeys((*cls.__annotations__, *cls.__struct_fields__)):
            if name in cls.__struct_fields__:
                yield _column(name, hints[name])


def _column(name: str, hint: Any) -> Column:
    """The column that an annotation describes."""
    kind, metas = _parts(hint)
    is_nullable = NoneType in get_args(kind)
    if is_nullable:
        kind, inner = _parts(get_args(kind)[0])
        metas += inner
    least = next((meta.ge for meta in metas if meta.ge is not None), None)
    most = next((meta.le for meta in metas if meta.le is not None), None)
    words = get_args(kind) if get_origin(kind) is Literal else ()
    words = next((meta.extra["words"] for meta in metas if meta.extra and "words" in meta.extra), words)
    if kind is int and most == MOST:
        kind = Int
    described = "".join(meta.description or "" for meta in metas)
    return Column(name, kind, is_nullable, described, words, least, most)


def _parts(hint: Any) -> tuple[Any, tuple[Meta, ...]]:
    """A type, and what is said of it; ``Metrics`` is a type of its own."""
    if get_origin(hint) is not Annotated:
        return hint, ()
    kind, *metas = get_args(hint)
    return Metrics if get_args(Metrics)[1] in metas else kind, tuple(metas)
