"""An inventory in outline: names, queues and subscriptions without figures, read quickly from a stored file."""

from functools import lru_cache
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct

from rocketmq_capacity.errors import BadInput
from rocketmq_capacity.snapshot.inventory import Inventory, InventoryBroker, InventorySubscription, TopicQueues
from rocketmq_capacity.vocabulary import RequestMode


class _Topic(Struct, frozen=True, kw_only=True):
    topic: str
    queues: tuple[TopicQueues, ...] | None = None


class _Client(Struct, frozen=True, kw_only=True):
    client_id: str
    client_addr: str | None = None
    protocol: str | None = None
    allocate_strategy: str | None = None
    subscriptions: tuple[InventorySubscription, ...] | None = None


class _OutlinedGroup(Struct, frozen=True, kw_only=True):
    consumer_group: str
    message_request_mode: RequestMode | None = None
    pop_share_queue_num: int | None = None
    subscriptions: tuple[InventorySubscription, ...] | None = None
    clients: tuple[_Client, ...] | None = None


class _Outline(Struct, frozen=True, kw_only=True):
    """The members that are read; msgspec skips the rest, which is nearly all of the file."""

    format: str
    cluster_name: str
    taken_at: str
    nameservers: tuple[str, ...] | None = None
    brokers: tuple[InventoryBroker, ...]
    topics: tuple[_Topic, ...]
    consumer_groups: tuple[_OutlinedGroup, ...]


LARGEST: Final = 32 << 20
"""Bytes of a file that is read: it takes a tenth of a second, and no other thread of the API server runs meanwhile."""

LARGEST_APART: Final = 1 << 30
"""Bytes of one that a process of its own reads; of 20,000 groups it has less."""


def outline_of(file: Path, largest: int = LARGEST) -> Inventory | None:
    """The file's inventory without offsets, rates and owned queues; None if it cannot be read, or is too large.

    The last four are kept in memory as long as their files do not change.
    """
    try:
        stat = file.stat()
        if stat.st_size > largest:
            return None
        return _read(file, stat.st_mtime_ns, stat.st_size)
    except (OSError, ValueError, RecursionError, BadInput):  # msgspec's errors are ValueErrors
        return None


@lru_cache(maxsize=4)
def _read(file: Path, _modified: int, _size: int) -> Inventory:
    # Read, not mapped: a file that shrinks meanwhile would end the process.
    outline = msgspec.json.decode(file.read_bytes(), type=_Outline)
    return msgspec.convert(outline, Inventory, from_attributes=True)
