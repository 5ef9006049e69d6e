"""Known days on which more comes than at any peak so far, such as a sale."""

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Annotated, Final

from pydantic import Field

from rocketmq_capacity.settings.freeze import Period
from rocketmq_capacity.settings.line import Name
from rocketmq_capacity.settings.patterns import Pattern, is_found

LARGEST_FACTOR: Final = 1_000_000


class Event(Period):
    """From its first moment until before its last one, ``factor`` times the messages of the peak come to its topics."""

    name: Name
    topics: Pattern | None = None
    factor: Annotated[float, Field(gt=0, le=LARGEST_FACTOR, allow_inf_nan=False, strict=True)]

    def has(self, topic: str) -> bool:
        """Whether more comes to a topic; without a pattern it is every topic."""
        return self.topics is None or is_found(self.topics, topic)


def coming_events(events: Sequence[Event], taken_at: str) -> list[Event]:
    """The events that are not over at a moment (UTC, ISO-8601), the first one first."""
    if not events:
        return []
    now = datetime.fromisoformat(taken_at)
    return sorted((one for one in events if one.ends > now), key=lambda one: (one.begins, one.ends, one.name))


def past_events(events: Sequence[Event], now: datetime, topics: Collection[str]) -> list[tuple[float, float]]:
    """When the events of these topics that are over began and ended, in seconds since 1970.

    What came then is no peak: it comes again with the next event only.
    """
    over = (one for one in events if one.ends <= now and any(map(one.has, topics)))
    return [(one.begins.timestamp(), one.ends.timestamp()) for one in over]
