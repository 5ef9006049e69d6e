"""Figures in words: one number as a reader sees it, with its unit taken from its name."""

import math
from datetime import datetime
from typing import Any, Final

UNKNOWN: Final = "unknown"

UNITS: Final = {
    "_msgs_per_s": "messages/s",
    "_bytes_per_s": "B/s",
    "_bytes": "B",
    "_mib": "MiB",
    "_ms": "ms",
    "_hours": "hours",
    "_h": "hours",
    "_days": "days",
    "_s": "s",
}
"""Ending of a name -> unit; the style's rule is that the unit stands in the name. Longer endings first."""
PER_CENT: Final = ("_ratio", "_share")
BINARY_PREFIXES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
KIBI: Final = 1024


def figure(name: str, value: Any) -> str:
    """A scalar with the unit that its name says; null is "unknown", a truth value is yes or no."""
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _measure(name, value)
    return when(value) if name.endswith("_at") or name == "last_timestamp" else str(value)


def label(name: str) -> str:
    """A field's name as words, its unit left to the value: ``put_msgs_per_s`` -> ``put``; names with spaces stay."""
    ending = next((e for e in (*UNITS, *PER_CENT, "_at") if name.endswith(e) and len(name) > len(e)), "")
    return name.removesuffix(ending).replace("_", " ")


def number(value: float | None) -> str:
    """Thousands apart, at most four digits of a fraction and none that says nothing."""
    if value is None:
        return UNKNOWN
    if isinstance(value, int):
        return f"{value:,}"
    if not math.isfinite(value):
        return UNKNOWN
    if value == 0 or abs(value) >= 1_000:
        return f"{value:,.0f}"
    decimals = max(0, 3 - math.floor(math.log10(abs(value))) - 1) if abs(value) < 1 else 2
    text = f"{value:,.{min(decimals, 6)}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def signed(value: float) -> str:
    """A difference with its sign; the minus is the typographic one, which a screen reader says."""
    if value == 0:
        return "no change"
    return ("+" if value > 0 else "\u2212") + number(abs(value))


def per_cent(ratio: float | None) -> str:
    """A ratio as a percentage, rounded away from 100 %: what is not whole never reads as whole."""
    if ratio is None:
        return UNKNOWN
    hundredth = math.floor(ratio * 1_000) / 10 if ratio < 1 else ratio * 100
    return f"{hundredth:,.1f}".removesuffix(".0") + " %"


def when(text: str) -> str:
    """``2026-11-20T02:00:00Z`` as ``20 November 2026, 02:00:00 UTC``; what is no such time stays as it is."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.utcoffset() is None or moment.utcoffset():
        return text
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}, {moment:%H:%M:%S} UTC"


MONTHS: Final = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)
"""Not strftime's: that follows the machine's locale, and equal inputs must give equal bytes."""


def counted(count: int, one: str, many: str | None = None) -> str:
    """``1 client``, ``3 clients``."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def _measure(name: str, value: float) -> str:
    if name.endswith(PER_CENT):
        return per_cent(value)
    unit = next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")
    if unit == "B":
        return _bytes(value)
    return f"{number(value)} {unit}".rstrip()


def _bytes(value: float) -> str:
    size, prefix = float(value), 0
    while abs(size) >= KIBI and prefix < len(BINARY_PREFIXES) - 1:
        size, prefix = size / KIBI, prefix + 1
    return f"{number(round(size, 1) if prefix else value)} {BINARY_PREFIXES[prefix]}"
