"""Messages that may be lost with a master: with its process, with the power of its machine, and with its disk.

They are messages that producers were told are stored (SEND_OK). Sources: CommitLog (FlushRealTimeService,
CommitRealTimeService, handleDiskFlushAndHA, handleHA, calcNeedAckNums) and MessageStoreConfig, rocketmq-all-5.3.3.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Final

from rocketmq_capacity.model.broker_figures import LOG_BEGIN, LOG_END, figure, mean_bytes, put_bytes_per_s
from rocketmq_capacity.plan_file.lost_master import LostWith, MessagesAtRisk
from rocketmq_capacity.tables import Broker
from rocketmq_capacity.wording import fixed

PAGE_BYTES: Final = 4096
"""MappedFile.OS_PAGE_SIZE."""
FLUSH_MS: Final = ("flushIntervalCommitLog", 500.0)
THOROUGHLY_MS: Final = ("flushCommitLogThoroughInterval", 10_000.0)
LEAST_PAGES: Final = ("flushCommitLogLeastPages", 4.0)
COMMIT_MS: Final = ("commitIntervalCommitLog", 200.0)
COMMIT_THOROUGHLY_MS: Final = ("commitCommitLogThoroughInterval", 200.0)

UNDECIDED_FLUSH: Final = "UNDECIDED: the master's flushDiskType is unknown."
UNDECIDED_RATE: Final = "UNDECIDED: it is unknown how much is written to the master."
UNDECIDED_ROLE: Final = "UNDECIDED: the master's brokerRole or inSyncReplicas is unknown."
UNDECIDED_DISTANCE: Final = "UNDECIDED: it is unknown how far its slaves are behind."
PAGE_CACHE: Final = "The system of its machine still writes to disk what the process has written."
SYNC_FLUSH: Final = "Each message is on the master's disk before its producer is told (SYNC_FLUSH)."
WAITS: Final = "Each message is on a slave before its producer is told (SYNC_MASTER)."
ALL: Final = "It has no slave: everything that it keeps is lost."
CUT_OFF: Final = "The new master has only what it had copied; the old one cuts off the rest when it comes back."


def slave_behind_bytes(master: Broker | None, slaves: Sequence[Broker]) -> float | None:
    """How far the slave that has most was behind the master; None if unknown.

    The snapshot asks brokers one after the other, so that it is also 0 where the slave was asked later.
    """
    end = None if master is None else figure(master.runtime, LOG_END)
    ends = [slave_end for one in slaves if (slave_end := figure(one.runtime, LOG_END)) is not None]
    return None if end is None or not ends else max(end - max(ends), 0.0)


def waits_for_a_slave(master: Broker) -> bool | None:
    """Whether the master tells producers of a message only when a slave has it; None if unknown.

    Since 5.0 a SYNC_MASTER waits for inSyncReplicas - 1 slaves, and its default is 1: it waits for none. In controller
    mode with allAckInSyncStateSet it waits for all that are in sync.
    """
    config = master.config or {}
    role = config.get("brokerRole")
    if role is None:
        return None
    if role != "SYNC_MASTER":
        return False
    if _is_set(master, "enableControllerMode") and _is_set(master, "allAckInSyncStateSet"):
        return True
    in_sync = figure(config, "inSyncReplicas")
    if in_sync is None:
        return True if (master.version or "").startswith("V4_") else None
    if _is_set(master, "enableAutoInSyncReplicas"):
        in_sync = min(in_sync, figure(config, "minInSyncReplicas") or 1.0)
    return in_sync >= 2


def messages_at_risk(
    master: Broker | None, slaves: Sequence[Broker], *, is_elected: bool
) -> tuple[MessagesAtRisk, ...]:
    """What may be lost in each of the three cases.

    Args:
        master: the lost master; None if nothing is known of it.
        slaves: the slaves that stay.
        is_elected: whether a controller makes one of them the new master.
    """
    if master is None:
        return ()
    size = mean_bytes(master.runtime)
    with_disk = _with_disk(master, slaves)
    if is_elected:
        why = with_disk.why if with_disk.lost_bytes in (None, 0.0) else f"{CUT_OFF} {with_disk.why}"
        elected = _LostBytes(with_disk.lost_bytes, why)
        process, power = elected, elected
    else:
        process, power = _with_process(master), _with_power(master)
    return (
        process.entry("PROCESS", size),
        power.entry("POWER", size),
        with_disk.entry("DISK", size),
    )


@dataclass(frozen=True, slots=True)
class _LostBytes:
    """Bytes that may be lost, None if unknown, and why."""

    lost_bytes: float | None
    why: str

    def entry(self, lost_with: LostWith, size: float | None) -> MessagesAtRisk:
        """The same for the plan file, given the mean size of a message."""
        messages = None if self.lost_bytes is None or size is None else float(ceil(self.lost_bytes / size))
        if self.lost_bytes == 0:
            messages = 0.0
        return MessagesAtRisk(
            lost_with=lost_with,
            lost_bytes=self.lost_bytes,
            lost_messages=messages,
            why=self.why,
        )


def _with_process(master: Broker) -> _LostBytes:
    """With the process alone: only what lies in its own memory, with transientStorePoolEnable."""
    flush = (master.config or {}).get("flushDiskType")
    if flush is None:
        return _LostBytes(None, UNDECIDED_FLUSH)
    if flush != "ASYNC_FLUSH" or not _is_set(master, "transientStorePoolEnable"):
        return _LostBytes(0.0, PAGE_CACHE)
    rate = put_bytes_per_s(master.runtime)
    if rate is None:
        return _LostBytes(None, UNDECIDED_RATE)
    held_s = (_setting(master, COMMIT_MS) + _setting(master, COMMIT_THOROUGHLY_MS)) / 1000
    return _LostBytes(
        rate * held_s,
        f"With transientStorePoolEnable messages lie in its own memory for up to {held_s:g} s"
        f" ({COMMIT_MS[0]}, {COMMIT_THOROUGHLY_MS[0]}); it is written {fixed(rate, 0)} bytes/s.",
    )


def _with_power(master: Broker) -> _LostBytes:
    """With the power of its machine: what is not flushed.

    Every 500 ms the broker flushes what is dirty, if it is four pages or more, and all of it every 10 s.
    """
    flush = (master.config or {}).get("flushDiskType")
    if flush is None:
        return _LostBytes(None, UNDECIDED_FLUSH)
    if flush != "ASYNC_FLUSH":
        return _LostBytes(0.0, SYNC_FLUSH)
    rate = put_bytes_per_s(master.runtime)
    if rate is None:
        return _LostBytes(None, UNDECIDED_RATE)
    every_s, thoroughly_s = _setting(master, FLUSH_MS) / 1000, _setting(master, THOROUGHLY_MS) / 1000
    pages = _setting(master, LEAST_PAGES)
    in_pool = 0.0
    if _is_set(master, "transientStorePoolEnable"):
        in_pool = _with_process(master).lost_bytes or 0.0
    lost = min(pages * PAGE_BYTES + rate * every_s, rate * (thoroughly_s + every_s)) + in_pool
    return _LostBytes(
        lost,
        f"ASYNC_FLUSH: every {every_s:g} s it flushes {pages:g} pages or more, and every {thoroughly_s:g} s"
        f" everything; it is written {fixed(rate, 0)} bytes/s. What it stores while a flush takes long comes on top.",
    )


def _with_disk(master: Broker, slaves: Sequence[Broker]) -> _LostBytes:
    """With the disk: what no slave has."""
    if not slaves:
        begin, end = figure(master.runtime, LOG_BEGIN), figure(master.runtime, LOG_END)
        return _LostBytes(None if begin is None or end is None else max(end - begin, 0.0), ALL)
    waits = waits_for_a_slave(master)
    if waits:
        return _LostBytes(0.0, WAITS)
    if waits is None:
        return _LostBytes(None, UNDECIDED_ROLE)
    behind = slave_behind_bytes(master, slaves)
    if behind is None:
        return _LostBytes(None, UNDECIDED_DISTANCE)
    role = (master.config or {}).get("brokerRole")
    how = role if role != "SYNC_MASTER" else "SYNC_MASTER with inSyncReplicas below 2"
    return _LostBytes(
        behind,
        f"{how} waits for no slave: in the snapshot the slave that has most lacked {behind:,.0f} bytes. A slave that"
        " falls behind loses more.",
    )


def _setting(broker: Broker, setting: tuple[str, float]) -> float:
    name, usual = setting
    value = figure(broker.config, name)
    return usual if value is None else value


def _is_set(broker: Broker, key: str) -> bool:
    return (broker.config or {}).get(key, "").lower() == "true"
