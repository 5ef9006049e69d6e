"""How full a broker's disks are, as the broker says itself.

Source: DefaultMessageStore.getRuntimeInfo and CleanCommitLogService.isSpaceToDelete, rocketmq-all-5.3.3. Of several paths
RocketMQ looks at the emptiest one, and at the disk of the consume queues as well.
"""

from typing import Final

from rocketmq_capacity.contracts.broker import Broker
from rocketmq_capacity.contracts.number_text import decimal_number, whole_number

COMMIT_LOG: Final = "commitLogDiskRatio"
CONSUME_QUEUE: Final = "consumeQueueDiskRatio"
DELETES_EARLY: Final = "diskMaxUsedSpaceRatio"
"""A setting of the broker, in percent: above it old files go before their time (MessageStoreConfig)."""


def used_ratio(broker: Broker) -> float | None:
    """The used share of the fuller of its disks, 0 to 1; None where the commit log's is unknown."""
    runtime = broker.runtime or {}
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
