"""Moments of a plan as numbers, for tools that compare them with a clock."""

from datetime import datetime


def seconds_of(moment: str | None) -> float | None:
    """Seconds since 1970-01-01 UTC; None if the moment is unknown or no time."""
    try:
        return None if moment is None else datetime.fromisoformat(moment).timestamp()
    except (ValueError, OverflowError):
        return None
