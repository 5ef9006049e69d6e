"""What healthy fleets are drawn from: their sizes, their dice, and the words that all parts share."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cache
from random import Random
from typing import Any, Final, NamedTuple

from rocketmq_capacity.settings.freeze import utc_text

Row = dict[str, Any]

CLUSTER: Final = "advised"
TAKEN_AT: Final = datetime(2026, 11, 20, 2, tzinfo=UTC)
ROOMS: Final = ("hz", "sh")
NAMESERVERS: Final = ("10.0.9.1:9876", "10.0.9.2:9876")
PROXIES: Final = ("10.0.8.1:8080", "10.0.8.2:8080")
MESSAGE_BYTES: Final = 1_024
KEPT_H: Final = 60
"""The age of the oldest messages: brokers keep 72 hours, and delete once a day."""
SAMPLES: Final = 10
SAMPLE_S: Final = 5


class Queue(NamedTuple):
    """A queue of a topic, in the order in which RocketMQ sorts them."""

    topic: str
    broker_name: str
    queue_id: int

    def row(self) -> Row:
        return self._asdict()


@dataclass(frozen=True, slots=True)
class Size:
    """How large a fleet is. ``brokers_of_topic`` brokers make a set that topics share."""

    groups: int
    topics: int
    brokers: int
    brokers_of_topic: int


SIZES: Final[Mapping[str, Size]] = {
    "small": Size(20, 14, 6, 4),
    "middle": Size(150, 80, 12, 4),
    "large": Size(600, 300, 40, 4),
}


@dataclass(frozen=True, slots=True)
class Moment:
    """When a snapshot is taken, and how many times the usual traffic there is then."""

    days_before: float = 0
    traffic: float = 1.0

    @property
    def taken_at(self) -> datetime:
        return TAKEN_AT - timedelta(days=self.days_before)

    def at(self, seconds_before: float = 0) -> str:
        """A time before the snapshot, as the inventory file writes it."""
        return _text(self.taken_at - timedelta(seconds=seconds_before))


def dice(*names: object) -> Random:
    """The dice of one part of a fleet, whatever the other parts draw."""
    return Random(repr(names))


@cache
def _text(moment: datetime) -> str:
    return utc_text(moment.replace(microsecond=0))
