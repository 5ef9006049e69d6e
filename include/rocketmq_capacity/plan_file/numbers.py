"""Numbers as the plan file has them: equal inputs give equal digits, in whatever order they were summed."""

import math
from collections.abc import Mapping
from typing import Any, Final

import msgspec
from msgspec import Struct, structs

from rocketmq_capacity.errors import ContractBroken

JsonObject = dict[str, Any]
"""Figures whose names say what they are; each rule, action and change has its own."""
METRIC_DECIMALS: Final = 4
SIGNIFICANT_DIGITS: Final = 10
"""Digits of other fractions: the last digits of a sum depend on its order, and equal inputs must give equal bytes."""


def rounded(number: float | None) -> float | None:
    """A metric with its decimals; None if it is unknown or no number."""
    if number is None or not math.isfinite(number):
        return None
    return round(number, METRIC_DECIMALS) + 0.0  # never -0.0


def steady(value: Any) -> Any:
    """A value whose fractions, however deep, keep only the digits that are the same in every run."""
    if isinstance(value, float):
        return float(f"{value:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Struct):
        return structs.replace(value, **{name: steady(getattr(value, name)) for name in value.__struct_fields__})
    if isinstance(value, Mapping):
        return {str(name): steady(held) for name, held in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(steady, value))
    return value


def json_object(column: str, text: str) -> JsonObject:
    """What a JSON column holds. Errors: ContractBroken if that is no JSON object."""
    try:
        return _OBJECTS.decode(text)
    except msgspec.DecodeError as error:
        raise ContractBroken(f"{column}: expected a JSON object, found {text[:80]!r} ({error})") from None


_OBJECTS: Final = msgspec.json.Decoder(JsonObject, float_hook=lambda text: steady(float(text)))
