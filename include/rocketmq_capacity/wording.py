"""Figures and lists as text, for messages, reasons and evidence."""

from collections.abc import Sequence
from decimal import ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Final, overload

from rocketmq_capacity.tables.dataset import Queue
from rocketmq_capacity.vocabulary import UnseenClients

DECIMALS: Final = 4
"""Decimals of a metric or a ratio, as in the plan file."""
JUST_BELOW: Final = Decimal(1) - Decimal(1).scaleb(-DECIMALS)
_LAST_DIGITS: Final = [Decimal(1).scaleb(-decimals) for decimals in range(10)]
_EXACT: Final = Context(prec=400)
"""More digits than a float and its decimals have."""
LISTED: Final = 5
"""The most names in a sentence; the others are counted."""
NO_STRATEGY: Final = "its message model is neither CLUSTERING nor BROADCASTING: no strategy applies"
"""Why nothing is computed for a group of the model LITE_SELECTIVE."""
MODEL_UNKNOWN: Final = (
    "it reads a LITE topic, and its message model is unknown: to a LITE_SELECTIVE group no strategy applies"
)
"""Why nothing is computed for a group that may be of the model LITE_SELECTIVE."""
UNSEEN_CLIENTS: Final[dict[UnseenClients, str]] = {
    "PROXY_UNNAMED": (
        "its clients are unknown: a Proxy works here (DefaultHeartBeatSyncerTopic exists), and none is named"
    ),
    "NOT_TOLD": "its clients are unknown: brokers did not say who they are",
    "OFFSETS_MOVE": "its clients are unknown: its offsets move, so that they may be behind a Proxy, and none is named",
    "PROXIES_SILENT": "its clients are unknown: no Proxy answered",
}
"""Why a group without known clients may still have some."""


@overload
def rounded(number: float, decimals: int = DECIMALS) -> float: ...
@overload
def rounded(number: float | None, decimals: int = DECIMALS) -> float | None: ...
def rounded(number: float | None, decimals: int = DECIMALS) -> float | None:
    """A figure rounded half up by its decimal digits, not by its binary value; None stays None."""
    return None if number is None else float(_decimal(number, decimals))


def fixed(number: float, decimals: int) -> str:
    """The same as text with exactly this many decimals: ``94.0``."""
    return f"{_decimal(number, decimals):f}"


def listed(names: Sequence[str], most: int = LISTED, of: int | None = None) -> str:
    """The first names for a sentence: ``a, b, c and 4 more``; ``of`` is how many there are, if not all are given."""
    more = (len(names) if of is None else of) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def verbatim(names: str) -> str:
    """Names for a sentence that is formatted afterwards: their own braces are no places of it."""
    return names.replace("{", "{{").replace("}", "}}")


def counted(number: int, noun: str, several: str | None = None) -> str:
    """A number with its noun: ``1 queue``, ``2,000 queues``; ``several`` is the plural if it does not end in s."""
    return f"{number:,} {noun if number == 1 else several or noun + 's'}"


def percent(ratio: float) -> str:
    """A share for a sentence, rounded down, so that a share below 1 never reads ``100.0 %``.

    It begins with the ratio as the plan file has it, so that sentences and tables show one number.
    """
    # The last digit of a ratio may be wrong, if it is a sum.
    exact = _decimal(ratio, 9)
    as_in_plan = min(_decimal(ratio, DECIMALS), JUST_BELOW) if exact < 1 else _decimal(ratio, DECIMALS)
    tenths = (as_in_plan * 1000).to_integral_value(ROUND_FLOOR)
    return f"{tenths / 10:,.1f} %"


def queue_label(queue: Queue, topics: int = 1) -> str:
    """A queue in a sentence: ``broker-a:3`` if it is about one topic, else ``pay/broker-a:3``."""
    place = f"{queue.broker_name}:{queue.queue_id}"
    return place if topics == 1 else f"{queue.topic}/{place}"


def _decimal(number: float, decimals: int) -> Decimal:
    return Decimal(repr(float(number))).quantize(_LAST_DIGITS[decimals], ROUND_HALF_UP, _EXACT)
