"""Times as numbers."""

from rocketmq_capacity.snapshot.inventory import parse_utc


class Seconds(dict[str, float]):
    """Seconds since 1970 of each time that was asked for; samples of many queues are of few moments."""

    def __missing__(self, text: str) -> float:
        """Parse a time that was not asked for yet."""
        self[text] = parse_utc(text).timestamp()
        return self[text]
