"""Amounts in Chinese: numbers with what they count or their unit, and moments."""

import re
from collections.abc import Mapping
from typing import Final

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
"""Not strftime's names, which depend on the machine's locale: equal inputs must give equal bytes."""
NUMBER: Final = r"[+\u2212]?[\d,]+(?:\.\d+)?"
UNITS: Final[Mapping[str, str]] = {
    "messages/s": "条/秒",
    "message/s": "条/秒",
    "messages/h": "条/小时",
    "messages a second": "条/秒",
    "messages an hour": "条/小时",
    "B a day": "B/天",
    "B/s": "B/s",
    "MB/s": "MB/s",
    "MB a second": "MB/s",
    "s": "秒",
    "seconds": "秒",
    "second": "秒",
    "ms": "毫秒",
    "h": "小时",
    "hours": "小时",
    "hour": "小时",
    "days": "天",
    "day": "天",
    "min": "分钟",
    "points": "个百分点",
    "minutes": "分钟",
    "minute": "分钟",
    "%": "%",
    "\u00d7": "\u00d7",
    **{unit: unit for unit in ("B", "KiB", "MiB", "GiB", "TiB", "PiB", "MB", "GB")},
}
BETWEEN: Final = ((" to ", " 至 "), (" of ", " / "), (" and ", " 和 "))
"""What links two amounts."""
DEEPEST: Final = 2
"""Amounts within amounts: ``77 producers from 5.1.4 on and 3 queues of 4``."""
_COUNTED: Final = re.compile(rf"({NUMBER}) (.+)")
_VERSION: Final = r"\d+(?:\.\d+)+"
_NAMED: Final = (
    (re.compile(rf"({NUMBER} %) of its time"), r"\1"),
    (re.compile(rf"({NUMBER}) on (\S+)"), r"\2 上 \1 个"),
    (re.compile(rf"from ({_VERSION}) on"), r"\1 及以上"),
    (re.compile(rf"up to ({_VERSION})"), r"\1 及以下"),
)
"""The share of time that a client is busy, queues on a broker, and versions."""
_DIGIT: Final = re.compile(r"\d")
_NUMBER: Final = re.compile(rf"{NUMBER}( %)?|{_VERSION}")
_MOMENT: Final = re.compile(rf"(\d+) ({'|'.join(MONTHS)}) (\d+)(?:,( \d\d:\d\d:\d\d UTC))?")


def amount(text: str, nouns: Mapping[str, str], deepest: int = DEEPEST) -> str | None:
    """An amount, a day or a moment in Chinese; None if the text is neither."""
    if _DIGIT.search(text) is None:
        return None
    moment = _MOMENT.fullmatch(text)
    if moment is not None:
        day, month, year, time = moment.groups()
        return f"{year} 年 {MONTHS.index(month) + 1} 月 {day} 日{time or ''}"
    for pattern, other in _NAMED:
        if pattern.fullmatch(text):
            return pattern.sub(other, text)
    counted = _COUNTED.fullmatch(text)
    if counted is not None:
        number, what = counted.groups()
        said = UNITS.get(what) or nouns.get(what)
        if said is not None:
            return f"{number} {said}"
        if what == "or more":
            return f"{number} 或更多"
    if not deepest:
        return None
    two = _two_amounts(text, nouns, deepest - 1)
    return two if two is not None or counted is None else _of_a_kind(number, what, nouns, deepest - 1)


def _of_a_kind(number: str, what: str, nouns: Mapping[str, str], deepest: int) -> str | None:
    """``77 producers from 5.1.4 on``."""
    noun, _, kind = what.partition(" ")
    said = amount(kind, nouns, deepest) if kind and noun in nouns else None
    return None if said is None else f"{said}的 {number} {nouns[noun]}"


def _two_amounts(text: str, nouns: Mapping[str, str], deepest: int) -> str | None:
    """``4.5 to 8``, ``10 GiB of 20 GiB``."""
    for link, other in BETWEEN:
        begin, separator, end = text.partition(link)
        parts = (begin, end) if separator else ()
        said = [part if _NUMBER.fullmatch(part) else amount(part, nouns, deepest) for part in parts]
        if said and None not in said:
            return other.join(part for part in said if part is not None)
    return None
