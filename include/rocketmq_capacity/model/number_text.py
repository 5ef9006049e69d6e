"""Numbers that brokers and clients write as text, in their settings and runtime figures: read within limits."""

import math
from typing import Final

MOST_DIGITS: Final = 19
"""Digits of the largest Java long."""
MOST: Final = 2**63 - 1


def whole_number(text: str | None) -> int | None:
    """A whole number from 0 to the largest Java long; None for anything else.

    >>> [whole_number(text) for text in ("72", "-1", "7 days", "9" * 5_000, None)]
    [72, None, None, None, None]
    """
    if text is None or not (text.isascii() and text.isdecimal()) or len(text) > MOST_DIGITS:
        return None
    number = int(text)
    return number if number <= MOST else None


def decimal_number(text: str | None) -> float | None:
    """A number of at least 0 that is no larger than the largest Java long; None for anything else.

    >>> [decimal_number(text) for text in ("0.41", "NaN", "1e999", "-1", "")]
    [0.41, None, None, None, None]
    """
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number <= MOST else None
