"""Figures as text: a number as a reader sees it, with the unit that its field or its name says."""

import math
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, Final

from rocketmq_capacity.catalogue.rule import units_of
from rocketmq_capacity.language.amounts import MONTHS
from rocketmq_capacity.language.current import words
from rocketmq_capacity.wording import percent

UNKNOWN: Final = "unknown"

UNITS: Final = {
    "msgs_per_s": "messages/s",
    "msgs_per_h": "messages/h",
    "mb_per_s": "MB/s",
    "bytes_per_s": "B/s",
    "bytes_per_day": "B a day",
    "bytes": "B",
    "mib": "MiB",
    "ms": "ms",
    "hours": "hours",
    "h": "hours",
    "days": "days",
    "s": "s",
}
"""End of a name, or the whole name -> unit. Longer ends come first, because ``msgs_per_s`` is not in seconds."""
PER_CENT: Final = "%"
RATIOS: Final = ("ratio", "share")
"""Ends of the names of ratios from 0 to 1."""
BESIDE: Final[Mapping[str, str]] = {
    "messages": "message",
    "count": "client",
    "batch": "client",
    "pop_share_queue_num": "",
}
"""The same for whole names that are in no rule's evidence: what a number counts, in the singular, or no unit."""
WHOLE_NAMES: Final[Mapping[str, str]] = {"msgs_per_s": "traffic", "bytes_per_day": "volume"}
"""What a reader sees for names that are only a unit."""
BINARY_PREFIXES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
KIBI: Final = 1024


def unit_of(name: str, rule: str = "") -> str | None:
    """The unit of the figures of this name; empty if they have none, None if the name is not known here.

    ``rule`` is the one whose evidence has the figure.
    """
    unit = units_of(rule).get(name, BESIDE.get(name))
    if unit is not None:
        return unit
    if _ending(name, RATIOS):
        return PER_CENT
    ending = _ending(name, UNITS)
    return UNITS[ending] if ending else None


def figure(name: str, value: Any, rule: str = "") -> str:
    """A scalar with its unit, as in :func:`unit_of`, in the language of now; null is "unknown", a boolean yes or no."""
    if value is None:
        return words(UNKNOWN)
    if isinstance(value, bool):
        return words("yes" if value else "no")
    if isinstance(value, int | float):
        return words(_measure(name, value, unit_of(name, rule) or ""))
    return words(when(value)) if name.endswith("_at") or name == "last_timestamp" else _text(str(value))


def _text(value: str) -> str:
    """Words in the language of now; a name, which has no spaces, stays as it is."""
    return words(value) if " " in value else value


def label(name: str) -> str:
    """A field's name as words, without its unit, which is beside the value: ``put_msgs_per_s`` -> ``put``."""
    ending = _ending(name, (*UNITS, *RATIOS, "at"))
    if ending == name:
        return WHOLE_NAMES.get(name, name)
    return (name.removesuffix(f"_{ending}") if ending else name).replace("_", " ")


def _ending(name: str, endings: Iterable[str]) -> str:
    """The first of the endings that the name ends in, or is; empty if there is none."""
    return next((ending for ending in endings if name == ending or name.endswith(f"_{ending}")), "")


def number(value: float | None) -> str:
    """A number with separated thousands, at most 2 decimals from 1 on and 3 digits below, without trailing zeros."""
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
    """A difference with its sign; the minus is the typographic one, which screen readers read aloud."""
    if value == 0:
        return "no change"
    return ("+" if value > 0 else "\u2212") + number(abs(value))


def per_cent(ratio: float | None) -> str:
    """A ratio as a percentage with at most one decimal, rounded down."""
    return UNKNOWN if ratio is None else percent(ratio).replace(".0 %", " %")


def per_cent_number(ratio: float) -> float:
    """The same as a number for a picture, so that it shows what the text beside it says."""
    return float(percent(ratio).removesuffix(" %").replace(",", ""))


def factor(value: float) -> str:
    """How many times, such as ``2.35`` with the sign; rounded down, so that what is below 1 never reads 1."""
    shown = math.floor(value * 100) / 100 if value < 100 else math.floor(value)
    return f"{number(shown)} \u00d7"


def when(text: str) -> str:
    """``2026-11-20T02:00:00Z`` as ``20 November 2026, 02:00:00 UTC``; a text that is not such a time stays."""
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return text
    if moment.utcoffset() is None or moment.utcoffset():
        return text
    return f"{day(moment)}, {moment:%H:%M:%S} UTC"


def day(moment: date) -> str:
    """``20 November 2026``."""
    return f"{moment.day} {MONTHS[moment.month - 1]} {moment.year}"


def _measure(name: str, value: float, unit: str) -> str:
    if unit == PER_CENT:
        return per_cent(value)
    if unit == "B":
        return _bytes(value)
    if unit and unit not in UNITS.values():
        # The unit is not written again if it is in the name.
        several = unit if value == 1 else f"{unit}s"
        unit = "" if unit in name.replace("_", " ") else several
    return f"{number(value)} {unit}".rstrip()


def _bytes(value: float) -> str:
    size, prefix = float(value), 0
    while abs(size) >= KIBI and prefix < len(BINARY_PREFIXES) - 1:
        size, prefix = size / KIBI, prefix + 1
    return f"{number(round(size, 1) if prefix else value)} {BINARY_PREFIXES[prefix]}"
