"""What a broker says of its messages and disks, in its settings and runtime figures.

Of several paths RocketMQ looks at the emptiest one, and at the disk of the consume queues as well.
Source: StoreStatsService, MessageStoreConfig, DefaultMessageStore.getRuntimeInfo, CleanCommitLogService.
isSpaceToDelete, BrokerStats and MixAll.humanReadableByteCount, rocketmq-all-5.3.3.
"""

import re
from collections.abc import Mapping
from typing import Final

from rocketmq_capacity.model.number_text import decimal_number, whole_number
from rocketmq_capacity.model.sums import most_of
from rocketmq_capacity.tables.snapshot.cluster import Broker

MIB: Final = 1 << 20
"""Bytes of a MiB."""
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
    return most_of_means(runtime, PUT_RATES)


def most_of_means(runtime: Mapping[str, str] | None, name: str) -> float | None:
    """The most of the means that a runtime figure gives, such as ``12.0 10.5 9.8``; None if it gives none."""
    return most_of(map(decimal_number, (runtime or {}).get(name, "")[:200].split()))


def put_bytes_per_s(runtime: Mapping[str, str] | None) -> float | None:
    """Bytes a second that a broker stores, by the most of its means; None if unknown."""
    rate, size = put_rate(runtime), mean_bytes(runtime)
    if rate == 0:
        return 0.0
    return None if rate is None or size is None else rate * size


def kept_hours(broker: Broker) -> float | None:
    """For how long a broker keeps messages, if its disk has room; None if unknown."""
    return figure(broker.config, RESERVED)


def figure(figures: Mapping[str, str] | None, name: str) -> float | None:
    """A number of at least 0 among a broker's settings or runtime figures; None if unknown."""
    return decimal_number((figures or {}).get(name))


COMMIT_LOG: Final = "commitLogDiskRatio"
CONSUME_QUEUE: Final = "consumeQueueDiskRatio"
DELETES_EARLY: Final = "diskMaxUsedSpaceRatio"
"""A setting of the broker, in percent: above it old files go before their time (MessageStoreConfig)."""


def used_ratio(broker: Broker) -> float | None:
    """The used share of the fuller of its disks, 0 to 1; None where the commit log's is unknown."""
    return used_of(broker.runtime)


def used_of(figures: Mapping[str, str] | None) -> float | None:
    """The same by its runtime figures."""
    runtime = figures or {}
    commit_log, consume_queue = _ratio(runtime.get(COMMIT_LOG)), _ratio(runtime.get(CONSUME_QUEUE))
    return None if commit_log is None else max(commit_log, consume_queue or 0.0)


def deletes_early_above(broker: Broker, default: float) -> float:
    """The used share above which the broker deletes early; ``default`` where its setting is unknown.

    RocketMQ keeps the setting between 10 and 95 %.
    """
    percent = whole_number((broker.config or {}).get(DELETES_EARLY))
    return default if percent is None else min(max(percent, 10), 95) / 100


def _ratio(text: str | None) -> float | None:
    ratio = decimal_number(text)
    return ratio if ratio is not None and ratio <= 1 else None


CAPACITY: Final = "commitLogDirCapacity"
_TOTAL: Final = re.compile(r"Total : ([0-9.]{1,20}) ?(B|[KMGTPE]i?B)\b", re.ASCII)
_POWERS: Final = "BKMGTPE"


def disk_bytes(broker: Broker) -> float | None:
    """The size of the disk of a broker's commit log; None if unknown.

    >>> runtime = {CAPACITY: "Total : 2.0 KiB, Free : 1.0 KiB."}
    >>> disk_bytes(Broker(broker_name="a", broker_id=0, has_answered=True, runtime=runtime))
    2048.0
    """
    match = _TOTAL.search((broker.runtime or {}).get(CAPACITY, "")[:200])
    number = None if match is None else decimal_number(match[1])
    if match is None or not number:
        return None
    base = 1024 if "i" in match[2] else 1000
    return float(number * base ** _POWERS.index(match[2][0]))
