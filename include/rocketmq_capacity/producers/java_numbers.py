"""Java's arithmetic where it differs from Python's: an int overflows at 2^31, a remainder has the dividend's sign."""

from typing import Final

_WRAP: Final = 1 << 32
_LARGEST: Final = (1 << 31) - 1


def as_int(number: int) -> int:
    """The number as Java's int: 32 bits with a sign."""
    wrapped = number % _WRAP
    return wrapped - _WRAP if wrapped > _LARGEST else wrapped


def absolute(number: int) -> int:
    """``Math.abs``; the smallest int stays negative."""
    return as_int(abs(number))


def remainder(number: int, divisor: int) -> int:
    """``number % divisor`` for a divisor above 0."""
    return number % divisor if number >= 0 else -(-number % divisor)


def hash_of(text: str) -> int:
    """``String.hashCode``, over UTF-16 code units."""
    units = text.encode("utf-16-be", "surrogatepass")
    total = 0
    for high, low in zip(units[::2], units[1::2], strict=True):
        total = total * 31 + (high << 8 | low)
    return as_int(total)
