"""Times as numbers."""

from typing import Final

from rocketmq_capacity.snapshot.inventory import parse_utc

HOUR_S: Final = 3_600


class Seconds(dict[str, float]):
    """ISO-8601 time -> seconds since 1970. Each time is parsed once: many samples share few moments."""

    def __missing__(self, text: str) -> float:
        """Parse a time that was not parsed yet."""
        self[text] = parse_utc(text).timestamp()
        return self[text]
