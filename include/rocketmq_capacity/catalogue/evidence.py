"""The evidence of a finding: the figures that it is based on, as one struct of its rule."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any, ClassVar, NamedTuple, Protocol, Self, get_args, get_type_hints

import msgspec
from msgspec import Meta, Struct


class FindingLike(Protocol):
    """A finding, as a row of a table (its evidence is JSON text) or of a plan file (an object)."""

    @property
    def rule(self) -> str:
        """Name of its rule."""

    @property
    def evidence(self) -> str | Mapping[str, Any]:
        """The figures."""


class Evidence(Struct, frozen=True, kw_only=True):
    """The base of each rule's evidence, written in the order of its fields; one that is UNSET is left out.

    Attributes:
        adds_to: figures of a cause's impact -> the attribute of this evidence that is its part of them.
    """

    adds_to: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def of(cls, finding: FindingLike) -> Self:
        """The evidence of a finding of this kind. Errors: ValidationError if it is of another shape."""
        held = finding.evidence
        return _decoder(cls).decode(held) if isinstance(held, str) else msgspec.convert(held, cls)

    @classmethod
    def read(cls, finding: FindingLike) -> Self | None:
        """The same; None if it is of another shape of its rule, or of another version of this program."""
        try:
            return cls.of(finding)
        except msgspec.ValidationError:
            return None


@cache
def _decoder(kind: type[Any]) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def means(meaning: str, unit: str | None = None) -> Meta:
    """What a field says. ``unit`` is what a number counts, in the singular, or empty; None: it is in the name."""
    return Meta(description=meaning, extra={"unit": unit})


class EvidenceField(NamedTuple):
    """A field of an evidence, or of a struct in it.

    Attributes:
        name: of the field.
        unit: None if its name has the unit, or if it is no number; empty for a number that has none.
        meaning: what it is; for what is counted, without the noun.
        parts: the fields of the structs that it holds.
    """

    name: str
    unit: str | None
    meaning: str
    parts: tuple["EvidenceField", ...]


def figures_of(kind: Any) -> Iterator[EvidenceField]:
    """The fields of a struct, or of the structs that a type holds."""
    if not (isinstance(kind, type) and issubclass(kind, Struct)):
        for part in get_args(kind):
            yield from figures_of(part)
        return
    for name, hint in get_type_hints(kind, include_extras=True).items():
        for meta in getattr(hint, "__metadata__", ()):
            if meta.extra is not None:
                yield EvidenceField(name, meta.extra["unit"], meta.description, tuple(figures_of(hint.__origin__)))


def units_in(figures: Iterable[EvidenceField]) -> Iterator[tuple[str, str]]:
    """Name and unit of each figure that says its unit, at any depth."""
    for figure in figures:
        if figure.unit is not None:
            yield figure.name, figure.unit
        yield from units_in(figure.parts)
