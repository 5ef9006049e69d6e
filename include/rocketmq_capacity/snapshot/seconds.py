"""Times as numbers."""

from datetime import datetime
from typing import Final

from rocketmq_capacity.snapshot.inventory import parse_utc

HOUR_S: Final = 3_600
DAY_S: Final = 24 * HOUR_S


def days_between(then: datetime, now: datetime) -> float:
    """How many days lie between two moments."""
    return (now - then).total_seconds() / DAY_S


class Seconds(dict[str, float]):
    """ISO-8601 time -> seconds since 1970. Each time is parsed once: many samples share few moments."""

    def __missing__(self, text: str) -> float:
        """Parse a time that was not parsed yet."""
        self[text] = parse_utc(text).timestamp()
        return self[text]
