"""Total orders, so that equal inputs give equal bytes whatever order Spark hands the rows over in."""

from typing import Any

import msgspec


def nulls_first(*values: Any) -> tuple[tuple[bool, Any], ...]:
    """A key over values that may be None; None sorts before everything."""
    return tuple((value is not None, value if value is not None else 0) for value in values)


def canonical(value: Any) -> bytes:
    """The JSON text of a value with sorted keys: the last word of an order, where the named columns are equal."""
    return msgspec.json.encode(value, order="sorted")
