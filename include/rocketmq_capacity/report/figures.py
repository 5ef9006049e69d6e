"""Figures in words: one number as a reader sees it, with the unit that its name says."""

import math
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any, Final

UNKNOWN: Final = "unknown"

UNITS: Final = {
    "msgs_per_s": "messages/s",
    "bytes_per_s": "B/s",
    "bytes": "B",
    "mib": "MiB",
    "ms": "ms",
    "hours": "hours",
    "h": "hours",
    "days": "days",
    "s": "s",
}
"""Last words of a name, or all of it -> unit; the style's rule is that the name has the unit. Longer ones first,
for ``msgs_per_s`` are no seconds."""
PER_CENT: Final = "%"
RATIOS: Final = ("ratio", "share")
"""Last words of the names of ratios from 0 to 1."""
COUNTED: Final[Mapping[str, str]] = {
    "lag": "message",
    "deleted": "message",
    "lost_queues": "queue",
    "moved_queues": "queue",
    "mean_queues": "queue",
    "untold_room_queues": "queue",
    "untold_room_clients": "client",
    "lag_growth": "message",
    "stranded": "message",
    "messages": "message",
    "queues": "queue",
    "orphans": "queue",
    "orphan_queues": "queue",
    "doubly_owned_queues": "queue",
    "read_queue_nums": "queue",
    "write_queue_nums": "queue",
    "master_read_queue_nums": "queue",
    "master_write_queue_nums": "queue",
    "clients": "client",
    "idle": "client",
    "count": "client",
    "max_useful_clients": "client",
    "min_clients": "client",
    "lost_clients": "client",
    "pull_threshold_for_queue": "message",
    "needed_pull_threshold_for_queue": "message",
    "needed_pull_threshold_for_topic": "message",
    "needed_clients": "client",
    "consume_threads": "thread",
    "needed_consume_threads": "thread",
    "queues_per_broker": "queue",
    "copies": "consumer",
    "sets": "set",
    "groups": "group",
    "newly_flagged": "group",
    "topics": "topic",
    "uneven_topics": "topic",
    "brokers": "broker",
    "failures": "request",
}
"""Name of a number -> what it counts, as one of them is called."""
BARE: Final = frozenset({
    "peak",
    "floor",
    "excess",
    "gini",
    "cv",
    "factor",
    "peak_factor",
    "queue_id",
    "perm",
    "slave_ids",
    "pop_share_queue_num",
    "level",
    "p_between_brokers",
    "p_within_brokers",
})
"""Names of numbers that have no unit."""
WHOLE_NAMES: Final[Mapping[str, str]] = {"msgs_per_s": "traffic"}
"""What a reader sees for names that are all unit."""
BINARY_PREFIXES: Final = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")
KIBI: Final = 1024


def unit_of(name: str) -> str | None:
    """The unit of the figures of this name, empty where they have none; None where nobody has said."""
    if name in COUNTED or name in BARE:
        return COUNTED.get(name, "")
    if _ending(name, RATIOS):
        return PER_CENT
    ending = _ending(name, UNITS)
    return UNITS[ending] if ending else None


def figure(name: str, value: Any, of: str | None = None) -> str:
    """A scalar with its unit; null is "unknown", a truth value is yes or no.

    Args:
        name: what a reader sees beside it.
        value: the scalar.
        of: the name that says the unit, where it is not ``name`` itself.
    """
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int | float):
        return _measure(name, value, unit_of(of or name) or "")
    return when(value) if name.endswith("_at") or name == "last_timestamp" else str(value)


def label(name: str) -> str:
    """A field's name as words, its unit left to the value: ``put_msgs_per_s`` -> ``put``; names with spaces stay."""
    ending = _ending(name, (*UNITS, *RATIOS, "at"))
    if ending == name:
        return WHOLE_NAMES.get(name, name)
    return (name.removesuffix(f"_{ending}") if ending else name).replace("_", " ")


def _ending(name: str, endings: Iterable[str]) -> str:
    """The first of the endings that the name has as its last words, or is; empty where none is."""
    return next((ending for ending in endings if name == ending or name.endswith(f"_{ending}")), "")


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


def _measure(name: str, value: float, unit: str) -> str:
    if unit == PER_CENT:
        return per_cent(value)
    if unit == "B":
        return _bytes(value)
    if unit in COUNTED.values():
        # A name that says what it counts is not followed by it once more.
        unit = "" if unit in name.replace("_", " ") else f"{unit}{'' if value == 1 else 's'}"
    return f"{number(value)} {unit}".rstrip()


def _bytes(value: float) -> str:
    size, prefix = float(value), 0
    while abs(size) >= KIBI and prefix < len(BINARY_PREFIXES) - 1:
        size, prefix = size / KIBI, prefix + 1
    return f"{number(round(size, 1) if prefix else value)} {BINARY_PREFIXES[prefix]}"
