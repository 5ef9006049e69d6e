"""What a broker says of its messages: their mean size, and how long it keeps them.

Source: StoreStatsService and MessageStoreConfig, rocketmq-all-5.3.3.
"""

from collections.abc import Mapping
from typing import Final

from rocketmq_capacity.contracts.broker import Broker
from rocketmq_capacity.contracts.number_text import decimal_number

AVERAGE_BYTES: Final = "putMessageAverageSize"
"""Bytes stored / messages stored since the broker started."""
RESERVED: Final = "fileReservedTime"
"""Hours for which a broker keeps messages."""


PUT_RATES: Final = "putTps"
"""Messages a second that a broker stores: means over the last 10 s, 1 min and 10 min, as far as it runs so long."""
LOG_BEGIN: Final = "commitLogMinOffset"
LOG_END: Final = "commitLogMaxOffset"
"""The offsets in bytes between which the messages are that a broker keeps."""


def mean_message_bytes(broker: Broker) -> float | None:
    """The mean size of a broker's messages; None if unknown. A broker that has stored nothing yet says 0."""
    return mean_bytes(broker.runtime)


def mean_bytes(runtime: Mapping[str, str] | None) -> float | None:
    """The same by its runtime figures."""
    size = figure(runtime, AVERAGE_BYTES)
    return size if size else None


def put_rate(runtime: Mapping[str, str] | None) -> float | None:
    """Messages a second that a broker stores, the most of its means; None if unknown."""
    each = [decimal_number(text) for text in (runtime or {}).get(PUT_RATES, "")[:200].split()]
    return max((one for one in each if one is not None), default=None)


def kept_hours(broker: Broker) -> float | None:
    """For how long a broker keeps messages, if its disk has room; None if unknown."""
    return figure(broker.config, RESERVED)


def figure(figures: Mapping[str, str] | None, name: str) -> float | None:
    """A number of at least 0 among a broker's settings or runtime figures; None if unknown."""
    return decimal_number((figures or {}).get(name))
